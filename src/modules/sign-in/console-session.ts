/**
 * The cookie that a sign-in to the console leaves: this server's pages manage the console by it. Every other application
 * gets its token and nothing else.
 */
import type { RequestContext } from '../../http/request-context.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import type { SignedIn } from './model.ts';

/** Sets the cookie on the answer; does nothing for other applications. */
export type KeepConsoleSession = (
  context: RequestContext,
  session: Pick<SignedIn, 'token' | 'expiresAt' | 'applicationId'>,
) => void;

/** @param consoleId asked at each sign-in: it is known only after the first start. */
export function consoleSessionKeeper(cookie: SessionCookie, consoleId: () => string): KeepConsoleSession {
  return ({ headers }, { token, expiresAt, applicationId }) => {
    if (applicationId === consoleId()) headers['Set-Cookie'] = cookie.write(token, Date.parse(expiresAt));
  };
}
