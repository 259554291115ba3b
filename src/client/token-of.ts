/** Reads the token of a request from the bearer header or a named cookie. */
import { type AnyHeaders, headerOf } from './headers.ts';
import { VerificationRefused } from './not-admitted.ts';

/** A fetch-style `Request`, or a request of `node:http` and frameworks built on it. */
export interface IncomingRequest {
  readonly method?: string | undefined;
  readonly headers: AnyHeaders;
}

const CHANGES_NOTHING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Returns the token of a request.
 * @param cookie name of a cookie that may hold the token. CSRF protection refuses cross-site changes with it.
 * @throws {VerificationRefused} `no_token`, `cross_site`
 */
export function tokenOf(request: IncomingRequest, cookie: string | undefined): string {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headerOf(request.headers, 'authorization')) ?? [];
  if (bearer !== undefined) return bearer;
  const held = cookie === undefined ? undefined : cookieOf(headerOf(request.headers, 'cookie'), cookie);
  if (held === undefined) throw new VerificationRefused('no_token');
  const isChange = !CHANGES_NOTHING.includes((request.method ?? 'POST').toUpperCase());
  if (isChange && headerOf(request.headers, 'sec-fetch-site') === 'cross-site')
    throw new VerificationRefused('cross_site');
  return held;
}

/** Returns the value of a cookie by its name; undefined when it is absent or empty. */
export function cookieOf(cookies: string, name: string): string | undefined {
  for (const pair of cookies.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return undefined;
}
