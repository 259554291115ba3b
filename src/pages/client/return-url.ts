/** Builds the address that a finished or refused sign-in goes back to. */

/**
 * The return address with the values in its fragment, which never reaches a server's log. A fragment it had is
 * dropped. Null for anything but an http(s) address: a `javascript:` one must never be followed.
 */
export function withFragment(returnTo: string | null, values: Record<string, string>): string | null {
  if (!returnTo || !URL.canParse(returnTo)) return null;
  const url = new URL(returnTo);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  url.hash = Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return url.href;
}
