/** Verifies callers against the server: returns an identity or throws. */
import { Unreachable } from './errors.ts';
import { type Answer, apiErrorOf, type Call, exchange, type Fetch } from './exchange.ts';
import type { components } from './generated/api.ts';
import { baseUrl, milliseconds, required } from './options.ts';
import { type RefusalReason, VerificationRefused, VerificationUnavailable } from './not-admitted.ts';
import { cache } from './cache.ts';
import { type IncomingRequest, tokenOf } from './token-of.ts';

/** Identity and grants of a person, current at the time of the call. */
export type Identity = components['schemas']['Envelope'] & Included;

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
export interface Verifier {
  /** Verifies a session token or an API key of the application, with this backend's key. */
  verify(token: string): Promise<Identity>;
  /** Verifies a session token without a key. It may belong to any application of the server: give `applicationId`. */
  verifySession(token: string): Promise<Identity>;
  /** Verifies the bearer token of a request, or the cookie named in the options, with this backend's key. */
  requireSession(request: IncomingRequest): Promise<Identity>;
}

/** Characters allowed in a header. */
const IS_TOKEN = /^[\x21-\x7e]+$/;

/**
 * Creates a verifier.
 * @throws {TypeError} for options with which nobody could be verified, naming the one to set.
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { apiKey, applicationId, cookie, timeoutMs = 5000, cacheMs = 0, now = Date.now, include } = options;
  const url = baseUrl('createVerifier', options.url);
  // A key that is given as undefined comes from an unset variable.
  if ('apiKey' in options || applicationId === undefined) required('createVerifier', 'apiKey', apiKey, 'API_KEY');
  if (applicationId !== undefined) required('createVerifier', 'applicationId', applicationId, 'APPLICATION_ID');
  if (cookie === '') throw new TypeError('createVerifier: cookie is empty. Give the name of the cookie.');
  milliseconds('createVerifier', 'timeoutMs', timeoutMs);
  milliseconds('createVerifier', 'cacheMs', cacheMs, { least: 0, most: Infinity });
  const admitted = cache<Identity>(cacheMs, now);

  async function ask(token: string, call: Call, read: (answer: Answer) => Identity): Promise<Identity> {
    if (!token) throw new VerificationRefused('no_token');
    if (!IS_TOKEN.test(token)) throw new VerificationRefused('invalid_token');
    const key = `${call.path} ${token}`;
    const known = admitted.get(key);
    if (known) return known;
    const answer = await exchange({ url, timeoutMs, fetch: options.fetch }, call).catch((cause: unknown) => {
      if (!(cause instanceof Unreachable)) throw cause;
      throw new VerificationUnavailable(cause.code, cause.message, { cause });
    });
    const identity = read(answer);
    if (typeof identity?.userId !== 'string') throw unavailable(answer);
    if (applicationId !== undefined && identity.applicationId !== applicationId)
      throw new VerificationRefused('invalid_token');
    admitted.set(key, identity, identity.expiresAt);
    return identity;
  }

  async function verify(token: string): Promise<Identity> {
    if (!apiKey) throw new TypeError('createVerifier needs apiKey to verify tokens.');
    const body = { token, ...(include && { include }) };
    return ask(token, { method: 'POST', path: '/api/v1/verify', bearer: apiKey, body }, verdictOf);
  }

  return {
    verify,
    async verifySession(token) {
      if (!applicationId) throw new TypeError('createVerifier needs applicationId to verify sessions without a key.');
      return ask(token, { method: 'POST', path: '/api/v1/session', bearer: token }, sessionOf);
    },
    requireSession: async (request) => verify(tokenOf(request, cookie)),
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
  const about = { retryAfterSeconds, cause };
  if (status === 429) return new VerificationUnavailable('rate_limited', message, about);
  if (status === 401 || status === 403) return new VerificationUnavailable('key_refused', message, about);
  return new VerificationUnavailable('unexpected', message, about);
}
