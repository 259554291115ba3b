/** Turns the credential of a request into a principal, and counts it against the caller's limits. */
import { AppError, type ErrorCode } from '../core/error.ts';
import type { HintGiven } from '../core/error-hints.ts';
import type {
  ClientPrincipal,
  KeyPrincipal,
  OAuthClient,
  PersonalKeyPrincipal,
  PersonPrincipal,
  Principal,
  SessionPrincipal,
} from '../core/principal.ts';
import { type MaybePromise, whenReady } from '../core/maybe-promise.ts';
import { startsLikeSecret } from '../core/secret.ts';
import type { Author, Reader } from '../db/database.ts';
import { challengeOf, type ClientShown, clientShown, refuseSecondWay } from './client-credentials.ts';
import {
  KEY_DAY,
  KEY_MINUTE,
  keySubject,
  type ReportedLimit,
  LIMITS,
  type LimitSettings,
  type NoteRefusal,
} from './limits.ts';
import type { AccessRule } from './operation.ts';
import {
  announceLimit,
  applyLimit,
  type LimitState,
  rateLimited,
  type LimitUses,
  tightest,
  type WindowState,
} from './rate-limit.ts';
import { addressPrefix } from '../core/ip-address.ts';
import type { RequestContext } from './request-context.ts';
import { type SessionCookie } from './session-cookie.ts';
import { requireSameOrigin } from './csrf.ts';

/** Code of a refused session token, as in the API contract. */
export type SessionRefusal = 'invalid_token' | 'membership_blocked' | 'revoked' | 'expired';

/** Key that was valid once, and why it is no longer. The reason may be shown, since the caller holds the key. */
export type DeadKey = {
  readonly kind: 'dead_key';
  readonly refusal: SessionRefusal;
} & HintGiven;

/** Lookups behind authentication; live at every call, so a ban or sign-out takes effect at once. */
export interface Credentials {
  /** Returns null for a token that never was a key. */
  findKey(token: string, reader: Reader): MaybePromise<KeyPrincipal | PersonalKeyPrincipal | DeadKey | null>;
  findSession(token: string, reader: Reader): MaybePromise<SessionPrincipal | SessionRefusal>;
  /** Finds the session of a cookie's value: a page secret, or a token stored there by our own pages. */
  findPageSession(value: string, reader: Reader): Promise<SessionPrincipal | SessionRefusal>;
  /** Returns null for an unknown client, a wrong secret or an application out of service, without telling which. */
  findClient(clientId: string, secret: string, reader: Reader): Promise<ClientPrincipal | null>;
}

/** Metadata of the MCP endpoint as a protected resource (RFC 9728 §3.1). */
export const AGENTS_METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';

export interface AuthenticatorDependencies {
  readonly credentials: Credentials;
  readonly limiter: LimitUses;
  readonly limits: LimitSettings;
  readonly noteRefusal: NoteRefusal;
  /** Notified of the verdict on a token that a client sent to have it verified. */
  readonly noteVerdict: (outcome: SessionRefusal | 'ok', session: SessionPrincipal | null) => void;
  readonly cookie: SessionCookie;
  readonly baseUrl: string;
}

export interface Lookup {
  readonly context: RequestContext;
  /** Inside a change this is its unit, which sees what the change has written. */
  readonly reader: Reader;
  /** Whether it counts against the limits; a repeated check in the same call does not. */
  readonly isCounted: boolean;
  /** Body, where an OAuth client may send its secret. */
  readonly sent?: unknown;
}

export type AnyPrincipal = Principal | ClientPrincipal;

/** Checks the credential of a request against the rule; returns null where the rule asks for none. */
export type Authenticator = (rule: AccessRule, look: Lookup) => MaybePromise<AnyPrincipal | null>;

/** The result throws {AppError} unauthenticated, invalid_client, forbidden, rate_limited, or why a token is refused. */
export function authenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const { credentials, limiter, limits, noteRefusal, noteVerdict, cookie, baseUrl } = dependencies;

  /** Tells agents where to sign their person in (RFC 9728 §5.1). */
  const agentChallenge = `Bearer resource_metadata="${baseUrl}${AGENTS_METADATA_PATH}"`;

  /** Counts failures per client address. @throws {AppError} with the contract's code. */
  function sessionOf(token: string | null, look: Lookup, isVerdict = false): MaybePromise<SessionPrincipal> {
    if (token === null) return refusedSession('invalid_token', look, isVerdict);
    return whenReady(credentials.findSession(token, look.reader), (found) =>
      typeof found === 'string' ? refusedSession(found, look, isVerdict) : countedSession(found, look, isVerdict),
    );
  }

  async function sessionOfPage(value: string, look: Lookup): Promise<SessionPrincipal> {
    const found = await credentials.findPageSession(value, look.reader);
    return typeof found === 'string' ? refusedSession(found, look, false) : countedSession(found, look, false);
  }

  async function refusedSession(refusal: SessionRefusal, look: Lookup, isVerdict: boolean): Promise<never> {
    if (isVerdict && look.isCounted) noteVerdict(refusal, null);
    await limitFailures(look);
    throw new AppError(refusal);
  }

  function countedSession(found: SessionPrincipal, look: Lookup, isVerdict: boolean): MaybePromise<SessionPrincipal> {
    if (isVerdict && look.isCounted) noteVerdict('ok', found);
    look.context.principalId = found.sessionId;
    if (!look.isCounted) return found;
    return whenReady(limiter.consume(LIMITS.sessionPerMinute, found.sessionId, limits.sessionPerMinute), (state) => {
      if (!state.isAllowed) return refuse(look.context.headers, state, found, 'sessionPerMinute');
      announceLimit(look.context.headers, state);
      return found;
    });
  }

  /** Counts only failures, so that bad tokens sent through a backend do not lock out its good ones. */
  async function limitFailures({ context: { ip, headers } }: Lookup): Promise<void> {
    const limit = await limiter.consume(
      LIMITS.failuresPerAddressPerMinute,
      addressPrefix(ip),
      limits.failuresPerAddressPerMinute,
    );
    applyLimit(headers, limit);
  }

  /** Accepts a session or any API key; refusals have the codes of a verification. */
  async function holder(bearer: string | null, look: Lookup): Promise<Principal> {
    if (!isKey(bearer)) return sessionOf(bearer, look, true);
    const found = await credentials.findKey(bearer, look.reader);
    const refusal = found === null ? 'invalid_token' : found.kind === 'dead_key' ? found.refusal : null;
    if (look.isCounted) noteVerdict(refusal ?? 'ok', null);
    if (found !== null && found.kind !== 'dead_key') return countedKey(found, look);
    await limitFailures(look);
    throw found === null ? new AppError('invalid_token') : deadKey(found.refusal, found);
  }

  /** @throws {AppError} rate_limited */
  function refuse(
    headers: Record<string, string>,
    state: LimitState,
    { applicationId }: AnyPrincipal,
    limit: ReportedLimit,
  ): never {
    noteRefusal(applicationId, limit);
    announceLimit(headers, state);
    throw rateLimited(state);
  }

  /** @param challenge of a refusal, where the operation has one of its own. */
  function anyKey(
    token: string,
    refusal: ErrorCode,
    look: Lookup,
    challenge?: string,
  ): MaybePromise<KeyPrincipal | PersonalKeyPrincipal> {
    const found = credentials.findKey(token, look.reader);
    return found instanceof Promise
      ? foundKeyLater(found, refusal, look, challenge)
      : foundKey(found, refusal, look, challenge);
  }

  async function foundKeyLater(found: ReturnType<Credentials['findKey']>, ...rest: [ErrorCode, Lookup, string?]) {
    return foundKey(await found, ...rest);
  }

  function foundKey(
    found: KeyPrincipal | PersonalKeyPrincipal | DeadKey | null,
    refusal: ErrorCode,
    look: Lookup,
    challenge?: string,
  ): MaybePromise<KeyPrincipal | PersonalKeyPrincipal> {
    if (found !== null && found.kind !== 'dead_key') return countedKey(found, look);
    throw new AppError(refusal, { ...(found && reasonOf(found)), ...(challenge !== undefined && { challenge }) });
  }

  function countedKey<Key extends KeyPrincipal | PersonalKeyPrincipal>(found: Key, look: Lookup): MaybePromise<Key> {
    look.context.principalId = found.keyId;
    if (!look.isCounted || look.context.isCounted) return found;
    if (found.kind === 'key') look.context.countedKeyId = found.keyId;
    const subject = keySubject(found.kind === 'personal_key', found);
    const day = limiter.consume(KEY_DAY, subject, found.perDay);
    const minute = limiter.consume(KEY_MINUTE, subject, found.perMinute);
    if (day instanceof Promise || minute instanceof Promise)
      return Promise.all([day, minute]).then(([ofDay, ofMinute]) => admitKey(found, look, ofDay, ofMinute));
    return admitKey(found, look, day, minute);
  }

  /** A call that one limit refuses does not count against the other. */
  function admitKey<Key extends KeyPrincipal | PersonalKeyPrincipal>(
    found: Key,
    { context: { headers } }: Lookup,
    day: WindowState,
    minute: WindowState,
  ): Key {
    if (day.isAllowed && minute.isAllowed) {
      announceLimit(headers, tightest(minute, day));
      return found;
    }
    const subject = keySubject(found.kind === 'personal_key', found);
    if (minute.isAllowed) limiter.release(KEY_MINUTE, subject, minute);
    if (day.isAllowed) limiter.release(KEY_DAY, subject, day);
    return day.isAllowed ? refuse(headers, minute, found, 'keyPerMinute') : refuse(headers, day, found, 'keyPerDay');
  }

  /** Accepts a backend key; personal keys cannot verify anybody. */
  function backendKey(bearer: string, look: Lookup): MaybePromise<KeyPrincipal> {
    return whenReady(anyKey(bearer, 'invalid_api_key', look), ofBackend);
  }

  /**
   * Accepts an OAuth client or a backend key. Failures are rate limited per client address; past the limit even correct
   * credentials are refused there, so guessing on teaches nothing.
   * Nothing awaits between lookup and count, so at one instance concurrent guesses cannot slip past it.
   */
  async function client(rule: 'client' | 'client_full', look: Lookup): Promise<OAuthClient> {
    const { request, ip, headers } = look.context;
    const shown = clientShown(request.headers.get('authorization'), look.sent);
    const found = await findClient(shown, look.reader);
    const [limit, address, allowed] = [LIMITS.wrongClientsPerAddress, addressPrefix(ip), limits.wrongClientsPerAddress];
    if (found === null || found.kind === 'dead_key') {
      applyLimit(headers, await limiter.consume(limit, address, allowed));
      const why = found === null ? ({ hint: 'client_not_authenticated' } as const) : reasonOf(found);
      throw new AppError('invalid_client', { ...why, challenge: challengeOf(shown) });
    }
    const failures = await limiter.peek(limit, address, allowed);
    if (look.isCounted && !failures.isAllowed) applyLimit(headers, failures);
    if (shown !== null) refuseSecondWay(shown, look.sent);
    if (found.kind !== 'client') {
      const key = ofBackend(await countedKey(found, look));
      if (rule === 'client_full' && key.access !== 'full') throw new AppError('admin_scope_required');
      return key;
    }
    look.context.principalId = found.applicationId;
    if (!look.isCounted) return found;
    const state = await limiter.consume(LIMITS.clientPerMinute, found.applicationId, limits.clientPerMinute);
    if (!state.isAllowed) return refuse(headers, state, found, 'clientPerMinute');
    announceLimit(headers, state);
    return found;
  }

  async function findClient(shown: ClientShown | null, reader: Reader) {
    if (shown === null) return null;
    if (shown.way === 'key') return credentials.findKey(shown.key, reader);
    return credentials.findClient(shown.clientId, shown.secret, reader);
  }

  /** Accepts a key that can manage, but no session: a browser would send its cookie for any site (CSRF). */
  async function agent(bearer: string | null, look: Lookup): Promise<KeyPrincipal | PersonalKeyPrincipal> {
    if (!isKey(bearer)) throw new AppError('unauthenticated', { hint: 'agents_need_key', challenge: agentChallenge });
    const key = await anyKey(bearer, 'unauthenticated', look, agentChallenge);
    if (key.kind === 'key' || key.isConsole) return key;
    throw new AppError('forbidden', { hint: 'management_needs_key_or_console' });
  }

  /** Accepts a key, a console session as bearer token, or a console session in the cookie of our own pages. */
  async function management(bearer: string | null, look: Lookup): Promise<Principal> {
    if (bearer === null && cookie.read(look.context.request) === null) throw new AppError('unauthenticated');
    const principal = await (isKey(bearer) ? anyKey(bearer, 'unauthenticated', look) : session(bearer, look));
    if (principal.kind !== 'key' && !principal.isConsole)
      throw new AppError('forbidden', { hint: 'management_needs_key_or_console' });
    return principal;
  }

  async function personInSession(bearer: string | null, look: Lookup): Promise<SessionPrincipal> {
    if (!isKey(bearer)) return session(bearer, look);
    await anyKey(bearer, 'unauthenticated', look);
    throw new AppError('forbidden', { hint: 'session_needed' });
  }

  async function person(bearer: string | null, look: Lookup): Promise<PersonPrincipal> {
    if (!isKey(bearer)) return session(bearer, look);
    const found = await anyKey(bearer, 'unauthenticated', look);
    if (found.kind === 'key') throw new AppError('forbidden', { hint: 'person_needed' });
    return found;
  }

  async function session(bearer: string | null, look: Lookup): Promise<SessionPrincipal> {
    const fromCookie = bearer === null ? cookie.read(look.context.request) : null;
    if (fromCookie !== null) requireSameOrigin(look.context.request, baseUrl);
    try {
      return await (fromCookie === null ? sessionOf(bearer, look) : sessionOfPage(fromCookie, look));
    } catch (error) {
      // Outside the verification endpoints every refused session means just "not signed in".
      if (error instanceof AppError && error.status === 401)
        throw new AppError('unauthenticated', { hint: error.code, cause: error });
      throw error;
    }
  }

  return (rule, look): MaybePromise<AnyPrincipal | null> => {
    const bearer = bearerToken(look.context.request);
    switch (rule) {
      case 'none':
        return null;
      case 'token':
        return sessionOf(bearer, look, true);
      case 'session':
        return personInSession(bearer, look);
      case 'person':
        return person(bearer, look);
      case 'holder':
        return holder(bearer, look);
      case 'key':
        return backendKey(bearer ?? '', look);
      case 'client':
      case 'client_full':
        return client(rule, look);
      case 'agent':
        return agent(bearer, look);
      case 'read':
      case 'full':
        return management(bearer, look);
    }
  };
}

function deadKey(refusal: ErrorCode, found: DeadKey): AppError {
  return new AppError(refusal, reasonOf(found));
}

function reasonOf({ kind: _, refusal: __, ...why }: DeadKey): HintGiven {
  return why;
}

function ofBackend(key: KeyPrincipal | PersonalKeyPrincipal): KeyPrincipal {
  if (key.kind === 'personal_key') throw new AppError('forbidden', { hint: 'personal_key_verifies_nobody' });
  return key;
}

function isKey(bearer: string | null): bearer is string {
  return bearer !== null && startsLikeSecret('apiKey', bearer);
}

const SCHEME = 'Bearer ';

/** Returns the token of an `Authorization: Bearer` header (RFC 6750 §2.1), or null. */
export function bearerToken(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (header === null || header.length <= SCHEME.length) return null;
  // The scheme is case-insensitive (RFC 9110 §11.1).
  if (!header.startsWith(SCHEME) && header.slice(0, SCHEME.length).toLowerCase() !== SCHEME.toLowerCase()) return null;
  return header.slice(SCHEME.length).trim();
}

/** Actor that a principal's writes are recorded under. Address and country are looked up only for what is recorded. */
export class CallActor implements Author {
  readonly type: Author['type'];
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  confirm?: NonNullable<Author['confirm']>;

  constructor(
    caller: AnyPrincipal | null,
    private readonly context: RequestContext,
  ) {
    // An OAuth client is no actor: what it does to a token is recorded as the token holder's act.
    const principal = caller?.kind === 'client' ? null : caller;
    this.type = principal === null ? 'anonymous' : principal.kind === 'key' ? 'key' : 'user';
    this.userId = principal?.userId ?? null;
    this.apiKeyId = principal === null || principal.kind === 'session' ? null : principal.keyId;
  }

  get requestId(): string {
    return this.context.requestId;
  }

  get ip(): string {
    return this.context.ip;
  }

  get ipCountry(): string | null {
    return this.context.ipCountry;
  }

  get userAgent(): string | null {
    return this.context.request.headers.get('user-agent');
  }
}
