/** Memberships of a person across applications. */
import { and, asc, eq, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Reader } from '../db/database.ts';
import { prepared, query } from '../db/statements.ts';
import { type Application, applications } from './schema/applications.ts';
import { applicationUsers } from './schema/users.ts';
import type { Member } from './shown-member.ts';

const { placeholder } = sql;

export interface MembershipWithApplication {
  readonly member: Member;
  readonly application: Application;
}

/** Excludes reservations that nobody has signed in to. */
const HAS_SIGNED_IN = or(isNull(applicationUsers.reservedEmail), isNotNull(applicationUsers.profileUserId));

const membershipsOf = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.userId, placeholder('userId')), HAS_SIGNED_IN))
    .orderBy(asc(applicationUsers.id))
    .prepare(),
);

/** Returns a person's memberships in any state, oldest first, without reservations. */
export function listMembershipsOf(reader: Reader, userId: string): Promise<Member[]> {
  return membershipsOf(reader, { userId });
}

const membershipsWithApplication = prepared((db) =>
  db
    .select({ member: applicationUsers, application: applications })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(and(eq(applicationUsers.userId, placeholder('userId')), HAS_SIGNED_IN))
    .orderBy(asc(applicationUsers.id))
    .prepare(),
);

/** Returns a person's memberships with their applications, both in any state, oldest first, without reservations. */
export function listMembershipsWithApplication(reader: Reader, userId: string): Promise<MembershipWithApplication[]> {
  return membershipsWithApplication(reader, { userId });
}

const membershipsShowing = prepared((db) =>
  db
    .select({ member: applicationUsers, application: applications })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      or(
        and(
          eq(applicationUsers.userId, placeholder('profileId')),
          isNull(applicationUsers.profileUserId),
          isNull(applicationUsers.reservedEmail),
        ),
        eq(applicationUsers.profileUserId, placeholder('profileId')),
      ),
    )
    .orderBy(asc(applicationUsers.id))
    .prepare(),
);

/** Returns the memberships that show this profile, with their applications, oldest first. */
export function listMembershipsShowing(reader: Reader, profileId: string): Promise<MembershipWithApplication[]> {
  return membershipsShowing(reader, { profileId });
}

/**
 * Returns whether the person is or was a member outside the workspace, the console included.
 * Reservations count: they are worth as much to somebody who takes over the account.
 */
export const isMemberOutside = query.exists<{ userId: string; workspaceId: string }>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = :userId AND (a.workspace_id IS NULL OR a.workspace_id <> :workspaceId) LIMIT 1`,
);

/** Returns whether the person has visited any application of the server, the console included. */
export const hasComeAnywhere = query.exists<string>(
  'SELECT id FROM application_users WHERE user_id = :userId AND last_seen_at > 0 LIMIT 1',
);

/** Returns whether the person has come to an application outside the workspace: anyone can import or invite anyone. */
export const hasJoinedOutside = query.exists<{ userId: string; workspaceId: string }>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = :userId AND m.last_seen_at > 0 AND (a.workspace_id IS NULL OR a.workspace_id <> :workspaceId)
   LIMIT 1`,
);
