/** OpenID Connect issuers: which URLs are valid, and the names shown to people. */
import { isLoopbackHost } from './return-url.ts';

export const GOOGLE_ISSUER = 'https://accounts.google.com';

const MAX_LENGTH = 500;

/**
 * Returns true for an https URL without user info, query and fragment (OpenID Connect Discovery 1.0 §3), or an http one
 * on loopback where that is allowed. Issuers are compared as text, so text that a parser would repair is refused.
 */
export function isIssuer(text: string, isLoopbackAllowed: boolean): boolean {
  if (text.length > MAX_LENGTH || /[\s\\?#\u0000-\u001f\u007f]/.test(text) || !/^https?:\/\/[^/]/.test(text))
    return false;
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (isLoopbackAllowed && isLoopbackHost(url));
}

export function issuerName(issuer: string, name: string | null): string {
  return name ?? (issuer === GOOGLE_ISSUER ? 'Google' : new URL(issuer).hostname);
}
