/** The cookie of the pages this server hosts: its name, its attributes, and the same-origin proof that writes need. */
import { AppError } from '../core/error.ts';

/** The session cookie: out of reach of scripts, and not sent along by other sites' forms. */
export interface SessionCookie {
  /** The session token in the request's cookie, or null. */
  read(request: Request): string | null;
  /** A `Set-Cookie` value. */
  write(token: string, expiresAtMs: number): string;
  clear(): string;
}

/** On https the `__Host-` prefix binds the cookie to this very host (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-gatehouse' : 'gatehouse';

export function sessionCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:');
  const name = sessionCookieName(baseUrl);
  const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;
  return {
    read(request) {
      const header = request.headers.get('cookie');
      return header?.includes(`${name}=`) ? new Bun.CookieMap(header).get(name) : null;
    },
    write: (token, expiresAtMs) =>
      new Bun.Cookie(name, token, { ...attributes, expires: new Date(expiresAtMs) }).serialize(),
    clear: () => new Bun.Cookie(name, '', { ...attributes, maxAge: 0 }).serialize(),
  };
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * A write that is authenticated by cookie must come from a page of this server. So must a read, where the browser says
 * where it comes from: a link on another's page must not make the reader's browser do anything here.
 *
 * @throws {AppError} forbidden
 */
export function requireSameOrigin(request: Request, baseUrl: string): void {
  const site = request.headers.get('sec-fetch-site');
  if (SAFE_METHODS.includes(request.method)) {
    if (site === null || site === 'same-origin' || site === 'none') return;
    throw new AppError('forbidden', { hint: 'cookie_from_elsewhere' });
  }
  if (!isFromOwnPage(request, baseUrl)) throw new AppError('forbidden', { hint: 'cookie_change_from_elsewhere' });
}

/** Whether a browser makes the request for a page of this server, or to go to one. */
export function isFromOwnPage(request: Request, baseUrl: string): boolean {
  if (SAFE_METHODS.includes(request.method)) return true;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isSameOrigin = origin !== null ? origin === new URL(baseUrl).origin : site === 'same-origin';
  return isSameOrigin && (site === null || site === 'same-origin');
}
