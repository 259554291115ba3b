/** Reads a person's profile from a provider's claims. */
import { normalizeEmail } from '../../core/email.ts';

const MAX_NAME = 100;
const MAX_PICTURE = 2000;

/** A person at a provider. Subject and issuer never change; everything else is the provider's current claim. */
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

/** Reads claims from an id_token or the UserInfo endpoint (OpenID Connect Core 1.0 §5.1). */
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
