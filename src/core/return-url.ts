/** Return URLs: where a sign-in may send a person afterwards. Registered in advance, matched strictly (RFC 9700 §2.1). */

const MAX_LENGTH = 2000;
/** What some servers take for a path separator, or a way up, after we have compared the path; encoded once or twice. */
const HIDDEN_SEPARATOR = /%(?:25)*(?:2f|5c|2e|3b)|\.\.;/i;
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Of a URL: this very machine, by name or address. */
export const isLoopbackHost = ({ hostname }: URL): boolean => LOOPBACK_HOSTS.includes(hostname);

/**
 * @returns the URL when it is absolute, without user-info or fragment, and https (or http on loopback, where that is
 * allowed); `null` otherwise. What browsers repair silently (tabs, backslashes, spaces) is refused, not repaired.
 */
export function parseReturnUrl(text: string, isLoopbackAllowed: boolean): URL | null {
  if (text.length > MAX_LENGTH || /[\s\\\u0000-\u001f\u007f]/.test(text) || !/^https?:\/\/[^/]/i.test(text))
    return null;
  const url = URL.parse(text);
  // An empty user name is in the text alone: the parser drops it.
  if (!url || /^https?:\/\/[^/?]*@/i.test(text) || text.includes('#')) return null;
  const isLoopback = isLoopbackAllowed && isLoopbackHost(url);
  return url.protocol === 'https:' || isLoopback ? url : null;
}

/** Returns one sentence for a return URL that {@link parseReturnUrl} has refused: what to give, or how to start the server. */
export function returnUrlRemedy(text: string): string {
  return parseReturnUrl(text, true)
    ? 'Give an https address; http is taken for localhost only with `serve --dev`.'
    : 'Give an absolute https address without user name or fragment.';
}

/**
 * True when `returnTo` has the origin of a registered URL and a path at or below its path. In instances for tests any
 * loopback address is a return URL.
 */
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

/** The address with values in its fragment, in place of one it had: browsers do not send it to any server. */
export function withFragment(returnTo: string, values: Readonly<Record<string, string>>): string {
  const url = new URL(returnTo);
  url.hash = Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  return url.href;
}
