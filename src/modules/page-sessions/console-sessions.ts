/** The console's session in a browser: a key that a client of the console gets has all rights of its person. */
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Reader } from '../../db/database.ts';
import type { Credentials } from '../../http/authenticate.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';

export interface ConsoleSession {
  /** The cookie's value. */
  readonly value: string;
  readonly principal: SessionPrincipal;
}

export type ConsoleSessions = ReturnType<typeof consoleSessions>;

export function consoleSessions({
  cookie,
  credentials,
}: {
  readonly cookie: SessionCookie;
  readonly credentials: Pick<Credentials, 'findPageSession'>;
}) {
  return {
    /** Returns null as well for a session of an application, which could put the person's token into a cookie itself. */
    async find(request: Request, reader: Reader): Promise<ConsoleSession | null> {
      const value = cookie.read(request, CONSOLE_CLIENT_ID);
      const principal = value === null ? null : await credentials.findPageSession(value, reader);
      if (value === null || principal === null || typeof principal === 'string') return null;
      return principal.isConsole ? { value, principal } : null;
    },
  };
}
