/** The users of an application: listed, looked at, banned and let back, given grants, signed out. */
import { and, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { displayName } from '../../core/display-name.ts';
import { AppError } from '../../core/error.ts';
import type { Application } from '../../db/schema/applications.ts';
import { apiKeys, sessions as sessionTable } from '../../db/schema/credentials.ts';
import { applicationUsers, type MembershipStatus, userLanguages, users } from '../../db/schema/users.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE, type PageQuery } from '../../http/schemas.ts';
import { revokePersonalKeys } from '../api-keys/personal.ts';
import { heldGrants, replaceGrants } from '../grants/holders.ts';
import type { GrantKind } from '../grants/kinds.ts';
import type { Sessions } from '../sessions/service.ts';
import { avatarUrl } from '../sessions/subject.ts';
import { type ApplicationUser, setStatus, type User } from './members.ts';
import type { UserDetail, UserEntry, UserSession, UsersQuery } from './model.ts';

export type StatusAction = 'ban' | 'unban' | 'pause' | 'resume' | 'delete' | 'restore';

/** From which states an action leads where; in its target state it is repeated without effect. */
const ACTIONS = {
  ban: { from: ['active', 'paused', 'inactivated', 'left'], to: 'banned', event: 'user.banned' },
  unban: { from: ['banned'], to: 'active', event: 'user.unbanned' },
  pause: { from: ['active'], to: 'paused', event: 'user.paused' },
  resume: { from: ['paused'], to: 'active', event: 'user.resumed' },
  delete: { from: ['active', 'banned', 'paused', 'inactivated', 'left'], to: 'deleted', event: 'user.deleted' },
  restore: { from: ['deleted'], to: 'active', event: 'user.restored' },
} as const satisfies Record<StatusAction, { from: MembershipStatus[]; to: MembershipStatus; event: string }>;

export interface UserDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly cdnUrl: () => string;
}

interface MemberRow {
  member: ApplicationUser;
  user: User;
}

export type Users = ReturnType<typeof userService>;

export function userService({ db, clock, sessions, cdnUrl }: UserDependencies) {
  /** @throws {AppError} not_found for a stranger to the application, as for nobody at all. */
  function find({ id: applicationId }: Application, userId: string): MemberRow {
    const row = db.orm
      .select({ member: applicationUsers, user: users })
      .from(applicationUsers)
      .innerJoin(users, eq(users.id, applicationUsers.userId))
      .where(and(eq(applicationUsers.applicationId, applicationId), eq(applicationUsers.userId, userId)))
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function entry({ member, user }: MemberRow): Omit<UserEntry, 'profile'> {
    return {
      userId: user.id,
      username: member.username,
      email: user.email,
      status: member.status,
      ...heldGrants(db.orm, member.id),
      lastSeenAt: isoTime(member.lastSeenAt),
      joinedAt: isoTime(member.createdAt),
    };
  }

  function profile(user: User, application: Application): NonNullable<UserEntry['profile']> {
    const { givenName, familyName, locale, timezone } = user;
    const fullName = displayName(user);
    const languages = db.orm.select().from(userLanguages).where(eq(userLanguages.userId, user.id)).all();
    return {
      fullName,
      givenName,
      familyName,
      avatarUrl: avatarUrl(user, application.slug, cdnUrl()),
      locale,
      timezone,
      languages: languages.map(({ code, level }) => ({ code, level })),
    };
  }

  function openSession(applicationUserId: string) {
    return and(
      eq(sessionTable.applicationUserId, applicationUserId),
      isNull(sessionTable.revokedAt),
      gt(sessionTable.expiresAt, clock.now()),
    );
  }

  function detail(application: Application, row: MemberRow, isWithProfile: boolean): UserDetail {
    return {
      ...entry(row),
      kind: row.user.kind,
      statusReason: row.member.statusReason,
      emailVerifiedAt: isoTime(row.user.emailVerifiedAt),
      ...(isWithProfile && { profile: profile(row.user, application) }),
    };
  }

  return {
    /** People, last seen first. Keys' synthetic principals are no people. */
    list(application: Application, { limit = DEFAULT_PAGE_SIZE, cursor, include }: UsersQuery): Page<UserEntry> {
      const rows = db.orm
        .select({ member: applicationUsers, user: users })
        .from(applicationUsers)
        .innerJoin(users, eq(users.id, applicationUsers.userId))
        .where(
          and(
            eq(applicationUsers.applicationId, application.id),
            eq(users.kind, 'person'),
            cursor === undefined ? undefined : afterCursor(cursor),
          ),
        )
        .orderBy(desc(applicationUsers.lastSeenAt), desc(applicationUsers.id))
        .limit(limit + 1)
        .all();
      const present = (row: MemberRow) => ({
        ...entry(row),
        ...(include === 'profile' && { profile: profile(row.user, application) }),
      });
      return pageOf(rows, limit, ({ member }) => [member.lastSeenAt, member.id], present);
    },

    get: (application: Application, userId: string, isWithProfile: boolean): UserDetail =>
      detail(application, find(application, userId), isWithProfile),

    /**
     * Bans, pauses, deletes or lets back. Leaving `active` ends every session; doing it again changes nothing.
     *
     * @throws {AppError} not_found, invalid_state
     */
    act(actor: Actor, application: Application, userId: string, action: StatusAction, reason?: string): UserDetail {
      const { from, to, event } = ACTIONS[action];
      return db.write(actor, (unit) => {
        const row = find(application, userId);
        const { member, user } = row;
        if (member.status === to) return detail(application, row, true);
        if (!(from as readonly string[]).includes(member.status))
          throw new AppError('invalid_state', { message: `A user who is ${member.status} cannot do that: ${action}.` });
        // Restoring is undoing what an admin did; nobody undoes what the person asked for.
        if (action === 'restore' && user.deletedAt !== null)
          throw new AppError('invalid_state', {
            message: 'The person has deleted their account; it cannot be restored.',
          });
        setStatus(unit, member.id, to, reason);
        if (to !== 'active') sessions.revokeAll(unit, eq(sessionTable.applicationUserId, member.id), to);
        // A pause is over some day; from the others nobody expects their devices back.
        if (to === 'banned' || to === 'deleted') revokePersonalKeys(unit, eq(apiKeys.applicationUserId, member.id));
        unit.emit({
          type: event,
          applicationId: application.id,
          data: { userId, ...(reason !== undefined && { reason }) },
        });
        unit.audit({
          kind: event,
          applicationId: application.id,
          userId,
          email: user.email,
          detail: reason === undefined ? {} : { reason },
        });
        return detail(application, find(application, userId), true);
      });
    },

    /** @throws {AppError} not_found; invalid_request for a slug that does not exist. */
    setGrants(actor: Actor, application: Application, userId: string, kind: GrantKind, slugs: readonly string[]) {
      return db.write(actor, (unit) => {
        const { member } = find(application, userId);
        return { slugs: replaceGrants(unit, kind, member, slugs) };
      });
    },

    /** What is open now, newest first. */
    listSessions(
      application: Application,
      userId: string,
      { limit = DEFAULT_PAGE_SIZE, cursor }: PageQuery,
    ): Page<UserSession> {
      const { member } = find(application, userId);
      const rows = db.orm
        .select()
        .from(sessionTable)
        .where(
          and(
            openSession(member.id),
            cursor === undefined ? undefined : lt(sessionTable.id, decodeCursor(cursor, ['string'])[0]),
          ),
        )
        .orderBy(desc(sessionTable.id))
        .limit(limit + 1)
        .all();
      const present = ({ id, method, ip, userAgent, lastSeenAt, createdAt, expiresAt }: (typeof rows)[number]) => ({
        id,
        method,
        ip,
        userAgent,
        lastSeenAt: isoTime(lastSeenAt),
        createdAt: isoTime(createdAt),
        expiresAt: isoTime(expiresAt),
      });
      return pageOf(rows, limit, ({ id }) => [id], present);
    },

    /**
     * Ends one session of a user, or all of them.
     *
     * @throws {AppError} not_found for a session that is not open or not this user's.
     */
    revokeSessions(actor: Actor, application: Application, userId: string, sessionId?: string): { revoked: number } {
      return db.write(actor, (unit) => {
        const { member, user } = find(application, userId);
        const ofMember = eq(sessionTable.applicationUserId, member.id);
        const whose = sessionId === undefined ? ofMember : and(ofMember, eq(sessionTable.id, sessionId))!;
        const revoked = sessions.revokeAll(unit, whose, 'revoked_by_admin');
        if (sessionId !== undefined && revoked === 0) throw new AppError('not_found');
        if (revoked > 0)
          unit.audit({
            kind: 'session.revoked',
            applicationId: application.id,
            userId,
            email: user.email,
            targetId: sessionId ?? null,
            detail: { revoked },
          });
        return { revoked };
      });
    },
  };
}

function afterCursor(cursor: string) {
  const [lastSeenAt, id] = decodeCursor(cursor, ['number', 'string']);
  return sql`(${applicationUsers.lastSeenAt}, ${applicationUsers.id}) < (${lastSeenAt}, ${id})`;
}
