/** Stores a session for the account pages in a cookie per application, which only this server's pages may use. */
import { Type } from '@sinclair/typebox';
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { required } from '../../core/required.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { type SessionCookie } from '../../http/session-cookie.ts';
import { isFromOwnPage } from '../../http/csrf.ts';
import { requireApplication } from '../../store/applications.ts';
import { findSession } from '../../store/sessions.ts';

export interface AccountSessionDependencies {
  readonly db: Database;
  readonly cookie: SessionCookie;
  readonly baseUrl: () => string;
  readonly signOut: (principal: SessionPrincipal, actor: Actor) => Promise<void>;
}

const common = {
  tag: 'Pages',
  path: '/account/session',
  scope: 'instance',
  isUndocumented: true,
  data: Type.Object({ clientId: Type.String() }),
} as const;

export function accountSessionRoutes({ db, cookie, baseUrl, signOut }: AccountSessionDependencies): Operation[] {
  return [
    operation({
      ...common,
      id: 'keepAccountSession',
      method: 'PUT',
      summary: 'Keep the session in this browser, for the account pages',
      access: 'session',
      limit: 'session',
      async handle({ principal, context }) {
        const { request, cookies } = context;
        // CSRF protection: browsers may call this only from our own pages, so no site can choose the signed-in account.
        const isOfBrowser = request.headers.has('origin') || request.headers.has('sec-fetch-site');
        if (isOfBrowser && !isFromOwnPage(request, baseUrl()))
          throw new AppError('forbidden', { hint: 'cookie_change_from_elsewhere' });
        const token = request.headers.get('authorization')?.slice('Bearer '.length).trim();
        const { clientId } = await requireApplication(db.reader, principal.applicationId);
        // A call authenticated by the cookie itself has nothing to store.
        if (token) {
          const { expiresAt } = required(await findSession(db.reader, principal.sessionId), 'the session that calls');
          cookies.push(cookie.write(token, expiresAt, clientId));
        }
        return { clientId };
      },
    }),
    operation({
      ...common,
      id: 'forgetAccountSession',
      method: 'DELETE',
      summary: 'Sign out of the account pages: end the session, and forget it in this browser',
      access: 'session',
      limit: 'session',
      async handle({ principal, actor, context }) {
        const { clientId } = await requireApplication(db.reader, principal.applicationId);
        await signOut(principal, actor);
        context.cookies.push(cookie.clear(clientId));
        return { clientId };
      },
    }),
  ];
}
