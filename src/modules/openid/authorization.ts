/**
 * The authorization endpoint: issues a code for who is signed in to the application's pages, or says which page comes
 * first. It signs nobody in itself: the hosted sign-in page does, and leads back here.
 */
import { type Actor, onBehalfOf } from '../../core/actor.ts';
import { type Clock, MINUTE, SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { expiringTickets } from '../../core/expiring-ticket.ts';
import { AUTHORIZATION_PATH } from '../../core/openid-paths.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import type { Author, Database } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { type Application } from '../../store/applications.ts';
import { findSessionProof } from '../../store/sessions.ts';
import { LEAST_MS } from '../continuation/may-continue.ts';
import type { Continuation, OfferedAccount } from '../continuation/service.ts';
import type { BrowserSession, BrowserSessions } from '../page-sessions/browser-sessions.ts';
import { memberRefusal } from '../sign-in/complete.ts';
import { FRESH_MS } from '../sign-in/step-up.ts';
import { type AuthorizationError, type AuthorizationRequest, onlyValue, requestIn } from './authorization-request.ts';
import type { OpenIdClient } from './clients.ts';
import { issueCode } from './codes.ts';
import type { Consents, ConsentAsked } from './consent.ts';
import type { ConsoleSession, ConsoleSessions } from '../page-sessions/console-sessions.ts';
import type { SigningKeys } from './keys.ts';
import type { AddressedRequest, AuthorizationRequests } from './requests.ts';
import type { CountSessionCall } from './session-limit.ts';

/** How long a sign-in that a request asks for may take. */
const RESUME_MS = 30 * MINUTE;

export interface AuthorizationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly requests: AuthorizationRequests;
  readonly consents: Consents;
  readonly keys: Pick<SigningKeys, 'verifyOwn'>;
  readonly browser: Pick<BrowserSessions, 'current' | 'isLive'>;
  readonly continuation: Pick<Continuation, 'accounts'>;
  readonly consoleSessions: ConsoleSessions;
  readonly countCall: CountSessionCall;
}

/** Props of the sign-in page that a request needs first. */
export interface SignInAsked {
  readonly client: OpenIdClient;
  /** Path and query of this request, to which the sign-in leads back. */
  readonly own: string;
  /** Address that takes a refused person back to the client. */
  readonly deniedAt: string;
  readonly accounts: readonly OfferedAccount[];
  readonly email: string | null;
  readonly isPasskeyFirst: boolean;
  /** Languages that the client asks for, separated by commas. */
  readonly locales: string | null;
}

export type AuthorizationOutcome =
  | { readonly at: 'redirect'; readonly location: string }
  | { readonly at: 'page'; readonly page: SignInAsked }
  | { readonly at: 'consent'; readonly consent: ConsentAsked };

/** The person who is signed in to the pages of the client's application. */
interface Current {
  readonly userId: string;
  readonly sessionId: string;
  readonly startedAt: number;
  /** When the person proved who they are. */
  readonly provedAt: number;
  /** When a session that continues this one would end. */
  readonly endsAt: number;
  /** Whether the application still offers the method of this sign-in. */
  readonly isMethodOffered: boolean;
  readonly held:
    | { readonly in: 'pages'; readonly session: BrowserSession }
    | { readonly in: 'console'; readonly session: ConsoleSession };
}

interface Visit extends AddressedRequest {
  readonly context: RequestContext;
  readonly actor: Author;
  readonly request: AuthorizationRequest;
  /** When the person first came with this request; null at their first visit. */
  readonly beganAt: number | null;
  /** Account that the person has chosen on the page. */
  readonly chosen: string | null;
  /** User of the ID token that the client sent as a hint. */
  readonly hinted: string | null;
}

/** A request, right or wrong, whose answer has an address. */
type Answerable = Pick<AddressedRequest, 'client' | 'redirectUri'> & {
  readonly request: Pick<AuthorizationRequest, 'state'>;
};

type Next =
  'code' | { readonly accounts: readonly OfferedAccount[]; readonly error: AuthorizationError } | 'login_required';

export type Authorization = ReturnType<typeof authorizationService>;

export function authorizationService(dependencies: AuthorizationDependencies) {
  const { db, clock, random, requests, consents, keys, browser, continuation, consoleSessions, countCall } =
    dependencies;
  const tickets = expiringTickets(dependencies.instanceKey, 'authorization request');

  /** Binds a ticket to the client's request as it is. */
  const subjectOf = (query: URLSearchParams) => query.toString();

  /**
   * Answers to the client. Anybody may register a client where that is switched on: nobody is sent to its address before
   * they have seen whose it is (RFC 9700 §4.11.2).
   *
   * @throws {AppError} invalid_request for a client that registered itself.
   */
  function back(asked: Answerable, answer: Readonly<Record<string, string>>): AuthorizationOutcome {
    if (asked.client.kind === 'registered') throw new AppError('invalid_request');
    return { at: 'redirect', location: requests.answerTo(asked, asked.request, answer) };
  }

  async function currentOf(session: { readonly sessionId: string; readonly userId: string }, application: Application) {
    const { sessionId, userId } = session;
    const proof = required(await findSessionProof(db.reader, sessionId), `session ${sessionId}`);
    const provedAt = proof.authenticatedAt ?? proof.createdAt;
    return {
      sessionId,
      userId,
      startedAt: proof.createdAt,
      provedAt,
      endsAt: Math.min(proof.expiresAt, provedAt + application.sessionTtlSeconds * SECOND),
      // A setup link is no method to choose: it recovers access.
      isMethodOffered: proof.method === 'setup' || application.signinMethods.some((method) => method === proof.method),
    };
  }

  /** Returns who is signed in; null for nobody. */
  async function signedIn(
    { request }: RequestContext,
    { application, isConsole }: OpenIdClient,
  ): Promise<Current | null> {
    if (isConsole) {
      const session = await consoleSessions.find(request, db.reader);
      return session && { ...(await currentOf(session.principal, application)), held: { in: 'console', session } };
    }
    const session = await browser.current(request, application.clientId);
    // A session that an application holds the token of is not this browser's alone, and gets no code.
    if (!session?.isOfPage) return null;
    return { ...(await currentOf(session.subject, application)), held: { in: 'pages', session } };
  }

  /** Returns whom the person may continue as, of those that the client asks for. */
  async function offered(
    { context, client, request: { loginHint }, hinted }: Visit,
    current: Current | null,
  ): Promise<OfferedAccount[]> {
    if (client.isConsole) return [];
    return (await continuation.accounts(context.request, client.application)).filter(
      ({ userId, email, isCurrent }) =>
        (current !== null || !isCurrent) &&
        (hinted === null || userId === hinted) &&
        (loginHint === null || email === loginHint.trim().toLowerCase()),
    );
  }

  /** Decides what a request needs: a code at once, or a page, or for `prompt=none` the error instead of the page. */
  async function nextStep(visit: Visit, current: Current | null): Promise<Next> {
    const {
      request: { prompts, maxAge },
      beganAt,
      chosen,
      hinted,
    } = visit;
    const signInAgain = { accounts: [], error: 'login_required' } as const;
    if (!current) {
      const accounts = await offered(visit, current);
      return { accounts, error: accounts.length > 0 ? 'interaction_required' : 'login_required' };
    }
    const isTooOld = maxAge !== null && current.provedAt + maxAge * SECOND < clock.now();
    const isProofWanted = prompts.has('login') || maxAge === 0 || isTooOld;
    if (isProofWanted && !(beganAt !== null && current.provedAt >= beganAt)) return signInAgain;
    const hasChosen = beganAt !== null && (chosen === current.userId || current.startedAt >= beganAt);
    const isChoiceWanted = prompts.has('select_account') || prompts.has('consent');
    if (isChoiceWanted && !hasChosen && current.held.in === 'pages')
      return { accounts: await offered(visit, current), error: 'interaction_required' };
    if (hinted !== null && hinted !== current.userId)
      // The person has signed in as somebody else than the client knows (OpenID Connect Core 1.0 §3.1.2.1).
      return hasChosen ? 'login_required' : { accounts: await offered(visit, current), error: 'login_required' };
    if (current.held.in === 'console') {
      const isAnotherWanted = chosen !== null && chosen !== current.userId;
      return isAnotherWanted || current.provedAt + FRESH_MS <= clock.now() ? signInAgain : 'code';
    }
    return current.isMethodOffered && current.endsAt >= clock.now() + LEAST_MS ? 'code' : signInAgain;
  }

  function page(visit: Visit, accounts: readonly OfferedAccount[]): AuthorizationOutcome {
    const { client, context, query, request, beganAt } = visit;
    const now = clock.now();
    const ticket = tickets.issue(subjectOf(query), (beganAt ?? now) + RESUME_MS);
    const locale = onlyValue(queryOf(context.request), 'locale');
    const own = new URLSearchParams([...query, ['resume', ticket], ...(locale === null ? [] : [['locale', locale]])]);
    return {
      at: 'page',
      page: {
        client,
        own: `${AUTHORIZATION_PATH}?${own}`,
        deniedAt: requests.answerTo(visit, request, { error: 'access_denied' }),
        accounts,
        email: request.loginHint,
        isPasskeyFirst: request.isPasskeyWanted,
        locales: request.locales,
      },
    };
  }

  /** Issues a code unless the session has ended in between. @throws {AppError} rate_limited */
  async function code(visit: Visit, current: Current, session: BrowserSession): Promise<AuthorizationOutcome> {
    const { client, redirectUri, request, context, actor } = visit;
    // Each code leads to a session, with its events and their deliveries.
    await countCall(context.headers, session.subject);
    const issued = await db.write(onBehalfOf(actor, current.userId), async (unit) => {
      if (!(await browser.isLive(unit, session))) return null;
      return issueCode(unit, random, {
        clientId: client.clientId,
        applicationId: client.application.id,
        applicationUserId: session.subject.applicationUserId,
        pageSessionId: current.sessionId,
        redirectUri,
        codeChallenge: request.codeChallenge,
        scope: request.scope,
        nonce: request.nonce,
        keyDays: null,
        userAgent: context.request.headers.get('user-agent'),
      });
    });
    return back(visit, issued === null ? { error: 'login_required' } : { code: issued });
  }

  /** Returns the user of a hint: one that we issued to this client, however old; undefined for any other text. */
  async function userOf(hint: string, { clientId }: OpenIdClient): Promise<string | undefined> {
    const claims = await keys.verifyOwn(hint, 'JWT');
    return claims?.aud === clientId ? claims.sub : undefined;
  }

  return {
    /**
     * Answers an authorization request.
     *
     * @throws {AppError} not_found, application_archived, invalid_request: client or redirect URI are not to be trusted;
     * rate_limited
     */
    async begin(context: RequestContext, actor: Author & Actor): Promise<AuthorizationOutcome> {
      const address = queryOf(context.request);
      const addressed = await requests.addressed(requestIn(address), context);
      const { parsed, client, query } = addressed;
      if (!parsed.isOk) {
        const { error, description, state } = parsed;
        return back({ ...addressed, request: { state } }, { error, error_description: description });
      }
      const { request } = parsed;
      const hinted = request.idTokenHint === null ? null : await userOf(request.idTokenHint, client);
      if (hinted === undefined)
        return back(
          { ...addressed, request },
          { error: 'invalid_request', error_description: 'The id_token_hint is not an ID token of this client.' },
        );
      const expiresAt = tickets.expiryOf(subjectOf(query), onlyValue(address, 'resume'), clock.now());
      const beganAt = expiresAt === null ? null : expiresAt - RESUME_MS;
      const chosen = onlyValue(address, 'account');
      const visit: Visit = { ...addressed, context, actor, request, beganAt, chosen, hinted };

      const current = await signedIn(context, client);
      const next = await nextStep(visit, current);
      if (next === 'login_required') return back(visit, { error: next });
      const isSilent = request.prompts.has('none');
      if (next !== 'code' || !current) {
        const { accounts: offered, error } = next === 'code' ? { accounts: [], error: 'login_required' } : next;
        return isSilent ? back(visit, { error }) : page(visit, offered);
      }
      if ((await memberRefusal(db.reader, client.application, current.userId)) !== null)
        return back(visit, { error: 'access_denied' });
      if (current.held.in === 'pages') return code(visit, current, current.held.session);
      if (isSilent) return back(visit, { error: 'interaction_required' });
      return { at: 'consent', consent: await consents.ask(visit, current.held.session) };
    },
  };
}
