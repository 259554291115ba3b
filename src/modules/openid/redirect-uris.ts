/**
 * Redirect URIs of OAuth clients: which may be registered, and how one is compared, as text (RFC 9700 §2.1, RFC 8252).
 */
import { isLoopbackHost } from '../../core/return-url.ts';

const MAX_LENGTH = 2000;
/** Characters of a URI (RFC 3986) without those that browsers repair. */
const URI = /^[\w.~:/?[\]@!$&'()*+,;=%-]+$/;
/** `com.example.app:/path`: RFC 8252 §8.4 requires a period in a private-use scheme. */
const PRIVATE_USE = /^[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+:\//;
/** Addresses of programs that use a scheme without a period all the same. Other such schemes may start any program. */
const KNOWN_PRIVATE_USE = ['cursor://anysphere.cursor-mcp/oauth/callback'];
const HOST = /^(?:[a-z\d-]+(?:\.[a-z\d-]+)*|\[[\da-f:]+\])$/;
const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/s;
const MAX_PORT = 65_535;
/** Parameters that an answer appends. */
const ANSWERED = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'];

/**
 * Returns a sentence that says how to correct a redirect URI; null for one that may be registered: https, http on
 * loopback where allowed, or a private-use scheme.
 */
export function redirectProblem(
  text: string,
  { isLoopbackAllowed }: { readonly isLoopbackAllowed: boolean },
): string | null {
  if (text.length > MAX_LENGTH) return `Give at most ${MAX_LENGTH} characters.`;
  if (text.includes('#')) return 'Give a URI without a fragment.';
  if (text.includes('*')) return 'Give each URI in full: they are compared as text, without wildcards.';
  if (!URI.test(text)) return 'Give an absolute URI, with other characters than those of RFC 3986 percent-encoded.';
  const url = URL.parse(text);
  if (!url) return 'Give an absolute URI, such as https://app.example.com/callback.';
  if (ANSWERED.some((name) => url.searchParams.has(name)))
    return `Give a URI without the parameters of an answer: ${ANSWERED.join(', ')}.`;
  if (PRIVATE_USE.test(text) || KNOWN_PRIVATE_USE.includes(text)) return null;
  if (url.protocol !== 'https:' && !(isLoopbackAllowed && url.protocol === 'http:' && isLoopbackHost(url)))
    return isLoopbackAllowed
      ? 'Give an https URI, http on loopback, or a private-use scheme with a period, such as com.example.app:/callback.'
      : 'Give an https URI, or a private-use scheme with a period, such as com.example.app:/callback.';
  return isNormal(text, url)
    ? null
    : 'Write the URI as browsers send it: host in lower case, without user name, default port and . or .. segments.';
}

/** An address that a browser would change is never equal to what it is compared with. */
function isNormal(text: string, url: URL): boolean {
  const [withoutQuery = '', ...query] = text.split('?');
  const path = withoutQuery === url.origin ? `${withoutQuery}/` : withoutQuery;
  const hasUser = url.username !== '' || url.password !== '';
  return !hasUser && HOST.test(url.hostname) && [path, ...query].join('?') === url.href;
}

/**
 * Returns whether a client may be sent to a redirect URI: the text of a registered one, with any port for http on
 * loopback (RFC 8252 §7.3). Test instances accept any loopback address.
 */
export function isRegistered(
  uri: string,
  registered: readonly string[],
  { isLoopbackOpen }: { readonly isLoopbackOpen: boolean },
): boolean {
  if (registered.includes(uri)) return true;
  const loopback = withoutPort(uri);
  if (loopback === null) return false;
  if (isLoopbackOpen && redirectProblem(uri, { isLoopbackAllowed: true }) === null) return true;
  return registered.some((entry) => withoutPort(entry) === loopback);
}

/** Returns an http address on loopback without its port; null for any other text. */
function withoutPort(uri: string): string | null {
  const [, origin, port = '1', rest] = LOOPBACK.exec(uri) ?? [];
  return origin === undefined || Number(port) > MAX_PORT ? null : `${origin}${rest}`;
}

/** Returns the URI with these values appended to its query. The registered text itself stays as it is. */
export function withParameters(uri: string, values: Readonly<Record<string, string | undefined>>): string {
  const added = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) added.set(name, value);
  const joint = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return `${uri}${joint}${added}`;
}

/**
 * Returns the source of a `form-action` directive that admits a registered URI, as Chromium applies the directive to
 * redirects too.
 */
export function formTarget(uri: string): string {
  const { protocol, hostname, origin } = new URL(uri);
  const isHttp = protocol === 'https:' || protocol === 'http:';
  // CSP has no syntax for IPv6 hosts.
  return isHttp && !hostname.startsWith('[') ? origin : protocol;
}
