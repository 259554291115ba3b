/** Turns the credential of a request into a principal, and counts it against the caller's limits. */
import type { Actor } from '../core/actor.ts';
import { AppError, type ErrorCode } from '../core/error.ts';
import type {
  KeyPrincipal,
  PersonalKeyPrincipal,
  PersonPrincipal,
  Principal,
  SessionPrincipal,
} from '../core/principal.ts';
import { BUCKETS, type LimitSettings } from './limits.ts';
import type { AccessRule } from './operation.ts';
import { announceLimit, applyLimit, type RateLimiter } from './rate-limit.ts';
import { addressBlock, type RequestContext } from './request-context.ts';
import { requireSameOrigin, type SessionCookie } from './session-cookie.ts';

/** Why a session token is refused, in the contract's words. */
export type SessionRefusal = 'invalid_token' | 'membership_blocked' | 'revoked' | 'expired';

/** The look-ups behind authentication; live at every call, so a ban or sign-out takes effect at once. */
export interface Credentials {
  findKey(token: string): KeyPrincipal | PersonalKeyPrincipal | null;
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
  function sessionOf(token: string | null, context: RequestContext, isCounted: boolean): SessionPrincipal {
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

  function anyKey(
    token: string,
    refusal: ErrorCode,
    context: RequestContext,
    isCounted: boolean,
  ): KeyPrincipal | PersonalKeyPrincipal {
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

  /** A backend's key; a person's own has nothing to verify. */
  function backendKey(bearer: string, context: RequestContext, isCounted: boolean): KeyPrincipal {
    const found = anyKey(bearer, 'invalid_api_key', context, isCounted);
    if (found.kind === 'personal_key')
      throw new AppError('forbidden', {
        message: 'A personal key cannot verify others; use a key of the application.',
      });
    return found;
  }

  /** Management takes a key, a console session as bearer, or one in the cookie of our own pages. */
  function management(bearer: string | null, context: RequestContext, isCounted: boolean): Principal {
    if (bearer === null && cookie.read(context.request) === null) throw new AppError('unauthenticated');
    const principal = isKey(bearer)
      ? anyKey(bearer, 'unauthenticated', context, isCounted)
      : session(bearer, context, isCounted);
    if (principal.kind !== 'key' && !principal.isConsole)
      throw new AppError('forbidden', { message: 'Only an API key or a console session can manage applications.' });
    return principal;
  }

  /** A signed-in person: their own affairs are never a key's. */
  function personInSession(bearer: string | null, context: RequestContext, isCounted: boolean): SessionPrincipal {
    if (!isKey(bearer)) return session(bearer, context, isCounted);
    anyKey(bearer, 'unauthenticated', context, isCounted);
    throw new AppError('forbidden', { message: 'An API key cannot do this; only the person themselves, signed in.' });
  }

  function person(bearer: string | null, context: RequestContext, isCounted: boolean): PersonPrincipal {
    if (!isKey(bearer)) return session(bearer, context, isCounted);
    const found = anyKey(bearer, 'unauthenticated', context, isCounted);
    if (found.kind === 'key')
      throw new AppError('forbidden', { message: 'This key belongs to no person; send a session or a personal key.' });
    return found;
  }

  function session(bearer: string | null, context: RequestContext, isCounted: boolean): SessionPrincipal {
    const fromCookie = bearer === null ? cookie.read(context.request) : null;
    if (fromCookie !== null) requireSameOrigin(context.request, baseUrl);
    try {
      return sessionOf(bearer ?? fromCookie, context, isCounted);
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
        return sessionOf(bearer, context, isCounted);
      case 'session':
        return personInSession(bearer, context, isCounted);
      case 'person':
        return person(bearer, context, isCounted);
      case 'key':
        return backendKey(bearer ?? '', context, isCounted);
      case 'read':
      case 'full':
        return management(bearer, context, isCounted);
    }
  };
}

function isKey(bearer: string | null): bearer is string {
  return bearer !== null && bearer.startsWith('eak_');
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
    apiKeyId: principal === null || principal.kind === 'session' ? null : principal.keyId,
    requestId: context.requestId,
    ip: context.ip,
    ipCountry: context.ipCountry,
  };
}
