/** Return URLs: where a sign-in may send a person afterwards. Registered first, matched strictly (RFC 9700 §2.1). */

const MAX_LENGTH = 2000;
/** Encodings (once or twice) that some servers read as a path separator or `..` after our comparison of the path. */
const HIDDEN_SEPARATOR = /%(?:25)*(?:2f|5c|2e|3b)|\.\.;/i;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Returns whether a URL's host is this machine, by name or address. */
export const isLoopbackHost = ({ hostname }: URL): boolean => LOOPBACK_HOSTS.includes(hostname);

/**
 * @returns the URL if it is absolute, without user info or fragment, and https (or http on loopback where allowed);
 * else `null`. Input that browsers repair silently (tabs, backslashes, spaces) is refused.
 */
export function parseReturnUrl(text: string, isLoopbackAllowed: boolean): URL | null {
  if (text.length > MAX_LENGTH || /[\s\\\u0000-\u001f\u007f]/.test(text) || !/^https?:\/\/[^/]/i.test(text))
    return null;
  const url = URL.parse(text);
  // The parser drops an empty user name, so the text is checked.
  if (!url || /^https?:\/\/[^/?]*@/i.test(text) || text.includes('#')) return null;
  const isLoopback = isLoopbackAllowed && isLoopbackHost(url);
  return url.protocol === 'https:' || isLoopback ? url : null;
}

/** Returns a sentence that says how to fix a return URL that {@link parseReturnUrl} has refused. */
export function returnUrlRemedy(text: string): string {
  return parseReturnUrl(text, true)
    ? 'Give an https address; http is taken for localhost only with `serve --dev`.'
    : 'Give an absolute https address without user name or fragment.';
}

/** Returns true for a registered URL's origin with a path at or below its path. Test instances accept any loopback. */
export function isReturnUrlRegistered(
  returnTo: string,
  registered: readonly string[],
  { isLoopbackAllowed, isLoopbackOpen }: { isLoopbackAllowed: boolean; isLoopbackOpen: boolean },
): boolean {
  const url = parseReturnUrl(returnTo, isLoopbackAllowed);
  if (!url) return false;
  if (isLoopbackOpen && isLoopbackHost(url)) return true;
  return registered.some((entry) => {
    const allowed = parseReturnUrl(entry, isLoopbackAllowed);
    return (
      allowed !== null &&
      !HIDDEN_SEPARATOR.test(url.pathname) &&
      allowed.origin === url.origin &&
      isAtOrBelow(url.pathname, allowed.pathname)
    );
  });
}

function isAtOrBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

/** Returns the URL with these values as its fragment, instead of any other: browsers send fragments to no server. */
export function withFragment(returnTo: string, values: Readonly<Record<string, string>>): string {
  const url = new URL(returnTo);
  url.hash = Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return url.href;
}
