/** Issuers of OpenID Connect: what may be one, and what people know it as. */
import { isLoopbackHost } from './return-url.ts';

export const GOOGLE_ISSUER = 'https://accounts.google.com';

const MAX_LENGTH = 500;

/**
 * True for an https URL without user-info, query and fragment (OpenID Connect Discovery 1.0 §3), or an http one on
 * loopback where that is allowed. It is compared as text, so what a parser would repair is refused.
 */
export function isIssuer(text: string, isLoopbackAllowed: boolean): boolean {
  if (text.length > MAX_LENGTH || /[\s\\?#\u0000-\u001f\u007f]/.test(text) || !/^https?:\/\/[^/]/.test(text))
    return false;
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (isLoopbackAllowed && isLoopbackHost(url));
}

/** @param name as it was configured, if it was. */
export function issuerName(issuer: string, name: string | null): string {
  return name ?? (issuer === GOOGLE_ISSUER ? 'Google' : new URL(issuer).hostname);
}
