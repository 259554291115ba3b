/** Issuers of OpenID Connect: what may be one, what people know it as, and whether it may vouch for e-mail addresses. */
import { isLoopbackHost } from '../../core/return-url.ts';
import type { Reader } from '../../db/database.ts';
import { isOnlyWorkspace } from '../../store/workspaces.ts';

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

/** How far an issuer's word on an e-mail address is taken: in every application, in the one that chose it, or in none. */
export type IssuerTrust = 'everywhere' | 'here' | 'nowhere';

/**
 * People are shared by all applications of an instance, so an issuer that one tenant has chosen must not speak for another
 * tenant's people: only the operator's own and Google's speak for everyone. With one tenant alone, who runs the server, its
 * choice is taken in its own applications.
 */
export async function trustIn(reader: Reader, issuer: string, instanceIssuer: string | null): Promise<IssuerTrust> {
  if (isOperators(issuer, instanceIssuer)) return 'everywhere';
  return (await isOnlyWorkspace(reader)) ? 'here' : 'nowhere';
}

/** Whether the issuer is Google's, or the one that the operator has set. */
export function isOperators(issuer: string, instanceIssuer: string | null): boolean {
  return issuer === instanceIssuer || issuer === GOOGLE_ISSUER;
}
