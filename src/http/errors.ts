/** Maps thrown errors to responses, with a renderer for each body shape. */
import type { Logger } from 'pino';
import { AppError, type ErrorCode } from '../core/error.ts';
import { LIMITED_HEADER } from '../core/limited-header.ts';
import { engineErrorKind } from '../db/errors.ts';
import { isOfClientAddress } from './limits.ts';
import { pageHeaders } from './page-response.ts';
import { announceLimit } from './rate-limit.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Shape of an answer. `envelope` is for management and account, `flat` the same with success unwrapped; `session` and
 * `verify` are the verification endpoints', `oauth` is for OAuth clients, `page` for people.
 */
export type Style = 'envelope' | 'flat' | 'session' | 'verify' | 'oauth' | 'page';

/** Renders a whole document without the error's own message, which is for programs. */
export type PageRenderer = (error: AppError, context: RequestContext) => string;

/** Maps a thrown value to a response. Never throws. */
export interface ErrorMapper {
  (error: unknown, context: RequestContext, style: Style): Response;
}

export interface ErrorMapperDependencies {
  readonly log: Logger;
  readonly renderPage: PageRenderer;
  readonly noteLimited?: (limit: string) => void;
}

/** Creates the mapper, which logs any error but an `AppError` and answers `internal` with only the request id. */
export function errorMapper({ log, renderPage, noteLimited = () => {} }: ErrorMapperDependencies): ErrorMapper {
  return (thrown, context, style) => {
    const known = thrown instanceof AppError ? thrown : unknownError(thrown, context, log);
    const error = style === 'oauth' ? asBearerError(known, context) : known;
    if (error.code === 'rate_limited') {
      const name = error.limitName ?? error.hint ?? 'other';
      noteLimited(name);
      if (isOfClientAddress(name)) context.headers[LIMITED_HEADER] = 'network';
    }
    const { limit, retryAfterSeconds } = error;
    if (retryAfterSeconds !== undefined) context.headers['Retry-After'] = String(retryAfterSeconds);
    if (limit !== undefined && retryAfterSeconds !== undefined)
      announceLimit(context.headers, { isAllowed: false, limit, remaining: 0, resetSeconds: retryAfterSeconds });
    if (error.status === 401 && style !== 'page') context.headers['WWW-Authenticate'] = error.challenge ?? 'Bearer';
    if (style !== 'page')
      return Response.json(bodies[style](error, context.requestId), { status: error.status, headers: context.headers });
    return new Response(renderPage(error, context), { status: error.status, headers: pageHeaders(context) });
  };
}

function unknownError(thrown: unknown, { requestId }: RequestContext, log: Logger): AppError {
  const { name } = (thrown ?? {}) as { name?: string };
  // The client hung up before the answer.
  if (name === 'AbortError') return new AppError('invalid_request', { cause: thrown });
  const trouble = engineErrorKind(thrown);
  if (trouble === 'busy') {
    log.warn({ requestId, err: thrown }, 'another process has locked the database');
    return new AppError('unavailable', { retryAfterSeconds: 1, cause: thrown });
  }
  log.error({ requestId, err: thrown }, 'request failed');
  if (trouble === 'unreadable')
    return new AppError('unavailable', { hint: 'database_not_readable', retryAfterSeconds: 5, cause: thrown });
  return new AppError('internal', { cause: thrown });
}

const TOKEN_REFUSALS: readonly ErrorCode[] = ['invalid_token', 'revoked', 'expired', 'membership_blocked'];

/** Maps the verdicts on a token to the one code that OAuth has for them (RFC 6750 §3). */
function asBearerError(error: AppError, { request }: RequestContext): AppError {
  if (!TOKEN_REFUSALS.includes(error.code)) return error;
  const hasToken = request.method === 'POST' || request.headers.has('authorization');
  const challenge = hasToken ? 'Bearer error="invalid_token"' : 'Bearer';
  return new AppError('invalid_token', { hint: error.code, challenge, cause: error });
}

type Body = (error: AppError, requestId: string) => object;

const envelope: Body = ({ code, message, fields, interest }, requestId) => ({
  success: false,
  error: code,
  message,
  requestId,
  ...(fields && { fields }),
  ...(interest && { interest }),
});

const bodies: Record<Exclude<Style, 'page'>, Body> = {
  envelope,
  flat: envelope,
  session: ({ code, message, fields }, requestId) => ({
    ok: false,
    error: sessionError(code),
    message,
    requestId,
    ...(fields && { fields }),
  }),
  // RFC 6749 §5.2.
  oauth: ({ code, message, fields }, requestId) => ({
    error: code,
    error_description: printable(fields?.map((field) => `${field.path}: ${field.message}`).join(' ') ?? message),
    requestId,
  }),
  verify: ({ code, message, fields }, requestId) => ({
    success: false,
    [verifyCodeField(code)]: code,
    message,
    requestId,
    ...(fields && { fields }),
  }),
};

/** Codes that `errorMessage` of `/api/v1/verify` may hold besides the verdicts on the token. */
const CALLER_REFUSALS: readonly ErrorCode[] = ['invalid_api_key', 'forbidden', 'rate_limited'];

/** Returns the field of a code: clients act on `errorMessage`, which must never show a fault as a verdict. */
export function verifyCodeField(code: ErrorCode): 'errorMessage' | 'error' {
  return CALLER_REFUSALS.includes(code) ? 'errorMessage' : 'error';
}

/** Replaces quotes and non-ASCII characters, which a description must not contain (RFC 6749 §5.2). */
function printable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "'");
}

/** Maps a missing credential to an invalid token: the session endpoint makes no difference. */
function sessionError(code: ErrorCode): ErrorCode {
  return code === 'unauthenticated' ? 'invalid_token' : code;
}
