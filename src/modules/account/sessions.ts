/** A person's own sessions, as far as the asking one reaches: seen, and ended. */
import { and, desc, eq, gt, inArray, isNull, lt, ne } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { deviceNameOf } from '../../core/device-name.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { applications } from '../../db/schema/applications.ts';
import { sessions as sessionTable } from '../../db/schema/credentials.ts';
import { applicationUsers } from '../../db/schema/users.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Database, Orm, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import type { Sessions } from '../sessions/service.ts';
import type { OwnSession } from './model.ts';

export type OwnSessions = ReturnType<typeof ownSessionService>;

export function ownSessionService({ db, clock, sessions }: { db: Database; clock: Clock; sessions: Sessions }) {
  function end(unit: Unit, { userId, applicationId }: SessionPrincipal, ids: readonly string[]): number {
    const revoked = sessions.revokeAll(unit, inArray(sessionTable.id, [...ids]), 'revoked_by_user');
    if (revoked > 0)
      unit.audit({
        kind: 'session.revoked',
        applicationId,
        userId,
        targetId: ids.length === 1 ? ids[0]! : null,
        detail: { revoked },
      });
    return revoked;
  }

  return {
    /** What is open now, newest first. */
    list(principal: SessionPrincipal, { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery): Page<OwnSession> {
      const before = cursor === undefined ? undefined : lt(sessionTable.id, decodeCursor(cursor, ['string'])[0]);
      const rows = openSessions(db.orm, principal, clock.now(), before)
        .orderBy(desc(sessionTable.id))
        .limit(limit + 1)
        .all();
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
    revoke(actor: Actor, principal: SessionPrincipal, sessionId: string): { revoked: number } {
      return db.write(actor, (unit) => {
        const isOwn = openSessions(unit.tx, principal, unit.now, eq(sessionTable.id, sessionId)).get();
        if (!isOwn) throw new AppError('not_found');
        return { revoked: end(unit, principal, [sessionId]) };
      });
    },

    /** Ends all but the one that asks. Again changes nothing. */
    revokeOthers(actor: Actor, principal: SessionPrincipal): { revoked: number } {
      return db.write(actor, (unit) => {
        const others = openSessions(unit.tx, principal, unit.now, ne(sessionTable.id, principal.sessionId)).all();
        const ids = others.map(({ session }) => session.id);
        return { revoked: ids.length === 0 ? 0 : end(unit, principal, ids) };
      });
    },
  };
}

/** Only of the workspace that the session was handed to; the console's session sees all. */
function openSessions(
  orm: Orm,
  { userId, workspaceId }: SessionPrincipal,
  now: number,
  condition: ReturnType<typeof eq> | undefined,
) {
  return orm
    .select({ session: sessionTable, application: { id: applications.id, name: applications.name } })
    .from(sessionTable)
    .innerJoin(applicationUsers, eq(applicationUsers.id, sessionTable.applicationUserId))
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      and(
        eq(applicationUsers.userId, userId),
        workspaceId === null ? undefined : eq(applications.workspaceId, workspaceId),
        isNull(sessionTable.revokedAt),
        gt(sessionTable.expiresAt, now),
        condition,
      ),
    );
}
