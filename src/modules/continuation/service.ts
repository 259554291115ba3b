/** Continues a browser's session in another application, or switches accounts: by a press, never by itself. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { isClosed } from '../../core/application-state.ts';
import { AppError } from '../../core/error.ts';
import type { Database, Reader } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { MAX_ACCOUNTS } from '../../http/session-cookie.ts';
import { type Application, findApplicationByClientId, requireApplication } from '../../store/applications.ts';
import { findMember } from '../../store/members.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn } from '../sign-in/complete.ts';
import type { SignedIn } from '../sign-in/model.ts';
import { signInRefused } from '../sign-in/refused.ts';
import type { BrowserSession, BrowserSessions, PagePlace } from '../page-sessions/browser-sessions.ts';
import type { MayContinue } from './may-continue.ts';

export interface ContinuationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly browser: BrowserSessions;
  readonly mayContinue: MayContinue;
}

/** An account that is signed in in this browser. */
export interface OfferedAccount {
  readonly userId: string;
  readonly email: string;
  /** Signed in to the pages of this application. */
  readonly isCurrent: boolean;
  /** The application and its workspace see this person for the first time, by what this browser holds. */
  readonly isNewElsewhere: boolean;
}

export interface Wanted {
  readonly clientId: string;
  readonly userId: string;
  readonly place: PagePlace;
}

export type Continuation = ReturnType<typeof continuationService>;

export function continuationService(dependencies: ContinuationDependencies) {
  const { db, clock, sessions, browser, mayContinue } = dependencies;

  /** Orders the application's own sessions first, and of those the current one. */
  function ordered(held: readonly BrowserSession[], { id }: Application): BrowserSession[] {
    const rank = ({ subject, isCurrent }: BrowserSession) =>
      (subject.applicationId === id ? 0 : 2) + (isCurrent ? 0 : 1);
    return [...held].sort((one, other) => rank(one) - rank(other));
  }

  const canContinue = async (
    reader: Reader,
    { subject, isOfPage }: BrowserSession,
    application: Application,
    now: number,
  ) => (isOfPage ? mayContinue(reader, subject, application, now) : null);

  /** Returns whether continuing would pass a person's data on to a workspace that has none of their sessions here. */
  async function isNewElsewhere(
    userId: string,
    { id, workspaceId }: Application,
    held: readonly BrowserSession[],
  ): Promise<boolean> {
    const isKnown = held.some(({ subject }) => subject.userId === userId && subject.workspaceId === workspaceId);
    return !isKnown && (await findMember(db.reader, id, userId)) === undefined;
  }

  /** @throws {AppError} unauthenticated where none of the person's sessions may be continued. */
  async function sourceOf(held: readonly BrowserSession[], userId: string, application: Application) {
    for (const session of ordered(held, application)) {
      if (session.subject.userId !== userId) continue;
      if (await canContinue(db.reader, session, application, clock.now())) return session;
    }
    throw new AppError('unauthenticated');
  }

  return {
    /** Returns whom this browser may continue as in an application, who is signed in there first; at most five. */
    async accounts(request: Request, application: Application): Promise<OfferedAccount[]> {
      const accounts = new Map<string, OfferedAccount>();
      const held = await browser.live(request, application.clientId);
      for (const session of ordered(held, application)) {
        const { subject } = session;
        const { userId, applicationId } = subject;
        if (accounts.has(userId) || accounts.size === MAX_ACCOUNTS) continue;
        const isHere = session.isCurrent && applicationId === application.id;
        if (!isHere && !(await canContinue(db.reader, session, application, clock.now()))) continue;
        const isNew = await isNewElsewhere(userId, application, held);
        accounts.set(userId, { userId, email: subject.envelope.email, isCurrent: isHere, isNewElsewhere: isNew });
      }
      return [...accounts.values()];
    },

    /**
     * Signs a person of this browser in to an application; the account page only switches if they are there already.
     *
     * @returns the new session, null after a switch. @throws {AppError} not_found, application_archived,
     * unauthenticated, or a sign-in refusal.
     */
    async continueAs(
      context: RequestContext,
      actor: Actor,
      { clientId, userId, place }: Wanted,
    ): Promise<SignedIn | null> {
      const application = await findApplicationByClientId(db.reader, clientId);
      if (!application || application.workspaceId === null)
        throw new AppError('not_found', { hint: 'application_unknown' });
      if (isClosed(application)) throw new AppError('application_archived');
      const held = await browser.live(context.request, clientId);
      const here = held.find(({ subject }) => subject.applicationId === application.id && subject.userId === userId);
      if (here && place === 'account') {
        await browser.hold(context, actor, here.value, { clientId, isReplacing: false });
        return null;
      }
      const source = await sourceOf(held, userId, application);
      const { signIn, current } = await db.write(actor, async (unit) => {
        // Read again: a ban, a sign-out or a change of the application may have come in between.
        const current = await requireApplication(unit, application.id);
        const continued = (await browser.isLive(unit, source)) && (await canContinue(unit, source, current, unit.now));
        if (!continued) return { signIn: null, current };
        const { method, credentialId, authenticatedAt } = continued;
        const signIn = await completeSignIn(unit, sessions, current, {
          person: { userId },
          method,
          credentialId,
          userAgent: context.request.headers.get('user-agent'),
          continuedSince: authenticatedAt,
        });
        return {
          signIn: signIn.ok ? { ...signIn, value: await browser.secretFor(unit, signIn.sessionId, place) } : signIn,
          current,
        };
      });
      if (signIn === null) throw new AppError('unauthenticated');
      if (!signIn.ok) throw signInRefused(signIn.refusal, current);
      await browser.hold(context, actor, signIn.value, { clientId, isReplacing: true });
      const { token, expiresAt, applicationId } = signIn;
      return { token, expiresAt: isoTime(expiresAt), userId, applicationId };
    },
  };
}
