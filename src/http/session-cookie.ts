/** The cookies of the pages this server hosts, one an application: their names, its attributes, and the same-origin proof that writes need. */
import { CONSOLE_CLIENT_ID } from '../core/console.ts';
import { AppError } from '../core/error.ts';
import { relyingPartyOf } from '../core/relying-party.ts';

/** The application whose cookie a page of ours goes by; left out by pages of the console. */
export const CLIENT_HEADER = 'gatehouse-client';

/** The session cookies: out of reach of scripts, and not sent along by other sites' forms. */
export interface SessionCookie {
  /**
   * The session token in the request's cookie, or null.
   *
   * @param clientId of which application; the one that the page names in its header when left out, or else the console's.
   */
  read(request: Request, clientId?: string): string | null;
  /** A `Set-Cookie` value. @param clientId of an application; the console's when left out. */
  write(token: string, expiresAtMs: number, clientId?: string): string;
  clear(clientId?: string): string;
}

/** On https the `__Host-` prefix binds the cookie to this very host (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (baseUrl: string, clientId = CONSOLE_CLIENT_ID): string => {
  const name = clientId === CONSOLE_CLIENT_ID ? 'gatehouse' : `gatehouse-${clientId}`;
  return baseUrl.startsWith('https:') ? `__Host-${name}` : name;
};

const CLIENT_ID = /^[\w-]{1,100}$/;

export function sessionCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:');
  const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;
  return {
    read({ headers }, clientId = headers.get(CLIENT_HEADER) ?? CONSOLE_CLIENT_ID) {
      if (!CLIENT_ID.test(clientId)) return null;
      const name = sessionCookieName(baseUrl, clientId);
      const header = headers.get('cookie');
      return header?.includes(`${name}=`) ? new Bun.CookieMap(header).get(name) : null;
    },
    write: (token, expiresAtMs, clientId) => {
      const name = sessionCookieName(baseUrl, clientId);
      return new Bun.Cookie(name, token, { ...attributes, expires: new Date(expiresAtMs) }).serialize();
    },
    clear: (clientId) =>
      new Bun.Cookie(sessionCookieName(baseUrl, clientId), '', { ...attributes, maxAge: 0 }).serialize(),
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
  const isSameOrigin = origin !== null ? isOwnOrigin(origin, baseUrl) : site === 'same-origin';
  return isSameOrigin && (site === null || site === 'same-origin');
}

/** On loopback the same server is reached as `localhost` too, where alone passkeys work. */
function isOwnOrigin(origin: string, baseUrl: string): boolean {
  return origin === new URL(baseUrl).origin || relyingPartyOf(baseUrl)?.origins.includes(origin) === true;
}
