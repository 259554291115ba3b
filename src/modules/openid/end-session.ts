/** The end session endpoint (OpenID Connect RP-Initiated Logout 1.0): signs out here what a client signs out of. */
import { onBehalfOf } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Author, Database } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { findOAuthGrant } from '../../store/oauth-grants.ts';
import { findOpenSession } from '../../store/sessions.ts';
import type { BrowserSession, BrowserSessions } from '../page-sessions/browser-sessions.ts';
import type { Sessions } from '../sessions/service.ts';
import { localesIn, onlyValue, requestIn } from './authorization-request.ts';
import type { OpenIdClient } from './clients.ts';
import type { SigningKeys } from './keys.ts';
import { formTarget, withParameters } from './redirect-uris.ts';
import type { AuthorizationRequests } from './requests.ts';

/** Longest query: an ID token with many groups is long. */
const MAX_QUERY = 8_000;
const MAX_STATE = 1_024;

export interface EndSessionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly instanceKey: InstanceKey;
  readonly requests: Pick<AuthorizationRequests, 'clientNamed'>;
  readonly keys: Pick<SigningKeys, 'verifyOwn'>;
  readonly browser: Pick<BrowserSessions, 'live' | 'forget'>;
  readonly sessions: Pick<Sessions, 'signOut'>;
}

/** Content of the confirmation, and the values that its form sends. */
export interface SignOutAsked {
  readonly client: OpenIdClient | null;
  readonly emails: readonly string[];
  /** CSP source of the address to which the form leads; null for a page of ours. */
  readonly formTarget: string | null;
  readonly query: string;
  /** Proves that this server showed the page to this browser. */
  readonly confirmation: string;
  readonly locales: string | null;
}

export type SignOutOutcome =
  | { readonly at: 'redirect'; readonly location: string }
  | { readonly at: 'asked'; readonly asked: SignOutAsked }
  | { readonly at: 'done'; readonly client: OpenIdClient | null; readonly locales: string | null };

interface Hint {
  readonly clientId: string;
  readonly userId: string;
  readonly sessionId: string | null;
}

interface SignOutRequest {
  readonly query: URLSearchParams;
  readonly client: OpenIdClient | null;
  readonly hint: Hint | null;
  /** Where the person goes afterwards; null for the page that says so. */
  readonly target: string | null;
  readonly locales: string | null;
}

export type EndSession = ReturnType<typeof endSessionService>;

export function endSessionService(dependencies: EndSessionDependencies) {
  const { db, clock, instanceKey, requests, keys, browser, sessions } = dependencies;

  /** Returns what an ID token says; null for any other text, which then counts as no hint. */
  async function hintIn(text: string | null): Promise<Hint | null> {
    const claims = text === null ? null : await keys.verifyOwn(text, 'JWT');
    if (!claims || typeof claims.aud !== 'string' || claims.sub === undefined) return null;
    const { sid } = claims as { sid?: unknown };
    return { clientId: claims.aud, userId: claims.sub, sessionId: typeof sid === 'string' ? sid : null };
  }

  /** @throws {AppError} not_found, application_archived, invalid_request */
  async function read(query: URLSearchParams, context: RequestContext): Promise<SignOutRequest> {
    if (query.toString().length > MAX_QUERY) throw new AppError('invalid_request');
    const hint = await hintIn(onlyValue(query, 'id_token_hint'));
    const named = onlyValue(query, 'client_id');
    if (hint && named !== null && named !== hint.clientId) throw new AppError('invalid_request');
    const clientId = named ?? hint?.clientId ?? null;
    const client = clientId === null ? null : await requests.clientNamed(clientId, context);
    const uri = onlyValue(query, 'post_logout_redirect_uri');
    if (uri !== null && !client?.postLogoutRedirectUris.includes(uri))
      throw new AppError('invalid_request', { hint: 'return_url_unregistered' });
    const state = onlyValue(query, 'state');
    if (state !== null && state.length > MAX_STATE) throw new AppError('invalid_request');
    const target = uri === null || state === null ? uri : withParameters(uri, { state });
    return { query, client, hint, target, locales: localesIn(query) };
  }

  /**
   * Ends the client's session that the hint is from.
   *
   * @returns the id of the session of the hosted pages that let it in; null if it was another client's.
   */
  async function endClientSession({ clientId, userId, sessionId }: Hint, actor: Author): Promise<string | null> {
    const grant = sessionId === null ? undefined : await findOAuthGrant(db.reader, sessionId);
    if (grant?.clientId !== clientId) return null;
    const session = await findOpenSession(db.reader, { id: grant.sessionId, now: clock.now() });
    if (session?.userId === userId) await sessions.signOut(session, onBehalfOf(actor, userId));
    return grant.pageSessionId;
  }

  /** Signs a person out of all pages in this browser. */
  async function signOut(context: RequestContext, actor: Author, session: BrowserSession): Promise<void> {
    const { userId, sessionId, applicationId, clientId } = session.subject;
    const person = onBehalfOf(actor, userId);
    await sessions.signOut({ userId, sessionId, applicationId }, person);
    await browser.forget(context, person, { userId, sessionId, clientId });
  }

  const live = (context: RequestContext, client: OpenIdClient | null) =>
    browser.live(context.request, client?.application.clientId ?? '');

  /** Returns a session of each person to sign out: who is signed in to the client's pages, else everybody. */
  function leaving(held: readonly BrowserSession[], client: OpenIdClient | null): BrowserSession[] {
    const here = held.find(({ isCurrent, subject }) => isCurrent && subject.applicationId === client?.application.id);
    if (here) return [here];
    return [...new Map(held.map((session) => [session.subject.userId, session])).values()];
  }

  /** Binds a confirmation to the sessions that end and to the request that was shown. */
  const confirmationOf = (those: readonly BrowserSession[], query: URLSearchParams) =>
    instanceKey.derive('sign-out', `${those.map(({ value }) => value).join('~')}\0${query}`);

  const done = ({ target, client, locales }: SignOutRequest): SignOutOutcome =>
    target === null ? { at: 'done', client, locales } : { at: 'redirect', location: target };

  function ask({ query, client, target, locales }: SignOutRequest, those: readonly BrowserSession[]): SignOutOutcome {
    const confirmation = Buffer.from(confirmationOf(those, query)).toString('base64url');
    const emails = those.map(({ subject }) => subject.envelope.email);
    const asked = { client, emails, query: query.toString(), confirmation, locales };
    return { at: 'asked', asked: { ...asked, formTarget: target === null ? null : formTarget(target) } };
  }

  return {
    /**
     * Signs out without asking the person whose ID token was issued for a sign-in of this browser. Everybody else is asked:
     * any site can link here, and a client has ID tokens of other browsers.
     *
     * @throws {AppError} not_found, application_archived, invalid_request
     */
    async begin(context: RequestContext, actor: Author): Promise<SignOutOutcome> {
      const asked = await read(requestIn(queryOf(context.request)), context);
      const { hint, client } = asked;
      const pageSessionId = hint && (await endClientSession(hint, actor));
      const held = await live(context, client);
      const own = held.find(({ subject }) => subject.sessionId === pageSessionId);
      if (own) {
        await signOut(context, actor, own);
        return done(asked);
      }
      return held.length === 0 ? done(asked) : ask(asked, leaving(held, client));
    },

    /** Signs out after the confirmation; asks again if somebody else is signed in by now. */
    async confirm(
      context: RequestContext,
      actor: Author,
      { request, confirmation }: { readonly request: string; readonly confirmation: string },
    ): Promise<SignOutOutcome> {
      const asked = await read(requestIn(new URLSearchParams(request)), context);
      const those = leaving(await live(context, asked.client), asked.client);
      if (those.length === 0) return done(asked);
      if (!equalDigests(confirmationOf(those, asked.query), Buffer.from(confirmation, 'base64url')))
        return ask(asked, those);
      for (const session of those) await signOut(context, actor, session);
      return done(asked);
    },
  };
}
