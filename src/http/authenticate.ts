/** Turns the credential of a request into a principal, and counts it against the caller's limits. */
import type { Actor } from '../core/actor.ts';
import { AppError, type ErrorCode } from '../core/error.ts';
import type { KeyPrincipal, Principal, SessionPrincipal } from '../core/principal.ts';
import { BUCKETS, type LimitSettings } from './limits.ts';
import type { AccessRule } from './operation.ts';
import { announceLimit, applyLimit, type RateLimiter } from './rate-limit.ts';
import { addressBlock, type RequestContext } from './request-context.ts';
import { requireSameOrigin, type SessionCookie } from './session-cookie.ts';

/** Why a session token is refused, in the contract's words. */
export type SessionRefusal = 'invalid_token' | 'membership_blocked' | 'revoked' | 'expired';

/** The look-ups behind authentication; live at every call, so a ban or sign-out takes effect at once. */
export interface Credentials {
  findKey(token: string): KeyPrincipal | null;
  findSession(token: string): SessionPrincipal | SessionRefusal;
}

export interface AuthenticatorDependencies {
  readonly credentials: Credentials;
  readonly limiter: RateLimiter;
  readonly limits: LimitSettings;
  readonly cookie: SessionCookie;
  readonly baseUrl: string;
}

/** @param isCounted whether the call uses up its limits; a second look in the same call does not. */
export type Authenticator = (rule: AccessRule, context: RequestContext, isCounted: boolean) => Principal | null;

export function authenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const { credentials, limiter, limits, cookie, baseUrl } = dependencies;

  /** @throws {AppError} with the contract's refusal; the caller's address answers for failures. */
  function session(token: string | null, context: RequestContext, isCounted: boolean): SessionPrincipal {
    const found = token === null ? 'invalid_token' : credentials.findSession(token);
    if (typeof found === 'string') {
      // Only failures answer for failures: bad tokens sent through a backend must not lock its good ones out.
      const address = addressBlock(context.ip);
      applyLimit(context.headers, limiter.consume(BUCKETS.failures, address, limits.failuresPerAddressPerMinute));
      throw new AppError(found);
    }
    context.principalId = found.sessionId;
    if (isCounted)
      applyLimit(context.headers, limiter.consume(BUCKETS.session, found.sessionId, limits.sessionPerMinute));
    return found;
  }

  function key(token: string, refusal: ErrorCode, context: RequestContext, isCounted: boolean): KeyPrincipal {
    const found = credentials.findKey(token);
    if (!found) throw new AppError(refusal);
    context.principalId = found.keyId;
    if (!isCounted) return found;
    applyLimit(context.headers, limiter.peek(BUCKETS.keyDay, found.keyId, found.perDay));
    const minute = limiter.consume(BUCKETS.keyMinute, found.keyId, found.perMinute);
    applyLimit(context.headers, minute);
    // What the minute refuses does not use up the day.
    announceLimit(context.headers, minute, limiter.consume(BUCKETS.keyDay, found.keyId, found.perDay));
    return found;
  }

  /** Management takes a key, a console session as bearer, or one in the cookie of our own pages. */
  function management(bearer: string | null, context: RequestContext, isCounted: boolean): Principal {
    if (bearer?.startsWith('eak_')) return key(bearer, 'unauthenticated', context, isCounted);
    if (bearer === null && cookie.read(context.request) === null) throw new AppError('unauthenticated');
    const principal = personal(bearer, context, isCounted);
    if (!principal.isConsole)
      throw new AppError('forbidden', { message: 'Only an API key or a console session can manage applications.' });
    return principal;
  }

  function personal(bearer: string | null, context: RequestContext, isCounted: boolean): SessionPrincipal {
    const fromCookie = bearer === null ? cookie.read(context.request) : null;
    if (fromCookie !== null) requireSameOrigin(context.request, baseUrl);
    try {
      return session(bearer ?? fromCookie, context, isCounted);
    } catch (error) {
      // Outside the verification endpoints every dead session is the same thing: not signed in.
      if (error instanceof AppError && error.status === 401)
        throw new AppError('unauthenticated', { message: error.message, cause: error });
      throw error;
    }
  }

  return (rule, context, isCounted) => {
    const bearer = bearerToken(context.request);
    switch (rule) {
      case 'none':
        return null;
      case 'token':
        return session(bearer, context, isCounted);
      case 'session':
        return personal(bearer, context, isCounted);
      case 'key':
        return key(bearer ?? '', 'invalid_api_key', context, isCounted);
      case 'read':
      case 'full':
        return management(bearer, context, isCounted);
    }
  };
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1), or null. */
function bearerToken(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (header === null || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim();
}

/** The actor that a principal's writes are recorded under. */
export function actorOf(principal: Principal | null, context: RequestContext): Actor {
  return {
    type: principal === null ? 'anonymous' : principal.kind === 'key' ? 'key' : 'user',
    userId: principal?.userId ?? null,
    apiKeyId: principal?.kind === 'key' ? principal.keyId : null,
    requestId: context.requestId,
    ip: context.ip,
    ipCountry: context.ipCountry,
  };
}
