/** The cookie that ties a sign-in at a provider to the browser it began in, so that nobody can finish another's. */
import { SECOND } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { isSecret, mintSecret } from '../../core/secret.ts';
import { STATE_LIFETIME_MS } from './states.ts';

/** Reads and writes the cookie; what stands in it is random and names nobody. */
export interface FlowCookie {
  /** The browser's secret; null when the request carries none that is well-formed. */
  read(request: Request): string | null;
  /** The one it has, so that tabs opened side by side can each finish, else a new one. */
  readOrMint(request: Request): string;
  /** A `Set-Cookie` value. */
  write(secret: string): string;
}

/** Lax, because the provider's redirect back is a navigation from another site. */
export function flowCookie(baseUrl: string, random: Random): FlowCookie {
  const isSecure = baseUrl.startsWith('https:');
  const name = isSecure ? '__Host-gatehouse-flow' : 'gatehouse-flow';

  function read(request: Request): string | null {
    const header = request.headers.get('cookie');
    const value = header?.includes(`${name}=`) ? new Bun.CookieMap(header).get(name) : null;
    return value && isSecret('browser', value) ? value : null;
  }

  return {
    read,
    readOrMint: (request) => read(request) ?? mintSecret('browser', random),
    write: (secret) =>
      new Bun.Cookie(name, secret, {
        path: '/',
        httpOnly: true,
        secure: isSecure,
        sameSite: 'lax',
        maxAge: STATE_LIFETIME_MS / SECOND,
      }).serialize(),
  };
}
