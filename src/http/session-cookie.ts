/** Session cookies of the hosted pages, one per application. `csrf.ts` has the same-origin check. */
import { CONSOLE_CLIENT_ID } from '../core/console.ts';

/** Names the application whose cookie a hosted page uses; pages of the console omit it. */
export const CLIENT_HEADER = 'gatehouse-client';

/** Names the hosted page that keeps the session of a sign-in it posts: `sign-in` or `account`. */
export const PAGE_HEADER = 'gatehouse-page';

/** Session cookies: unreadable to scripts (HttpOnly), and not sent with other sites' forms (SameSite=Lax). */
export interface SessionCookie {
  /** Returns the value of who is signed in, or null. @param clientId by default the one in `CLIENT_HEADER`, else the console's. */
  read(request: Request, clientId?: string): string | null;
  /** Returns a `Set-Cookie` value. @param clientId of an application; the console's by default. */
  write(token: string, expiresAtMs: number, clientId?: string): string;
  clear(clientId?: string): string;
  /** Returns what the request's cookies hold, by application and without the console; the header's size bounds it. */
  readAll(request: Request): BrowserCookie[];
  /** Returns a `Set-Cookie` value with several sessions. @param values the first is signed in; it may be empty. */
  writeAll(values: readonly string[], expiresAtMs: number, clientId: string): string;
}

/** An application's cookie: its sessions in this browser, one an account. */
export interface BrowserCookie {
  readonly clientId: string;
  readonly values: readonly string[];
}

/** Maximum number of accounts in a cookie. */
export const MAX_ACCOUNTS = 5;
const SEPARATOR = '~';

/** Returns the cookie's name. On https the `__Host-` prefix binds it to this very host (RFC 6265bis §4.1.3.2). */
export const sessionCookieName = (baseUrl: string, clientId = CONSOLE_CLIENT_ID): string => {
  const name = clientId === CONSOLE_CLIENT_ID ? 'gatehouse' : `${APPLICATION_PREFIX}${clientId}`;
  return baseUrl.startsWith('https:') ? `__Host-${name}` : name;
};

const APPLICATION_PREFIX = 'gatehouse-';
const CLIENT_ID = /^[\w-]{1,100}$/;

export function sessionCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:');
  const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;
  return {
    read({ headers }, clientId = headers.get(CLIENT_HEADER) ?? CONSOLE_CLIENT_ID) {
      if (!CLIENT_ID.test(clientId)) return null;
      const name = sessionCookieName(baseUrl, clientId);
      const header = headers.get('cookie');
      const value = header?.includes(`${name}=`) ? new Bun.CookieMap(header).get(name) : null;
      return value?.split(SEPARATOR, 1)[0] || null;
    },
    readAll({ headers }) {
      const header = headers.get('cookie');
      if (!header?.includes(APPLICATION_PREFIX)) return [];
      const prefix = sessionCookieName(baseUrl, '');
      return [...new Bun.CookieMap(header).entries()]
        .map(([name, value]) => ({ clientId: name.startsWith(prefix) ? name.slice(prefix.length) : '', value }))
        .filter(({ clientId }) => CLIENT_ID.test(clientId))
        .map(({ clientId, value }) => ({ clientId, values: value.split(SEPARATOR, MAX_ACCOUNTS + 1) }));
    },
    writeAll: (values, expiresAtMs, clientId) => {
      const name = sessionCookieName(baseUrl, clientId);
      const value = values.slice(0, MAX_ACCOUNTS + (values[0] === '' ? 1 : 0)).join(SEPARATOR);
      return new Bun.Cookie(name, value, { ...attributes, expires: new Date(expiresAtMs) }).serialize();
    },
    write: (token, expiresAtMs, clientId) => {
      const name = sessionCookieName(baseUrl, clientId);
      return new Bun.Cookie(name, token, { ...attributes, expires: new Date(expiresAtMs) }).serialize();
    },
    clear: (clientId) =>
      new Bun.Cookie(sessionCookieName(baseUrl, clientId), '', { ...attributes, maxAge: 0 }).serialize(),
  };
}
