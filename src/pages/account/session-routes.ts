/** Sessions of the hosted pages, in a cookie per application that only this server's pages may use. */
import { Type } from '@sinclair/typebox';
import { type Actor, onBehalfOf } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
import type { Database } from '../../db/database.ts';
import { isFromOwnPage, requireSameOrigin } from '../../http/csrf.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { Choice, Id, Input, Nullable } from '../../http/schemas.ts';
import type { BrowserAccounts } from '../browser-accounts.ts';
import type { SessionCookie } from '../../http/session-cookie.ts';
import { findApplicationByClientId, requireApplication } from '../../store/applications.ts';
import { findSession } from '../../store/sessions.ts';

/** An account that is signed in in this browser, as far as the application's page may show it. */
const ShownAccount = Type.Object({
  userId: Id('usr'),
  email: Type.String(),
  isCurrent: Type.Boolean(),
  isNewElsewhere: Type.Boolean(),
});

interface SessionOfPage {
  readonly userId: string;
  readonly applicationId: string;
  readonly sessionId: string;
}

export interface AccountSessionDependencies {
  readonly db: Database;
  readonly cookie: SessionCookie;
  readonly baseUrl: () => string;
  /** Idempotent. */
  readonly signOut: (session: SessionOfPage, actor: Actor) => Promise<void>;
  /** Returns the session of a page cookie's value, ended or not. */
  readonly lookAtPage: (
    value: string,
  ) => Promise<{ readonly row: SessionOfPage & { readonly clientId: string } } | null>;
  readonly browser: {
    forget(
      context: RequestContext,
      actor: Actor,
      whose: { readonly userId: string; readonly sessionId: string; readonly clientId: string },
    ): Promise<void>;
  };
  readonly continuation: BrowserAccounts;
}

const ClientIdField = () =>
  Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the clientId of an application.' });

const shared = { tag: 'Pages', path: '/account/session', scope: 'instance', isUndocumented: true } as const;
const common = { ...shared, data: Type.Object({ clientId: Type.String() }) } as const;

export function accountSessionRoutes(dependencies: AccountSessionDependencies): Operation[] {
  const { db, cookie, baseUrl, signOut, lookAtPage, browser, continuation } = dependencies;
  return [
    operation({
      ...shared,
      id: 'whoIsSignedIn',
      method: 'GET',
      summary: 'Tell a hosted page who is signed in in this browser; nobody is no error',
      access: 'none',
      limit: 'none',
      query: Type.Object({ clientId: ClientIdField() }),
      data: Type.Object({ signedIn: Type.Boolean(), accounts: Type.Array(ShownAccount) }),
      async handle({ query, context }) {
        requireSameOrigin(context.request, baseUrl());
        const application = await findApplicationByClientId(db.reader, query.clientId);
        const accounts = application ? await continuation.accounts(context.request, application) : [];
        return { signedIn: accounts.some(({ isCurrent }) => isCurrent), accounts };
      },
    }),
    operation({
      ...shared,
      id: 'continueSession',
      method: 'POST',
      summary: 'Continue as an account of this browser, at a press: a sign-in to the application, or a switch',
      access: 'none',
      limit: 'passkey',
      body: Input({
        clientId: ClientIdField(),
        userId: Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the userId of an account.' }),
        page: Choice(['sign-in', 'account'] as const),
      }),
      data: Type.Object({ session: Nullable(Type.Object({ token: Type.String(), expiresAt: Type.String() })) }),
      async handle({ actor, body, context }) {
        requireSameOrigin(context.request, baseUrl());
        const { clientId, userId, page } = body;
        const continued = await continuation.continueAs(context, actor, { clientId, userId, place: page });
        // The account page needs no token: its session has none.
        const session = page === 'sign-in' && continued;
        return { session: session ? { token: session.token, expiresAt: session.expiresAt } : null };
      },
    }),
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
      summary: 'Sign out of the account pages: end the session, and forget the person in this browser',
      // An ended session signs out as well: the person's sessions of other applications are still in this browser.
      access: 'none',
      limit: 'passkey',
      body: Input({}),
      isBodyOptional: true,
      async handle({ actor, context }) {
        requireSameOrigin(context.request, baseUrl());
        const value = cookie.read(context.request);
        const looked = value === null ? null : await lookAtPage(value);
        if (looked === null) throw new AppError('unauthenticated');
        const { userId, applicationId, sessionId, clientId } = looked.row;
        const person = onBehalfOf(actor, userId);
        await browser.forget(context, person, { userId, sessionId, clientId });
        await signOut({ userId, applicationId, sessionId }, person);
        return { clientId };
      },
    }),
  ];
}
