/** A person's own sessions, as far as the asking one reaches: seen, and ended. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import { AppError } from '../../core/error.ts';
import { type SessionPrincipal, speaksFor } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { findApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { findOpenSession, listOpenSessions } from '../../store/sessions.ts';
import { endSessions } from '../sessions/end.ts';
import type { OwnSession } from './model.ts';

export type OwnSessions = ReturnType<typeof ownSessionService>;

/** A session reaches those of its workspace's applications; the console's reaches all of the person's. */
export function ownSessionService({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** What is open now, newest first. */
    async list(
      principal: SessionPrincipal,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Promise<Page<OwnSession>> {
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const rows = await listOpenSessions(db.reader, principal, { now: clock.now(), before, limit: limit + 1 });
      return pageOf(
        rows,
        limit,
        ({ session }) => [session.id],
        ({ session, application }) => ({
          id: session.id,
          isCurrent: session.id === principal.sessionId,
          application,
          method: session.method,
          device: deviceNameOf(session.userAgent),
          ip: session.ip,
          ipCountry: session.ipCountry,
          createdAt: isoTime(session.createdAt),
          lastSeenAt: isoTime(session.lastSeenAt),
          expiresAt: isoTime(session.expiresAt),
        }),
      );
    },

    /** Ends one. @throws {AppError} not_found for one that is not open, or another person's. */
    revoke(actor: Actor, principal: SessionPrincipal, sessionId: string): Promise<{ revoked: number }> {
      return db.write(actor, async (unit) => {
        await requireOwn(unit, principal, sessionId);
        const revoked = await endSessions(unit, { sessionId }, 'revoked_by_user');
        await record(unit, principal, { revoked, targetId: sessionId });
        return { revoked };
      });
    },

    /** Ends all but the one that asks. Again changes nothing. */
    revokeOthers(actor: Actor, principal: SessionPrincipal): Promise<{ revoked: number }> {
      const { userId, workspaceId, sessionId: exceptSessionId } = principal;
      return db.write(actor, async (unit) => {
        const some = await listOpenSessions(unit, principal, { now: unit.now, before: undefined, limit: 3 });
        const [other, another] = some.filter(({ session }) => session.id !== exceptSessionId);
        if (!other) return { revoked: 0 };
        const revoked = await endSessions(unit, { userId, workspaceId, exceptSessionId }, 'revoked_by_user');
        await record(unit, principal, { revoked, targetId: another ? null : other.session.id });
        return { revoked };
      });
    },
  };
}

/** Only of the workspace that the session was handed to; the console's session ends all. @throws {AppError} not_found */
async function requireOwn(unit: Unit, principal: SessionPrincipal, sessionId: string): Promise<void> {
  const owner = await findOpenSession(unit, sessionId, unit.now);
  const application = owner?.userId === principal.userId ? await findApplication(unit, owner.applicationId) : undefined;
  if (!application || !speaksFor(principal, application.workspaceId)) throw new AppError('not_found');
}

async function record(
  unit: Unit,
  { userId, applicationId }: SessionPrincipal,
  { revoked, targetId }: { readonly revoked: number; readonly targetId: string | null },
): Promise<void> {
  await recordAudit(unit, { kind: 'session.revoked', applicationId, userId, targetId, detail: { revoked } });
}
