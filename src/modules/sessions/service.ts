/** Mints sessions at the end of a sign-in, and ends them by sign-out. */
import type { Actor } from '../../core/actor.ts';
import { SECOND } from '../../core/clock.ts';
import { newId } from '../../core/id.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, mintSecret } from '../../core/secret.ts';
import type { SignInMethod } from '../../core/sign-in-methods.ts';
import type { Database, Unit } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { AccountNotices } from '../../mail/account-notices.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findOpenSession, insertSession, revokeSessionRow } from '../../store/sessions.ts';

/** The result of a sign-in; nothing else contains the token in plain text. */
export interface MintedSession {
  readonly token: string;
  readonly sessionId: string;
  readonly expiresAt: number;
}

export interface SessionToMint {
  readonly application: Pick<Application, 'id' | 'sessionTtlSeconds' | 'sessionEpoch'>;
  readonly applicationUserId: string;
  readonly userId: string;
  readonly email: string;
  readonly isNewUser: boolean;
  /** The user's id in the application's own systems. */
  readonly externalId: string | null;
  readonly method: SignInMethod;
  readonly credentialId?: string | null;
  readonly userAgent: string | null;
  /** When the person proved who they are, if the session continues another: its lifetime counts from then. */
  readonly authenticatedAt?: number | undefined;
}

type SignedInAs = Pick<SessionPrincipal, 'userId' | 'applicationId' | 'sessionId'>;

const MAX_USER_AGENT = 300;

export type Sessions = ReturnType<typeof sessionService>;

export interface SessionDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly notices: AccountNotices;
}

/** Checks no permission to sign in: sign-in/complete.ts has decided that. */
export function sessionService({ db, random, notices }: SessionDependencies) {
  return {
    /** For what else a sign-in changes. */
    notices,

    async mint(unit: Unit, session: SessionToMint): Promise<MintedSession> {
      const {
        application,
        applicationUserId,
        userId,
        email,
        isNewUser,
        externalId,
        method,
        credentialId = null,
        userAgent,
        authenticatedAt,
      } = session;
      const token = mintSecret('session', random);
      const sessionId = newId('session', unit.now);
      const expiresAt = (authenticatedAt ?? unit.now) + application.sessionTtlSeconds * SECOND;
      await insertSession(unit, {
        id: sessionId,
        tokenHash: hashSecret(token),
        memberId: applicationUserId,
        applicationId: application.id,
        applicationEpoch: application.sessionEpoch,
        method,
        credentialId,
        userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
        expiresAt,
        authenticatedAt: authenticatedAt ?? null,
      });
      await emit(unit, {
        type: 'user.signed_in',
        applicationId: application.id,
        data: { userId, sessionId, method, email, isNewUser, ...(externalId !== null && { externalId }) },
      });
      return { token, sessionId, expiresAt };
    },

    /** Ends a session on request of its holder. Idempotent. */
    signOut({ userId, applicationId, sessionId }: SignedInAs, actor: Actor): Promise<void> {
      return db.write(actor, async (unit) => {
        if (!(await findOpenSession(unit, { id: sessionId, now: unit.now }))) return;
        await revokeSessionRow(unit, { sessionId, at: unit.now, reason: 'signed_out' });
        await recordAudit(unit, { kind: 'session.signed_out', applicationId, userId, targetId: sessionId });
        await emit(unit, { type: 'user.signed_out', applicationId, data: { userId, sessionId } });
      });
    },
  };
}
