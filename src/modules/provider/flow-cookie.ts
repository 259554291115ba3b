/** The cookie that binds a provider flow to the browser that started it (login CSRF protection). */
import { SECOND } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { isSecret, mintSecret } from '../../core/secret.ts';
import { STATE_LIFETIME_MS } from './states.ts';

/** Reads and writes the cookie; its value is random and identifies nobody. */
export interface FlowCookie {
  /** Returns the browser's secret; null if the request has no well-formed one. */
  read(request: Request): string | null;
  /** Returns the existing secret, so that several open tabs can each finish, else a new one. */
  readOrMint(request: Request): string;
  write(secret: string): string;
}

/** SameSite=Lax, because the provider's redirect back is a cross-site navigation. */
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
