/** Session cookies of the hosted pages, one per application. `csrf.ts` has the same-origin check. */
import { CONSOLE_CLIENT_ID } from '../core/console.ts';

/** Names the application whose cookie a hosted page uses; pages of the console omit it. */
export const CLIENT_HEADER = 'gatehouse-client';

/** Session cookies: unreadable to scripts (HttpOnly), and not sent with other sites' forms (SameSite=Lax). */
export interface SessionCookie {
  /** Returns the session token, or null. @param clientId by default the one in `CLIENT_HEADER`, else the console's. */
  read(request: Request, clientId?: string): string | null;
  /** Returns a `Set-Cookie` value. @param clientId of an application; the console's by default. */
  write(token: string, expiresAtMs: number, clientId?: string): string;
  clear(clientId?: string): string;
}

/** Returns the cookie's name. On https the `__Host-` prefix binds it to this very host (RFC 6265bis §4.1.3.2). */
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
