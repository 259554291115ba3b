/** Errors of a failed verification, each with the HTTP response to send to the caller. */
import { Refusal } from './refusal.ts';

/** Verification admitted nobody; holds the response to send. */
export abstract class NotAdmitted extends Refusal {
  abstract override readonly status: 401 | 403 | 429 | 503;
}

const REFUSALS = {
  no_token: 'Sign in, and send the session token.',
  invalid_token: 'The token is not valid; sign in again.',
  expired: 'The session has expired; sign in again.',
  revoked: 'The session has ended; sign in again.',
  membership_blocked: 'This account is blocked in this application.',
  cross_site: 'The request comes from another site.',
  missing_role: 'This account lacks the role for this.',
  missing_scope: 'This account lacks the scope for this.',
} as const;

/** Reasons that signing in again would not mend. */
const FORBIDDEN = /^(?:membership|cross|missing)_/;

/**
 * `no_token`, `cross_site`, `missing_role` and `missing_scope` come from this package, the others from the server, which
 * may add more.
 */
export type RefusalReason = keyof typeof REFUSALS;

export class VerificationRefused extends NotAdmitted {
  readonly reason: RefusalReason;
  readonly status: 401 | 403;

  constructor(reason: RefusalReason) {
    super(reason, REFUSALS[reason] ?? 'The token was refused.');
    this.reason = reason;
    this.status = FORBIDDEN.test(reason) ? 403 : 401;
  }

  /** Includes the `WWW-Authenticate` challenge required by RFC 6750 §3. */
  override get headers(): Record<string, string> {
    const headers = super.headers;
    if (this.status === 401)
      headers['WWW-Authenticate'] = this.reason === 'no_token' ? 'Bearer' : 'Bearer error="invalid_token"';
    if (this.reason === 'missing_scope') headers['WWW-Authenticate'] = 'Bearer error="insufficient_scope"';
    return headers;
  }
}

/** `key_refused`: the server rejects this backend's API key, or its access is too low. */
export type UnavailableReason = 'timeout' | 'network' | 'rate_limited' | 'key_refused' | 'unexpected';

/** The server gave no verdict, so nobody is admitted now; a retry may succeed. */
export class VerificationUnavailable extends NotAdmitted {
  readonly reason: UnavailableReason;
  readonly status: 429 | 503;
  readonly retryAfterSeconds: number | undefined;

  /** @param message for the backend's log; callers never see it. */
  constructor(
    reason: UnavailableReason,
    message: string,
    { retryAfterSeconds, cause }: { readonly retryAfterSeconds?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(reason, message, { cause });
    this.reason = reason;
    this.status = reason === 'rate_limited' ? 429 : 503;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  override get headers(): Record<string, string> {
    const seconds = this.retryAfterSeconds;
    return { ...super.headers, ...(seconds !== undefined && { 'Retry-After': String(seconds) }) };
  }

  override get body(): string {
    const [error, message] =
      this.status === 429
        ? ['rate_limited', 'Too many requests; try again later.']
        : ['unavailable', 'Who is calling cannot be verified now; try again in a moment.'];
    return JSON.stringify({ success: false, error, message });
  }
}
