/** Decides which applications a browser's session may be continued in: never more than its sign-in method opens. */
import { MINUTE, SECOND } from '../../core/clock.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Reader } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { findMember, KEPT_OUT, type Member } from '../../store/members.ts';
import { type ContinuedSession, findContinuedSession } from '../../store/page-sessions.ts';
import { findPasskeyOf } from '../../store/passkeys.ts';
import { findUser } from '../../store/people.ts';
import { findIdentityOf, isClaim } from '../../store/provider-identities.ts';
import type { UsableIdentities } from '../sign-in/last-method.ts';
import { isKnownOutside } from '../sign-in/step-up.ts';
import type { SessionSubject } from '../verification/subject.ts';

/** Least remaining lifetime of a session that is worth continuing. */
export const LEAST_MS = MINUTE;

export interface Continuable {
  readonly method: SignInMethod;
  readonly credentialId: string | null;
  /** When the person proved who they are. */
  readonly authenticatedAt: number;
}

export type MayContinue = ReturnType<typeof continuationRule>;

/** A press must not undo a revocation. The sign-in itself refuses those who are kept out, and says why. */
function isEndedSince({ status, sessionsEndedAt }: Member, authenticatedAt: number): boolean {
  return sessionsEndedAt !== null && sessionsEndedAt >= authenticatedAt && !KEPT_OUT.includes(status);
}

/** Gate, lifecycle and status are judged by the sign-in itself. */
export function continuationRule(usableIdentities: UsableIdentities) {
  /** A credential opens what it would open if it were used again now. */
  async function opens(
    reader: Reader,
    { userId }: SessionSubject,
    { method, credentialId }: ContinuedSession,
    application: Application,
  ): Promise<boolean> {
    if (method === 'otp') return true;
    if (credentialId === null) return false;
    if (method === 'passkey') {
      const passkey = await findPasskeyOf(reader, userId, credentialId);
      return passkey !== undefined && (passkey.workspaceId ?? application.workspaceId) === application.workspaceId;
    }
    if (method !== 'provider') return false;
    const identity = await findIdentityOf(reader, userId, credentialId);
    if (!identity || !(await usableIdentities(reader, [application.id]))(identity, application)) return false;
    // The provider's own sign-in refuses it as well: a workspace's claim ends where another one knows the person.
    return !isClaim(identity) || !(await isKnownOutside(reader, userId, identity.workspaceId ?? ''));
  }

  /** Returns how to continue; null where the person has to sign in. @param now epoch ms. */
  return async (
    reader: Reader,
    subject: SessionSubject,
    application: Application,
    now: number,
  ): Promise<Continuable | null> => {
    if (subject.workspaceId === null || application.workspaceId === null) return null;
    const session = await findContinuedSession(reader, subject.sessionId);
    if (!session) return null;
    const method = application.signinMethods.find((allowed) => allowed === session.method);
    if (!method) return null;
    const authenticatedAt = session.authenticatedAt ?? session.createdAt;
    if (authenticatedAt + application.sessionTtlSeconds * SECOND < now + LEAST_MS) return null;
    const member = await findMember(reader, application.id, subject.userId);
    if (member && isEndedSince(member, authenticatedAt)) return null;
    const user = await findUser(reader, subject.userId);
    // An address that only a workspace vouches for is nobody's in another one.
    if (!user || (user.emailVerifiedAt === null && subject.workspaceId !== application.workspaceId)) return null;
    if (!(await opens(reader, subject, session, application))) return null;
    return { method, credentialId: session.credentialId, authenticatedAt };
  };
}
