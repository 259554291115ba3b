/**
 * Sessions that a browser holds for the hosted pages: an HttpOnly cookie per application, with one session per account.
 * A cookie holds a secret of its own, never the application's token: whoever has the token cannot continue elsewhere.
 */
import type { Actor } from '../../core/actor.ts';
import { pageSecretOf, pageSecretText } from '../../core/page-secret.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { type BrowserCookie, MAX_ACCOUNTS, type SessionCookie } from '../../http/session-cookie.ts';
import { requireApplication } from '../../store/applications.ts';
import { listClientSessionsOf, moveClientSessions } from '../../store/oauth-grants.ts';
import {
  deletePageSecret,
  findContinuedSession,
  findSessionIdByToken,
  insertPageSecret,
} from '../../store/page-sessions.ts';
import { isPageSessionLive } from '../../store/sessions.ts';
import { endSessions } from '../sessions/end.ts';
import type { SessionSubject } from '../verification/subject.ts';
import type { Verification } from '../verification/service.ts';
import { isWellFormed, knownValues, MAX_VALUES } from './known-values.ts';

/** The hosted page of a sign-in. The account page needs no token, so its session has none. */
export type PagePlace = 'sign-in' | 'account';

/** A live session of a cookie. */
export interface BrowserSession {
  readonly value: string;
  readonly subject: SessionSubject;
  /** Whether it is the one signed in to its application's pages. */
  readonly isCurrent: boolean;
  /** Held by a page secret, and thus by this browser alone; only such a session is continued. */
  readonly isOfPage: boolean;
}

/** A session just made, with its token. */
export interface NewBrowserSession {
  readonly token: string;
  readonly applicationId: string;
  readonly userId: string;
}

/** The session that a person signs out of, and the application of its page. */
export interface SignOutOfPage {
  readonly userId: string;
  readonly sessionId: string;
  readonly clientId: string;
}

export interface BrowserSessionDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly cookie: SessionCookie;
  readonly lookAtPage: Verification['lookAtPage'];
}

type Looked = Awaited<ReturnType<Verification['lookAtPage']>>;

interface HeldValue {
  readonly clientId: string;
  readonly value: string;
  readonly isCurrent: boolean;
}

export type BrowserSessions = ReturnType<typeof browserSessions>;

export function browserSessions({ db, random, cookie, lookAtPage }: BrowserSessionDependencies) {
  /** A value counts only in the cookie of its own application; the console has none here. */
  function judged({ clientId, value, isCurrent }: HeldValue, looked: Looked): BrowserSession | null {
    const isLive = looked !== null && looked.refusal === null && looked.row.clientId === clientId;
    const isOfPage = pageSecretOf(value) !== null;
    return isLive && looked.row.workspaceId !== null ? { value, subject: looked.row, isCurrent, isOfPage } : null;
  }

  async function liveOne(clientId: string, value: string) {
    return judged({ clientId, value, isCurrent: true }, await lookAtPage(value));
  }

  /** Looks each different value up once. @param cookies in the order in which their values count. */
  async function liveOf(cookies: readonly BrowserCookie[], maxValues = Infinity): Promise<BrowserSession[]> {
    const held = cookies.flatMap(({ clientId, values }) =>
      values.map((value, index) => ({ clientId, value, isCurrent: index === 0 })),
    );
    const values = [...new Set(held.map(({ value }) => value))].filter(isWellFormed).slice(0, maxValues);
    const known = [...(await knownValues(db.reader, values))];
    const looked = new Map(await Promise.all(known.map(async (value) => [value, await lookAtPage(value)] as const)));
    return held.map((one) => judged(one, looked.get(one.value) ?? null)).filter((session) => session !== null);
  }

  /** Puts an application's own cookie first. */
  function cookiesOf(request: Request, clientId: string): BrowserCookie[] {
    const all = cookie.readAll(request);
    const isOwn = (one: BrowserCookie) => one.clientId === clientId;
    return [...all.filter(isOwn), ...all.filter((one) => !isOwn(one))];
  }

  /** Ends a session that nobody can use any more; an application's token stays valid. */
  async function release(unit: Unit, { subject: { sessionId } }: BrowserSession, reason: string): Promise<void> {
    const session = await findContinuedSession(unit, sessionId);
    if (session?.isOfPageOnly) await endSessions(unit, { sessionId }, reason);
    else await deletePageSecret(unit, sessionId);
  }

  /** Ends the sessions of OpenID clients that the pages' sessions let in, which their clients are told of. */
  async function endClientSessions(unit: Unit, sessionIds: readonly string[]): Promise<void> {
    for (const sessionId of await listClientSessionsOf(unit, sessionIds, unit.now))
      await endSessions(unit, { sessionId }, 'signed_out');
  }

  /** @param sessions with the current one first; `isOut` if nobody is signed in. */
  function write(context: RequestContext, clientId: string, sessions: readonly BrowserSession[], isOut = false): void {
    const expiresAt = Math.max(...sessions.map(({ subject }) => subject.endsAt));
    const values = sessions.map(({ value }) => value);
    context.cookies.push(
      values.length === 0
        ? cookie.clear(clientId)
        : cookie.writeAll(isOut ? ['', ...values] : values, expiresAt, clientId),
    );
  }

  return {
    /** Returns the browser's live sessions, without counting as use; bounded, those of the application's cookie first. */
    live: (request: Request, clientId: string) => liveOf(cookiesOf(request, clientId), MAX_VALUES),

    /** Returns who is signed in to an application's pages, without counting as use. */
    async current(request: Request, clientId: string): Promise<BrowserSession | null> {
      const value = cookie.read(request, clientId);
      return value === null ? null : liveOne(clientId, value);
    },

    /** Judges a session again inside a change; false for one that no page secret holds. */
    async isLive(unit: Unit, { value }: BrowserSession): Promise<boolean> {
      const secret = pageSecretOf(value);
      if (secret === null) return false;
      return isPageSessionLive(unit, { id: secret.sessionId, hash: hashSecret(secret.token), now: unit.now });
    },

    /** Gives a new session a page secret, in the change that made it. @returns the cookie's value for it. */
    async secretFor(unit: Unit, sessionId: string, place: PagePlace): Promise<string> {
      const token = mintSecret('page', random);
      await insertPageSecret(unit, { sessionId, hash: hashSecret(token), isOfPageOnly: place === 'account' });
      return pageSecretText({ sessionId, token });
    },

    /** Makes a session the current one of its cookie. Releases the person's earlier one, and an account too many. */
    async hold(
      context: RequestContext,
      actor: Actor,
      value: string,
      { clientId, isReplacing }: { readonly clientId: string; readonly isReplacing: boolean },
    ): Promise<void> {
      const own = cookie.readAll(context.request).filter((one) => one.clientId === clientId);
      const here = await liveOf(own);
      const current = required(await liveOne(clientId, value), 'session of a page');
      const isSame = ({ subject }: BrowserSession) => subject.userId === current.subject.userId;
      const former = isReplacing ? here.filter((one) => isSame(one) && one.value !== value) : [];
      const sessions = [current, ...here.filter((one) => !isSame(one))];
      const released = [...former, ...sessions.slice(MAX_ACCOUNTS)];
      if (released.length > 0)
        await db.write(actor, async (unit) => {
          for (const session of released) await release(unit, session, 'replaced');
          for (const { subject } of former)
            await moveClientSessions(unit, { from: subject.sessionId, to: current.subject.sessionId });
        });
      write(context, clientId, sessions.slice(0, MAX_ACCOUNTS));
    },

    /** Stores a sign-in of a hosted page in this browser; by its token, as PUT does, if it must not be continued. */
    async keep(
      context: RequestContext,
      actor: Actor,
      session: NewBrowserSession,
      { place, isContinuable }: { readonly place: PagePlace; readonly isContinuable: boolean },
    ): Promise<void> {
      const { clientId } = await requireApplication(db.reader, session.applicationId);
      if (clientId === CONSOLE_CLIENT_ID) return;
      if (!isContinuable) return this.hold(context, actor, session.token, { clientId, isReplacing: true });
      const value = await db.write(actor, async (unit) => {
        const sessionId = required(await findSessionIdByToken(unit, hashSecret(session.token)), 'new session');
        return this.secretFor(unit, sessionId, place);
      });
      await this.hold(context, actor, value, { clientId, isReplacing: true });
    },

    /**
     * Takes a person's sessions out of this browser, so that nobody continues as them, and ends those of OpenID clients
     * that came from them. Other tokens of applications stay valid. The caller ends the session that is signed out of
     * before: a code that is exchanged in between would let a client in again.
     */
    async forget(
      context: RequestContext,
      actor: Actor,
      { userId, sessionId, clientId: here }: SignOutOfPage,
    ): Promise<void> {
      const held = await liveOf(cookie.readAll(context.request));
      const own = held.filter(({ subject }) => subject.userId === userId);
      const others = own.filter(({ subject }) => subject.sessionId !== sessionId);
      await db.write(actor, async (unit) => {
        for (const session of others) await release(unit, session, 'signed_out');
        await endClientSessions(unit, [sessionId, ...others.map(({ subject }) => subject.sessionId)]);
      });
      for (const clientId of new Set([here, ...own.map(({ subject }) => subject.clientId)])) {
        const rest = held.filter(({ subject }) => subject.clientId === clientId && subject.userId !== userId);
        write(context, clientId, rest, !rest.some(({ isCurrent }) => isCurrent));
      }
    },
  };
}
