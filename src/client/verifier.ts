/** Verifies callers against the server: returns an identity or throws. */
import { Unreachable } from './errors.ts';
import { type Answer, apiErrorOf, type Call, exchange, type Fetch } from './exchange.ts';
import type { components } from './generated/api.ts';
import { baseUrl, milliseconds, required } from './options.ts';
import { type RefusalReason, VerificationRefused, VerificationUnavailable } from './not-admitted.ts';
import { cache } from './cache.ts';
import { type IncomingRequest, tokenOf } from './token-of.ts';

type Envelope = components['schemas']['Envelope'];

/**
 * Identity and grants of a person, current at the time of the call.
 * `Role` and `Scope` are the slugs that your application has, if you name them: they type code, and check nothing.
 */
export type Identity<Role extends string = string, Scope extends string = string> = Omit<
  Envelope,
  'roles' | 'scopes'
> & { roles: Role[]; scopes: Scope[] } & Included;

/** Set by `include` in the options, for `verify` and `requireSession`. */
export interface Included {
  /** The user's id in your own systems; null if none was set. */
  readonly externalId?: string | null;
  /** Set by imports and management. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface VerifierOptions {
  /** Base URL of the server. */
  readonly url: string;
  /** A key with Read access is enough. Its rate limit must cover your request rate. */
  readonly apiKey?: string;
  /** Rejects tokens of other applications. A key limited to one application sees no other anyway. */
  readonly applicationId?: string;
  /** Cookie that `requireSession` reads when there is no bearer token. */
  readonly cookie?: string;
  readonly timeoutMs?: number;
  /** Fields to add to each verdict. */
  readonly include?: readonly (keyof Included)[];
  /**
   * How long a positive result is cached in milliseconds; a ban, sign-out or lost role shows after at most that.
   * Default 0, no cache. Refusals are never cached.
   */
  readonly cacheMs?: number;
  readonly fetch?: Fetch;
  readonly now?: () => number;
}

/** Each method returns an identity, or throws {@link VerificationRefused} or {@link VerificationUnavailable}. */
export interface Verifier<Role extends string = string, Scope extends string = string> {
  /** Verifies a session token or an API key of the application, with this backend's key. */
  verify(token: string): Promise<Identity<Role, Scope>>;
  /** Verifies a session token without a key. It may belong to any application of the server: give `applicationId`. */
  verifySession(token: string): Promise<Identity<Role, Scope>>;
  /** Verifies the bearer token of a request, or the cookie named in the options, with this backend's key. */
  requireSession(request: IncomingRequest): Promise<Identity<Role, Scope>>;
  /** Like `requireSession`, and refuses with 403 whoever has none of the roles. */
  requireRole(request: IncomingRequest, role: Role | readonly Role[]): Promise<Identity<Role, Scope>>;
  /** Like `requireSession`, and refuses with 403 whoever has none of the scopes. */
  requireScope(request: IncomingRequest, scope: Scope | readonly Scope[]): Promise<Identity<Role, Scope>>;
  /** Like `requireSession`, but returns null for whoever would be refused. @throws {VerificationUnavailable} */
  findSession(request: IncomingRequest): Promise<Identity<Role, Scope> | null>;
}

/** Grants to look for, each a slug or several, of which one is enough. */
export interface Wanted<Role extends string = string, Scope extends string = string> {
  readonly role?: Role | readonly Role[];
  readonly scope?: Scope | readonly Scope[];
  /** Slugs of membership groups. */
  readonly group?: string | readonly string[];
}

/** Returns whether a person has all of what is wanted; nobody has a grant out of an empty list. */
export function has<Role extends string, Scope extends string>(
  { roles, scopes, memberships }: Pick<Identity<Role, Scope>, 'roles' | 'scopes' | 'memberships'>,
  { role, scope, group }: Wanted<NoInfer<Role>, NoInfer<Scope>>,
): boolean {
  const any = (held: readonly string[], wanted: string | readonly string[] | undefined) =>
    wanted === undefined || [wanted].flat().some((slug) => held.includes(slug));
  return any(roles, role) && any(scopes, scope) && any(memberships, group);
}

/** Characters allowed in a header. */
const IS_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Creates a verifier.
 * @throws {TypeError} for options with which nobody could be verified, naming the one to set.
 */
export function createVerifier<Role extends string = string, Scope extends string = string>(
  options: VerifierOptions,
): Verifier<Role, Scope> {
  type Person = Identity<Role, Scope>;
  const { apiKey, applicationId, cookie, timeoutMs = 5000, cacheMs = 0, now = Date.now, include } = options;
  const url = baseUrl('createVerifier', options.url);
  // A key that is given as undefined comes from an unset variable.
  if ('apiKey' in options || applicationId === undefined) required('createVerifier', 'apiKey', apiKey, 'API_KEY');
  if (applicationId !== undefined) required('createVerifier', 'applicationId', applicationId, 'APPLICATION_ID');
  milliseconds('createVerifier', 'timeoutMs', timeoutMs);
  milliseconds('createVerifier', 'cacheMs', cacheMs, 0, Infinity);
  const admitted = cache<Person>(cacheMs, now);

  async function ask(token: string, call: Call, read: (answer: Answer) => Identity): Promise<Person> {
    if (!token) throw new VerificationRefused('no_token');
    if (!IS_TOKEN.test(token)) throw new VerificationRefused('invalid_token');
    const key = `${call.path} ${token}`;
    const known = admitted.get(key);
    if (known) return known;
    const answer = await exchange({ url, timeoutMs, fetch: options.fetch }, call).catch((cause: unknown) => {
      if (!(cause instanceof Unreachable)) throw cause;
      throw new VerificationUnavailable(cause.code, cause.message, { cause });
    });
    const identity = read(answer) as Person;
    if (typeof identity?.userId !== 'string') throw unavailable(answer);
    if (applicationId !== undefined && identity.applicationId !== applicationId)
      throw new VerificationRefused('invalid_token');
    admitted.set(key, identity, identity.expiresAt);
    return identity;
  }

  async function verify(token: string): Promise<Person> {
    const authorization = `Bearer ${required('createVerifier', 'apiKey', apiKey, 'API_KEY')}`;
    const body = { token, ...(include && { include }) };
    return ask(token, { method: 'POST', path: '/api/v1/verify', authorization, body }, verdictOf);
  }

  const requireSession = async (request: IncomingRequest) => verify(tokenOf(request, cookie));

  return {
    verify,
    async verifySession(token) {
      required('createVerifier', 'applicationId', applicationId, 'APPLICATION_ID');
      return ask(token, { method: 'POST', path: '/api/v1/session', authorization: `Bearer ${token}` }, sessionOf);
    },
    requireSession,
    async requireRole(request, role) {
      const identity = await requireSession(request);
      if (!has(identity, { role })) throw new VerificationRefused('missing_role');
      return identity;
    },
    async requireScope(request, scope) {
      const identity = await requireSession(request);
      if (!has(identity, { scope })) throw new VerificationRefused('missing_scope');
      return identity;
    },
    findSession: (request) =>
      requireSession(request).catch((error: unknown) => {
        if (error instanceof VerificationRefused) return null;
        throw error;
      }),
  };
}

/** Reads a verdict on the token, which has status 200. Any other status is about the key. */
function verdictOf(answer: Answer): Identity {
  const { status, body } = answer;
  if (status === 200 && body['success'] === true) return body['data'] as Identity;
  if (status === 200 && typeof body['errorMessage'] === 'string')
    throw new VerificationRefused(body['errorMessage'] as RefusalReason);
  throw unavailable(answer);
}

/** Reads a verdict from the status, provided that the body comes from the server itself. */
function sessionOf(answer: Answer): Identity {
  const { status, body } = answer;
  const { ok, ...identity } = body;
  if (status === 200 && ok === true) return identity as unknown as Identity;
  if ((status === 401 || status === 403) && ok === false && typeof body['error'] === 'string')
    throw new VerificationRefused(body['error'] as RefusalReason);
  throw unavailable(answer);
}

function unavailable(answer: Answer): VerificationUnavailable {
  const cause = apiErrorOf(answer);
  const { status, retryAfterSeconds, message } = cause;
  const reason = status === 429 ? 'rate_limited' : status === 401 || status === 403 ? 'key_refused' : 'unexpected';
  return new VerificationUnavailable(reason, message, { retryAfterSeconds, cause });
}
