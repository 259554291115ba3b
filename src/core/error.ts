/** The error class and the catalogue of error codes, from which status, text and API description derive. */
import { type Hint, type HintGiven, HINTS } from './error-hints.ts';
import { format } from './format.ts';
import { SECRET_PREFIXES } from './secret.ts';
import type { TicketedStanding } from './waitlist-standing.ts';

interface ErrorEntry {
  readonly status: number;
  /** One sentence that says what to do. */
  readonly message: string;
}

/** Every code of an error response, with its HTTP status and remedy. */
export const ERROR_CATALOGUE = {
  invalid_request: { status: 400, message: 'The request is not valid; correct the named fields and send it again.' },
  invalid_cursor: { status: 400, message: 'The cursor is not valid; start again without it.' },
  code_invalid: { status: 400, message: 'The code is wrong; check it and try again.' },
  code_expired: { status: 400, message: 'The code has expired; request a new one.' },
  code_exhausted: { status: 400, message: 'Too many wrong codes; request a new one.' },
  passkey_unknown: { status: 400, message: 'This passkey is not registered here; use another sign-in method.' },
  passkey_invalid: {
    status: 400,
    message: 'The passkey could not be verified; try again, or use another sign-in method.',
  },
  authorization_pending: { status: 400, message: 'The request is not decided yet; poll again after the interval.' },
  slow_down: { status: 400, message: 'Polled too soon; add five seconds to the interval from now on.' },
  expired_token: { status: 400, message: 'The code has expired or was already used; start again.' },
  access_denied: { status: 400, message: 'The request was declined.' },
  invalid_client: { status: 400, message: 'There is no application with this client_id; check it.' },
  unauthorized_client: { status: 400, message: 'This application is no longer in service.' },
  invalid_grant: { status: 400, message: 'The code or token is not valid for this client; start again.' },
  unsupported_token_type: {
    status: 400,
    message: 'A backend’s API key cannot be revoked here; revoke it in the console.',
  },
  unsupported_grant_type: {
    status: 400,
    message: 'This grant_type is not supported; see grant_types_supported in the server’s metadata.',
  },
  invalid_scope: { status: 400, message: 'The scope exceeds what was granted; ask for less, or sign in again.' },
  invalid_target: {
    status: 400,
    message: 'There is no such resource here; see /.well-known/oauth-protected-resource.',
  },
  invalid_redirect_uri: { status: 400, message: 'A redirect URI cannot be registered; correct it and send it again.' },
  invalid_client_metadata: {
    status: 400,
    message: 'The client cannot be registered so; correct the named fields and send it again.',
  },
  unauthenticated: { status: 401, message: 'Send a valid credential as "Authorization: Bearer …".' },
  invalid_token: { status: 401, message: 'The session token is not valid; sign in again.' },
  expired: { status: 401, message: 'The session has expired; sign in again.' },
  revoked: { status: 401, message: 'The session has ended; sign in again.' },
  invalid_api_key: {
    status: 401,
    message: `Send a valid API key as "Authorization: Bearer ${SECRET_PREFIXES.apiKey}_…".`,
  },
  admin_scope_required: { status: 403, message: 'This operation needs a key or member with full access.' },
  forbidden: { status: 403, message: 'This credential has no permission for that.' },
  insufficient_scope: { status: 403, message: 'The token lacks a scope that this needs; sign in again with it.' },
  reauthentication_required: {
    status: 403,
    message: 'This needs a sign-in of the last ten minutes: sign in again, or confirm a code from /api/account/proof.',
  },
  email_unverified: {
    status: 403,
    message: 'The e-mail address is not verified on both sides; sign in with a code first, then connect the provider.',
  },
  link_required: {
    status: 403,
    message:
      'This address already has an account; sign in by another method first, such as a code, then connect the provider.',
  },
  membership_blocked: { status: 403, message: 'This account is blocked in this application.' },
  user_deleted: { status: 403, message: 'This account was deleted; ask the application’s owner to restore it.' },
  email_archived: { status: 403, message: 'This is a former address of an account; use its current address.' },
  gate_closed: { status: 403, message: 'Sign-in to this application is closed to this address.' },
  waitlist: { status: 403, message: 'This application is in private beta and this address is not on its list yet.' },
  application_archived: { status: 403, message: 'This application is no longer in service.' },
  not_found: { status: 404, message: 'Not found; check the path and the ids in it.' },
  method_not_allowed: { status: 405, message: 'This path does not support that method; see the Allow header.' },
  request_timeout: { status: 408, message: 'The body came too slowly; send it again over a faster connection.' },
  conflict: { status: 409, message: 'The value is already taken; choose another.' },
  key_revoked: { status: 409, message: 'This key is revoked; create a new one.' },
  membership_locked: { status: 409, message: 'The user behind this key is not active; create a new key.' },
  already_in_grace: {
    status: 409,
    message: 'This key was already rotated and is in its grace period; rotate its successor.',
  },
  invalid_state: { status: 409, message: 'The current state does not allow this.' },
  code_consumed: { status: 409, message: 'The code was already used; request a new one.' },
  payload_too_large: { status: 413, message: 'The body is too large; send at most 1 MiB.' },
  unsupported_media_type: { status: 415, message: 'Send the body as JSON with "Content-Type: application/json".' },
  rate_limited: { status: 429, message: 'Too many requests; wait for the time in Retry-After.' },
  internal: {
    status: 500,
    message: 'Something went wrong on the server; try again and quote the request id if it persists.',
  },
  provider_failed: {
    status: 502,
    message: 'The identity provider gave no valid answer; try again, or use another sign-in method.',
  },
  unavailable: { status: 503, message: 'The service is not ready; try again in a moment.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One refused part of a request: its path (`emails.3`) and the problem, without the rejected value. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** `hint` replaces the catalogue's sentence, by its own or another code's; `values` fills its placeholders exactly. */
export type AppErrorOptions = {
  readonly fields?: readonly FieldProblem[];
  readonly retryAfterSeconds?: number;
  /** For `rate_limited`: the limit that was exceeded, where it is not announced already. */
  readonly limit?: number;
  /** For `rate_limited`: name of the limit in the counts of refusals; defaults to the hint. */
  readonly limitName?: string;
  /** The challenge of the response (RFC 9110 §11.6.1). With a challenge the status is 401 for every code. */
  readonly challenge?: string;
  /** For a refused sign-in: where the person's request for access stands. */
  readonly interest?: TicketedStanding;
  readonly cause?: unknown;
} & (HintGiven | { readonly hint?: ErrorCode; readonly values?: undefined });

/** A refusal that is reported to the caller. Any other thrown error is answered `internal` and logged. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: Hint | ErrorCode | undefined;
  readonly fields: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: number | undefined;
  readonly limitName: string | undefined;
  readonly interest: TicketedStanding | undefined;
  readonly challenge: string | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const { hint, values, fields, retryAfterSeconds, limit, limitName, challenge, interest, cause } = options;
    super(format(sentenceOf(hint ?? code), values ?? {}), { cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = hint;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
    this.limit = limit;
    this.limitName = limitName;
    this.challenge = challenge;
    this.interest = interest;
  }

  get status(): number {
    return this.challenge === undefined ? ERROR_CATALOGUE[this.code].status : 401;
  }
}

function sentenceOf(key: Hint | ErrorCode): string {
  return key in HINTS ? HINTS[key as Hint] : ERROR_CATALOGUE[key as ErrorCode].message;
}

export function invalidField(path: string, message: string): AppError {
  return new AppError('invalid_request', { fields: [{ path, message }] });
}
