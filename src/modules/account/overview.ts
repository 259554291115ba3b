import { type Clock, isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { listMembershipsWithApplication } from '../../store/memberships.ts';
import { requireUser } from '../../store/people.ts';
import { identityOf } from '../profile/identity.ts';
import type { Account } from './model.ts';

export type Overview = ReturnType<typeof overviewService>;

/** Shows a session only the memberships of its own workspace. */
export function overviewService({ db, clock }: { db: Database; clock: Clock }) {
  /** Returns present and past memberships, oldest first, within the session's reach. Leaves out reasons of bans. */
  async function membershipsOf({ userId, workspaceId }: SessionPrincipal): Promise<Account['memberships']> {
    const now = clock.now();
    const memberships = await listMembershipsWithApplication(db.reader, userId);
    return memberships
      .filter(({ application }) => workspaceId === null || application.workspaceId === workspaceId)
      .filter(({ application: { deletedAt, purgeAfter } }) => deletedAt === null || (purgeAfter ?? 0) > now)
      .map(({ member: { status, username, createdAt }, application: { id, name, slug } }) => ({
        applicationId: id,
        name,
        slug,
        status,
        username,
        joinedAt: isoTime(createdAt),
      }));
  }

  return {
    async get(principal: SessionPrincipal): Promise<Account> {
      const {
        userId,
        profileId,
        applicationId,
        identity: { envelope },
      } = principal;
      const user = await requireUser(db.reader, profileId);
      const { email, username, region, avatarUrl, avatarSizes, avatarUpdatedAt, bannerSizes, bannerUpdatedAt } =
        envelope;
      return {
        userId,
        email,
        emailVerifiedAt: isoTime(user.emailVerifiedAt),
        identity: identityOf(user),
        username,
        applicationId,
        memberships: await membershipsOf(principal),
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
