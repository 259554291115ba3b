/** Judges an id_token (OpenID Connect Core 1.0 §3.1.3.7) and takes from it what is known of the person. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { normalizeEmail } from '../../core/email.ts';
import { equalDigests } from '../../core/instance-key.ts';
import { ProviderFault } from './fault.ts';

/** With asymmetric keys only: with a shared one, whoever can verify can forge, and the public key must never be taken for it. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const TOLERANCE_SECONDS = 30;
const MAX_AGE_SECONDS = 10 * 60;
const MAX_SUBJECT = 255;
const MAX_NAME = 100;
const MAX_PICTURE = 2000;

export interface ExpectedToken {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  readonly now: number;
}

/** Who somebody is at a provider. Subject and issuer never change; all else is only what the provider says now. */
export interface ProviderProfile {
  readonly issuer: string;
  readonly subject: string;
  /** Normalised. */
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly fullName: string | null;
  readonly picture: string | null;
}

/** The token is signed with a key that is not in the set; a newer set may have it. */
export class UnknownKey extends ProviderFault {}

/** @throws {ProviderFault} naming the check that failed; UnknownKey among them. */
export async function readIdToken(
  idToken: string,
  keys: JSONWebKeySet,
  expected: ExpectedToken,
): Promise<ProviderProfile> {
  const claims = await verified(idToken, keys, expected);
  const { sub, nonce, aud, azp } = claims;
  if (typeof nonce !== 'string' || !equalDigests(Buffer.from(nonce), Buffer.from(expected.nonce)))
    throw new ProviderFault('id_token: nonce is of another sign-in');
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT)
    throw new ProviderFault('id_token: sub is not usable');
  const hasSeveralAudiences = Array.isArray(aud) && aud.length > 1;
  if ((hasSeveralAudiences || azp !== undefined) && azp !== expected.clientId)
    throw new ProviderFault('id_token: azp is another client');
  return { issuer: expected.issuer, subject: sub, ...personalClaims(claims) };
}

/** What a provider says of a person, in an id_token or at its UserInfo endpoint (OpenID Connect Core 1.0 §5.1). */
export function personalClaims(claims: Readonly<Record<string, unknown>>): Omit<ProviderProfile, 'issuer' | 'subject'> {
  return {
    email: typeof claims['email'] === 'string' ? normalizeEmail(claims['email']) : null,
    isEmailVerified: claims['email_verified'] === true,
    givenName: personName(claims['given_name']),
    familyName: personName(claims['family_name']),
    fullName: personName(claims['name']),
    picture: pictureUrl(claims['picture']),
  };
}

async function verified(
  idToken: string,
  keys: JSONWebKeySet,
  { issuer, clientId, now }: ExpectedToken,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      requiredClaims: ['iss', 'aud', 'exp', 'iat', 'sub', 'nonce'],
      currentDate: new Date(now),
      clockTolerance: TOLERANCE_SECONDS,
      maxTokenAge: MAX_AGE_SECONDS,
    });
    return payload;
  } catch (error) {
    // The library's error carries the claims, which are not for the log.
    if (error instanceof errors.JWKSNoMatchingKey) throw new UnknownKey('id_token: signed with an unknown key');
    if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
      throw new ProviderFault(`id_token: ${error.claim} (${error.reason})`);
    if (error instanceof errors.JOSEError) throw new ProviderFault(`id_token: ${error.code}`);
    // A key that cannot be imported.
    throw new ProviderFault('id_token: cannot be verified');
  }
}

function personName(claim: unknown): string | null {
  if (typeof claim !== 'string') return null;
  const line = claim
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]/gu, '')
    .trim();
  return [...line].slice(0, MAX_NAME).join('').trim() || null;
}

function pictureUrl(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim.length > MAX_PICTURE || /[\s\\]/.test(claim)) return null;
  const url = URL.parse(claim);
  return url?.protocol === 'https:' && !url.username && !url.password ? claim : null;
}
