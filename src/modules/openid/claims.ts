/** Claims about a person and their sign-in, for ID tokens and UserInfo (OpenID Connect Core 1.0 §2, §5). */
import { createHash } from 'node:crypto';
import type { Envelope } from '../../core/envelope.ts';
import type { ClaimsUser } from '../../store/people.ts';
import type { SigningAlgorithm } from '../../store/signing-keys.ts';

/** Scopes with a meaning; others are ignored, and left out of the granted scope. */
export const OPENID_SCOPES = ['openid', 'profile', 'email', 'roles', 'groups', 'offline_access'] as const;
export type OpenIdScope = (typeof OPENID_SCOPES)[number];

/** Every claim that an ID token or UserInfo may have. */
export const CLAIMS = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'at_hash',
  'sid',
  'amr',
  'acr',
  'name',
  'given_name',
  'family_name',
  'preferred_username',
  'picture',
  'locale',
  'zoneinfo',
  'email',
  'email_verified',
  'roles',
  'groups',
  'scopes',
] as const;

/** Phishing-resistant authentication (OpenID Connect EAP ACR Values 1.0). */
export const PASSKEY_ACR = 'phr';

/** The person of a session, as verification reads it. */
export interface ClaimsSubject {
  readonly userId: string;
  /** Set for a member whose address only their workspace's own provider vouches for. */
  readonly profileUserId: string | null;
  readonly envelope: Envelope;
}

/** Returns the requested scopes that have a meaning, in our order and each once. @param scope separated by spaces. */
export function knownScopes(scope: string): OpenIdScope[] {
  const wanted = new Set(scope.split(' '));
  return OPENID_SCOPES.filter((name) => wanted.has(name));
}

/**
 * Returns `sub` and the claims of a granted scope. Unknown names are left out; lists are always complete, so that a
 * client sees that the last role or group is gone.
 */
export function claimsFor(
  scope: string,
  { userId, profileUserId, envelope }: ClaimsSubject,
  { emailVerifiedAt, locale, timezone }: ClaimsUser,
): Record<string, unknown> & { sub: string } {
  const granted = new Set<OpenIdScope>(knownScopes(scope));
  const { roles, memberships: groups, scopes } = envelope;
  const hasProfile = granted.has('profile');
  return {
    sub: userId,
    ...(hasProfile &&
      known({
        name: envelope.fullName,
        given_name: envelope.givenName,
        family_name: envelope.familyName,
        preferred_username: envelope.username,
        picture: envelope.avatarUrl,
        // The envelope has defaults in their place.
        locale,
        zoneinfo: timezone,
      })),
    ...(granted.has('email') && {
      email: envelope.email,
      email_verified: profileUserId === null && emailVerifiedAt !== null,
    }),
    ...((hasProfile || granted.has('roles')) && { roles }),
    ...((hasProfile || granted.has('groups')) && { groups }),
    ...(hasProfile && { scopes }),
  };
}

/** Returns the methods of a sign-in (RFC 8176); undefined where another party or a link authenticated the person. */
export function amrOf(method: string): string[] | undefined {
  if (method === 'otp') return ['otp'];
  return method === 'passkey' ? ['pop', 'mfa'] : undefined;
}

/** Returns the authentication context class of a sign-in method; undefined without one. */
export function acrOf(method: string): typeof PASSKEY_ACR | undefined {
  return method === 'passkey' ? PASSKEY_ACR : undefined;
}

/**
 * Returns the `at_hash` of an access token (Core 1.0 §3.1.3.6): the left half of its hash. Ed25519 hashes with SHA-512
 * itself.
 */
export function atHash(alg: SigningAlgorithm, token: string): string {
  const digest = createHash(alg === 'EdDSA' ? 'sha512' : 'sha256')
    .update(token, 'ascii')
    .digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

function known(claims: Readonly<Record<string, string | null>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(claims)) if (value) found[name] = value;
  return found;
}
