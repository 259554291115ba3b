/** Memberships of applications (`application_users`): who is a member where, in what state and under what name. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { startOfDay } from '../core/calendar.ts';
import { newId } from '../core/id.ts';
import { only, required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { orm, prepared, raw, rawChange, rawNote } from '../db/statements.ts';
import { isUniqueViolation } from '../db/violation.ts';
import type { User } from './people.ts';
import { asShown } from './reservations.ts';
import { type Application, applications } from './schema/applications.ts';
import { applicationUsers, type MembershipStatus, users } from './schema/users.ts';

export { MEMBERSHIP_STATUSES, type MembershipStatus } from './schema/users.ts';

const { placeholder } = sql;

export type Member = typeof applicationUsers.$inferSelect;

/** The states in which management keeps somebody out, until it lets them back. */
export const KEPT_OUT: readonly MembershipStatus[] = ['banned', 'paused', 'deleted'];

/** A membership with the person, or the key's principal, behind it, as the application may see them ({@link asShown}). */
export interface MemberWithUser {
  readonly member: Member;
  readonly user: User;
}

/** A member was seen for the first time on a day. */
export interface MemberSeen {
  readonly applicationId: string;
  readonly at: number;
  /** When they were seen last before; 0 where they had never come. */
  readonly before: number;
}

export const MEMBER_SEEN = topic<MemberSeen>('member seen');

/** A membership with the application it is of. */
export interface MembershipWithApplication {
  readonly member: Member;
  readonly application: Application;
}

const memberByUser = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(
      and(
        eq(applicationUsers.applicationId, placeholder('applicationId')),
        eq(applicationUsers.userId, placeholder('userId')),
      ),
    )
    .prepare(),
);

/** Whatever the state of the membership. */
export async function findMember(reader: Reader, applicationId: string, userId: string): Promise<Member | undefined> {
  const [member] = await memberByUser(reader, { applicationId, userId });
  return member;
}

const memberById = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(eq(applicationUsers.id, placeholder('id')))
    .prepare(),
);

/** Whatever the state of the membership. */
export async function findMemberById(reader: Reader, id: string): Promise<Member | undefined> {
  const [member] = await memberById(reader, { id });
  return member;
}

/** Of a membership that something else refers to. */
export async function requireMemberById(reader: Reader, id: string): Promise<Member> {
  return required(await findMemberById(reader, id), `membership ${id}`);
}

/** Memberships of these people in one application, by user id. */
export async function findMembersOf(
  reader: Reader,
  applicationId: string,
  userIds: readonly string[],
): Promise<Map<string, Member>> {
  if (userIds.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.applicationId, applicationId), inArray(applicationUsers.userId, [...userIds])));
  return new Map(rows.map((member) => [member.userId, member]));
}

/** The account whose profile a membership shows: store/unproved-profiles.ts. */
const PROFILE_ID = sql`coalesce(${applicationUsers.profileUserId}, ${applicationUsers.userId})`;

/** Left out: reservations that nobody has signed in to. */
const HAS_SIGNED_IN = or(isNull(applicationUsers.reservedEmail), isNotNull(applicationUsers.profileUserId));

const memberWithUser = prepared((db) =>
  db
    .select({ member: applicationUsers, user: users })
    .from(applicationUsers)
    .innerJoin(users, eq(users.id, PROFILE_ID))
    .where(
      and(
        eq(applicationUsers.applicationId, placeholder('applicationId')),
        eq(applicationUsers.userId, placeholder('userId')),
      ),
    )
    .prepare(),
);

/** Whatever the state of either; the principal of a key as well. */
export async function findMemberWithUser(
  reader: Reader,
  applicationId: string,
  userId: string,
): Promise<MemberWithUser | undefined> {
  const [row] = await memberWithUser(reader, { applicationId, userId });
  return row && asShown(row);
}

const holderOfEmail = raw<{ userId: string }, [string, string]>(
  `SELECT m.user_id AS "userId" FROM users u JOIN application_users m ON m.user_id = u.id AND m.application_id = ?1
   WHERE u.email = ?2 AND m.reserved_email IS NULL
   UNION ALL
   SELECT user_id FROM application_users WHERE application_id = ?1 AND reserved_email = ?2 LIMIT 1`,
);

/** Whom an application knows by an address: a member who has it, or else the one it is reserved for. */
export async function findUserIdByEmail(
  reader: Reader,
  applicationId: string,
  email: string,
): Promise<string | undefined> {
  const [holder] = await holderOfEmail(reader, applicationId, email);
  return holder?.userId;
}

/** Where a page of members goes on: behind this one. */
export interface MemberPosition {
  readonly lastSeenAt: number;
  readonly id: string;
}

/** Last seen first and last those who never came; or in the order of joining, in which nobody moves while it is read. */
export type MemberOrder = 'last_seen' | 'joined';

/** People; keys' synthetic principals are left out. */
export async function listMembers(
  reader: Reader,
  applicationId: string,
  {
    order = 'last_seen',
    after,
    limit,
  }: { readonly order?: MemberOrder | undefined; readonly after: MemberPosition | null; readonly limit: number },
): Promise<MemberWithUser[]> {
  const { id, lastSeenAt } = applicationUsers;
  const isBehind =
    after && (order === 'joined' ? gt(id, after.id) : sql`(${lastSeenAt}, ${id}) < (${after.lastSeenAt}, ${after.id})`);
  const rows = await orm(reader)
    .select({ member: applicationUsers, user: users })
    .from(applicationUsers)
    .innerJoin(users, eq(users.id, PROFILE_ID))
    .where(
      and(eq(applicationUsers.applicationId, applicationId), eq(users.kind, 'person'), ...(isBehind ? [isBehind] : [])),
    )
    .orderBy(...(order === 'joined' ? [asc(id)] : [desc(lastSeenAt), desc(id)]))
    .limit(limit);
  return rows.map(asShown);
}

/** Members by id, in no order. */
export async function findMembersById(reader: Reader, ids: readonly string[]): Promise<Map<string, MemberWithUser>> {
  if (ids.length === 0) return new Map();
  const rows = await orm(reader)
    .select({ member: applicationUsers, user: users })
    .from(applicationUsers)
    .innerJoin(users, eq(users.id, PROFILE_ID))
    .where(inArray(applicationUsers.id, [...ids]));
  return new Map(rows.map((row) => [row.member.id, asShown(row)]));
}

const membershipsOf = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.userId, placeholder('userId')), HAS_SIGNED_IN))
    .orderBy(asc(applicationUsers.id))
    .prepare(),
);

/** Returns a person's memberships, oldest first, whatever their state. Reservations are not theirs yet. */
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

/** Returns a person's memberships with their applications, oldest first, whatever the state of either; no reservations. */
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

const membershipOutside = raw<{ id: string }, [string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +? AND (a.workspace_id IS NULL OR a.workspace_id <> +?) LIMIT 1`,
);

/**
 * Whether the person is, or was, a member of an application of another workspace, or of the console. A reservation counts:
 * what waits there is worth as much to whoever takes the account over.
 */
export async function isMemberOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await membershipOutside(reader, userId, workspaceId)).length > 0;
}

const comeAnywhere = raw<{ id: string }, [string]>(
  'SELECT id FROM application_users WHERE user_id = +? AND last_seen_at > 0 LIMIT 1',
);

/** Whether the person has come to any application of the server, the console included. */
export async function hasComeAnywhere(reader: Reader, userId: string): Promise<boolean> {
  return (await comeAnywhere(reader, userId)).length > 0;
}

const joinedOutside = raw<{ id: string }, [string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +? AND m.last_seen_at > 0 AND (a.workspace_id IS NULL OR a.workspace_id <> +?) LIMIT 1`,
);

/** The same of where they have come: anybody can import or invite anybody. */
export async function hasJoinedOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await joinedOutside(reader, userId, workspaceId)).length > 0;
}

/** Those among the usernames that somebody has in the application, with whose they are. */
export async function findUsernameHolders(
  reader: Reader,
  applicationId: string,
  usernames: readonly string[],
): Promise<Map<string, string>> {
  if (usernames.length === 0) return new Map();
  const rows = await orm(reader)
    .select({ username: applicationUsers.username, userId: applicationUsers.userId })
    .from(applicationUsers)
    .where(and(eq(applicationUsers.applicationId, applicationId), inArray(applicationUsers.username, [...usernames])));
  return new Map(rows.flatMap(({ username, userId }) => (username === null ? [] : [[username, userId]])));
}

const insertRow = prepared((db) =>
  db
    .insert(applicationUsers)
    .values({
      id: placeholder('id'),
      applicationId: placeholder('applicationId'),
      userId: placeholder('userId'),
      status: 'active',
      username: placeholder('username'),
      lastSeenAt: placeholder('lastSeenAt'),
      reservedEmail: placeholder('reservedEmail'),
      reservedProfile: placeholder('reservedProfile'),
      profileUserId: placeholder('profileUserId'),
      rolesUpdatedAt: placeholder('now'),
      scopesUpdatedAt: placeholder('now'),
      membershipsUpdatedAt: placeholder('now'),
      createdAt: placeholder('now'),
      updatedAt: placeholder('now'),
    })
    .returning()
    .prepare(),
);

export type NewMember = Pick<Member, 'applicationId' | 'userId'> &
  Partial<Pick<Member, 'username' | 'lastSeenAt' | 'reservedEmail' | 'reservedProfile' | 'profileUserId'>>;

/** Makes an active membership without grants; of somebody who comes now, unless it says otherwise or is reserved. */
export async function insertMemberRow(
  unit: Unit,
  {
    applicationId,
    userId,
    username = null,
    lastSeenAt = unit.now,
    reservedEmail = null,
    reservedProfile = null,
    profileUserId = null,
  }: NewMember,
): Promise<Member> {
  const id = newId('applicationUser', unit.now);
  const made = { id, applicationId, userId, username, lastSeenAt, reservedEmail, reservedProfile, profileUserId };
  return only(await insertRow(unit, { ...made, now: unit.now }));
}

const changeStatus = rawChange<[MembershipStatus, string | null, number, string]>(
  `UPDATE application_users SET status = ?1, status_reason = ?2, updated_at = ?3,
     status_before_deletion = CASE WHEN ?1 = 'deleted' THEN status END,
     reason_before_deletion = CASE WHEN ?1 = 'deleted' THEN status_reason END
   WHERE id = ?4`,
  { idAt: 3 },
);

/**
 * Changes the state of a membership; a deletion keeps the one before. What follows from it, and who is told, is the caller's
 * affair.
 */
export async function setMemberStatus(
  unit: Unit,
  memberId: string,
  status: MembershipStatus,
  reason: string | null = null,
): Promise<void> {
  await changeStatus(unit, status, reason, unit.now, memberId);
}

type MemberColumns = Partial<Omit<Member, 'id' | 'applicationId' | 'userId' | 'sessionEpoch'>>;

/** Changes what is named, and the time of the last change. */
export function updateMember(unit: Unit, memberId: string, columns: MemberColumns): Promise<void> {
  return updateMembers(unit, [memberId], columns);
}

/** The same for several memberships. */
export async function updateMembers(unit: Unit, memberIds: readonly string[], columns: MemberColumns): Promise<void> {
  if (memberIds.length === 0) return;
  await orm(unit)
    .update(applicationUsers)
    .set({ updatedAt: unit.now, ...columns })
    .where(inArray(applicationUsers.id, [...memberIds]));
}

const setUsername = rawChange<[string | null, number, string]>(
  'UPDATE application_users SET username = ?, updated_at = ? WHERE id = ?',
  { idAt: 2 },
);

/** The index of the database has the last word on who was first. @returns false, and nothing changes, where it is taken. */
export async function changeUsername(unit: Unit, memberId: string, username: string | null): Promise<boolean> {
  try {
    await setUsername(unit, username, unit.now, memberId);
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

const growEpoch = rawChange<[string]>('UPDATE application_users SET session_epoch = session_epoch + 1 WHERE id = ?', {
  idAt: 0,
});

/** Ends every session that this member has now; their rows are the caller's affair. Devices are ended by their rows. */
export async function bumpMemberEpoch(unit: Unit, memberId: string): Promise<void> {
  await growEpoch(unit, memberId);
}

const noteSeenAgain = rawNote<[number, string, number]>(
  'UPDATE application_users SET last_seen_at = ?1 WHERE id = ?2 AND last_seen_at < ?1 AND last_seen_at >= ?3',
);
const seenBefore = raw<Pick<MemberSeen, 'applicationId' | 'before'>, [string]>(
  'SELECT application_id AS "applicationId", last_seen_at AS before FROM application_users WHERE id = ?',
);
const noteSeen = rawNote<[number, string]>('UPDATE application_users SET last_seen_at = ? WHERE id = ?');

/** Notes when a member was last seen; never back in time. One statement for who was seen on the same day already. */
export async function noteMemberSeen(unit: Unit, memberId: string, at: number): Promise<void> {
  if ((await noteSeenAgain(unit, at, memberId, startOfDay(at))) > 0) return;
  const [member] = await seenBefore(unit, memberId);
  if (!member || member.before >= at) return;
  await noteSeen(unit, at, memberId);
  unit.tell(MEMBER_SEEN, { ...member, at });
}
