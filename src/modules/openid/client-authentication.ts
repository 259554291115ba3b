/** Authenticates clients at the token endpoint (RFC 6749 §2.3, RFC 7523 §2.2). */
import { createHash } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { MINUTE, SECOND, type WorldClock } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { addressPrefix } from '../../core/ip-address.ts';
import { CLAIMING, type Database } from '../../db/database.ts';
import { challengeOf, type ClientShown, clientShown, refuseSecondWay } from '../../http/client-credentials.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { applyLimit, type LimitUses } from '../../http/rate-limit.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { insertOAuthAssertion } from '../../store/oauth-assertions.ts';
import { isClientSecret } from '../verification/credentials.ts';
import type { OAuthClients, OpenIdClient } from './clients.ts';
import { ASSERTION_ALGORITHMS } from './metadata.ts';
import { JWT_BEARER, type TokenRequest } from './model.ts';
import { TOKEN_PATH } from './paths.ts';

const MAX_ASSERTION_MS = 5 * MINUTE;
const CLOCK_TOLERANCE_MS = 30 * SECOND;

export interface ClientAuthenticationDependencies {
  readonly db: Pick<Database, 'write'>;
  readonly clock: WorldClock;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly limiter: LimitUses;
  readonly limits: Pick<LimitSettings, 'wrongClientsPerAddress'>;
  /** The issuer. */
  readonly baseUrl: () => string;
}

export type ClientAuthentication = ReturnType<typeof clientAuthentication>;

/** Failures are rate limited per client address. Past the limit right credentials are refused there too. */
export function clientAuthentication(dependencies: ClientAuthenticationDependencies) {
  const { db, clock, clients, limiter, limits, baseUrl } = dependencies;

  /** Marks an assertion as used, on all instances until it expires. @returns false if it was used before. */
  async function use(clientId: string, jti: string, expiresAt: number): Promise<boolean> {
    const hash = createHash('sha256').update(`${clientId}\0${jti}`).digest();
    return (await db.write(SYSTEM_ACTOR, (unit) => insertOAuthAssertion(unit, { hash, expiresAt }), CLAIMING)) > 0;
  }

  /** Returns the client whose signed assertion it is, at its first use (RFC 7523 §3), else null. */
  async function ofAssertion(assertion: string, clientId: string | null): Promise<OpenIdClient | null> {
    const claimed = subjectOf(assertion);
    if (claimed === null || (clientId !== null && clientId !== claimed)) return null;
    const client = await clients.find(claimed);
    if (!client?.jwks) return null;
    const payload = await verified(assertion, client.jwks as JSONWebKeySet, {
      // None is symmetric: the key that checks is public.
      algorithms: [...ASSERTION_ALGORITHMS],
      issuer: claimed,
      subject: claimed,
      audience: [baseUrl(), baseUrl() + TOKEN_PATH],
      currentDate: new Date(clock.real()),
      clockTolerance: CLOCK_TOLERANCE_MS / SECOND,
      requiredClaims: ['exp', 'jti'],
    });
    const leftMs = (payload?.exp ?? Infinity) * SECOND - clock.real();
    if (typeof payload?.jti !== 'string' || leftMs > MAX_ASSERTION_MS + CLOCK_TOLERANCE_MS) return null;
    return (await use(claimed, payload.jti, clock.now() + leftMs + CLOCK_TOLERANCE_MS)) ? client : null;
  }

  /** Returns the confidential client whose secret it is, else null. */
  async function ofSecret({ clientId, secret }: Exclude<ClientShown, { way: 'key' }>): Promise<OpenIdClient | null> {
    const client = await clients.find(clientId);
    const isRight = isClientSecret(secret, client?.application);
    return isRight && client?.kind === 'confidential' && client.jwks === null ? client : null;
  }

  /** Returns a public client, which only says who it is. */
  async function ofNone(clientId: string | null): Promise<OpenIdClient | null> {
    const client = clientId === null ? null : await clients.find(clientId);
    return client === null || client.kind === 'confidential' ? null : client;
  }

  async function find(shown: ClientShown | null, body: TokenRequest): Promise<Found> {
    const clientId = body.client_id || null;
    if (body.client_assertion_type || body.client_assertion)
      return { isGuarded: true, client: await ofAssertion(assertionIn(body), clientId) };
    if (shown === null) return { isGuarded: false, client: await ofNone(clientId) };
    if (shown.way === 'key') return { isGuarded: true, client: null };
    // Some libraries send an empty secret for a public client.
    if (shown.secret === '') return { isGuarded: false, client: await ofNone(shown.clientId) };
    return { isGuarded: true, client: await ofSecret(shown) };
  }

  /** @throws {AppError} invalid_client, invalid_request, rate_limited */
  return async ({ request, ip, headers }: RequestContext, body: TokenRequest): Promise<OpenIdClient> => {
    const authorization = request.headers.get('authorization');
    const shown = clientShown(authorization, body);
    if (shown !== null) refuseSecondWay(shown, body);
    if (body.client_assertion && (authorization !== null || body.client_secret))
      throw invalidField('client_assertion', 'Send one credential: a header, client_secret, or this.');
    const isUnreadable = authorization !== null && shown === null;
    const { client, isGuarded } = isUnreadable ? UNKNOWN : await find(shown, body);
    const [limit, address, allowed] = [LIMITS.wrongClientsPerAddress, addressPrefix(ip), limits.wrongClientsPerAddress];
    if (client === null) {
      applyLimit(headers, await limiter.consume(limit, address, allowed));
      const challenge = authorization === null ? {} : { challenge: challengeOf(null) };
      throw new AppError('invalid_client', { hint: 'openid_client_not_authenticated', ...challenge });
    }
    // A public client guesses nothing.
    if (isGuarded) {
      const failures = await limiter.peek(limit, address, allowed);
      if (!failures.isAllowed) applyLimit(headers, failures);
    }
    return client;
  };
}

interface Found {
  readonly client: OpenIdClient | null;
  /** Whether a credential was checked. */
  readonly isGuarded: boolean;
}

const UNKNOWN: Found = { client: null, isGuarded: true };

/** @throws {AppError} invalid_request */
function assertionIn({ client_assertion_type: type, client_assertion: assertion }: TokenRequest): string {
  if (type !== JWT_BEARER) throw invalidField('client_assertion_type', `Give ${JWT_BEARER}.`);
  if (!assertion) throw invalidField('client_assertion', 'Give the signed assertion.');
  return assertion;
}

/** Returns whom an assertion names, unverified. */
function subjectOf(assertion: string): string | null {
  try {
    const { iss, sub }: { iss?: unknown; sub?: unknown } = decodeJwt(assertion);
    return typeof iss === 'string' && iss === sub ? iss : null;
  } catch {
    return null;
  }
}

/** Returns the claims if one of the keys has signed them; a header without `kid` may fit several. */
async function verified(
  assertion: string,
  jwks: JSONWebKeySet,
  options: NonNullable<Parameters<typeof jwtVerify>[2]>,
): Promise<JWTPayload | null> {
  const keySet = createLocalJWKSet(jwks);
  try {
    return (await jwtVerify(assertion, keySet, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return null;
    for await (const key of error) {
      try {
        return (await jwtVerify(assertion, key, options)).payload;
      } catch {
        continue;
      }
    }
    return null;
  }
}
