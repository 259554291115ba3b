/** The account as its person sees it at a glance. */
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm';
import { type Clock, isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { applications } from '../../db/schema/applications.ts';
import { applicationUsers, users } from '../../db/schema/users.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { identityOf } from './identity.ts';
import type { Account } from './model.ts';

export type Overview = ReturnType<typeof overviewService>;

export function overviewService({ db, clock }: { db: Database; clock: Clock }) {
  /**
   * Where the person is, or was, a member, oldest first: of the workspace that the session was handed to, or for the
   * console's of all. Why they were banned is the application's affair.
   */
  function membershipsOf({ userId, workspaceId }: SessionPrincipal): Account['memberships'] {
    const isWithinReach = workspaceId === null ? undefined : eq(applications.workspaceId, workspaceId);
    const isShown = or(isNull(applications.deletedAt), gt(applications.purgeAfter, clock.now()));
    return db.orm
      .select({
        applicationId: applications.id,
        name: applications.name,
        slug: applications.slug,
        status: applicationUsers.status,
        username: applicationUsers.username,
        joinedAt: applicationUsers.createdAt,
      })
      .from(applicationUsers)
      .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
      .where(and(eq(applicationUsers.userId, userId), isWithinReach, isShown))
      .orderBy(asc(applicationUsers.id))
      .all()
      .map(({ joinedAt, ...membership }) => ({ ...membership, joinedAt: isoTime(joinedAt) }));
  }

  return {
    get(principal: SessionPrincipal): Account {
      const { userId, applicationId, envelope } = principal;
      const user = db.orm.select().from(users).where(eq(users.id, userId)).get()!;
      const { email, username, region, avatarUrl, avatarSizes, avatarUpdatedAt, bannerSizes, bannerUpdatedAt } =
        envelope;
      return {
        userId,
        email,
        emailVerifiedAt: isoTime(user.emailVerifiedAt),
        identity: identityOf(user),
        username,
        applicationId,
        memberships: membershipsOf(principal),
        region,
        avatarUrl,
        avatarSizes,
        avatarUpdatedAt,
        bannerSizes,
        bannerUpdatedAt,
        createdAt: isoTime(user.createdAt),
      };
    },
  };
}
