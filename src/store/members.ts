/** Memberships of applications (`application_users`): member, status and username. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { startOfDay } from '../core/calendar.ts';
import { newId } from '../core/id.ts';
import { only, required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { orm, prepared, raw, rawChange, rawNote } from '../db/statements.ts';
import { isUniqueViolation } from '../db/errors.ts';
import { type Application, applications } from './schema/applications.ts';
import { applicationUsers, type MembershipStatus, users } from './schema/users.ts';
import { asShown, type Member, type MemberWithUser } from './shown-member.ts';

export { MEMBERSHIP_STATUSES, type MembershipStatus } from './schema/users.ts';
export type { Member, MemberWithUser } from './shown-member.ts';

const { placeholder } = sql;

/** Statuses in which management keeps a member out until it reverts them. */
export const KEPT_OUT: readonly MembershipStatus[] = ['banned', 'paused', 'deleted'];

/** A member's first visit on a day. */
export interface MemberSeen {
  readonly applicationId: string;
  readonly at: number;
  /** When they were last seen before; 0 if never. */
  readonly before: number;
}

export const MEMBER_SEEN = topic<MemberSeen>('member seen');

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

/** Returns a membership in any state. */
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

/** Returns a membership in any state. */
export async function findMemberById(reader: Reader, id: string): Promise<Member | undefined> {
  const [member] = await memberById(reader, { id });
  return member;
}

/** Returns a membership that another row refers to. @throws if it is missing. */
export async function requireMemberById(reader: Reader, id: string): Promise<Member> {
  return required(await findMemberById(reader, id), `membership ${id}`);
}

/** Returns these people's memberships of one application, by user id. */
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

/** The account whose profile a membership shows; see store/unproved-profiles.ts. */
const PROFILE_ID = sql`coalesce(${applicationUsers.profileUserId}, ${applicationUsers.userId})`;

/** Excludes reservations that nobody has signed in to. */
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

/** Returns a membership with its user, both in any state; also of a key principal. */
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

/** Returns the user id of the member who has the address, else of the person it is reserved for. */
export async function findUserIdByEmail(
  reader: Reader,
  applicationId: string,
  email: string,
): Promise<string | undefined> {
  const [holder] = await holderOfEmail(reader, applicationId, email);
  return holder?.userId;
}

/** Cursor: the page continues after this member. */
export interface MemberPosition {
  readonly lastSeenAt: number;
  readonly id: string;
}

/** `last_seen` puts recent members first and never-seen ones last. In `joined`, nobody moves while pages are read. */
export type MemberOrder = 'last_seen' | 'joined';

/** Returns a page of people, without key principals. */
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

const membershipOutside = raw<{ id: string }, [string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +? AND (a.workspace_id IS NULL OR a.workspace_id <> +?) LIMIT 1`,
);

/**
 * Returns whether the person is or was a member outside the workspace, the console included.
 * Reservations count: they are worth as much to somebody who takes over the account.
 */
export async function isMemberOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await membershipOutside(reader, userId, workspaceId)).length > 0;
}

const comeAnywhere = raw<{ id: string }, [string]>(
  'SELECT id FROM application_users WHERE user_id = +? AND last_seen_at > 0 LIMIT 1',
);

/** Returns whether the person has visited any application of the server, the console included. */
export async function hasComeAnywhere(reader: Reader, userId: string): Promise<boolean> {
  return (await comeAnywhere(reader, userId)).length > 0;
}

const joinedOutside = raw<{ id: string }, [string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +? AND m.last_seen_at > 0 AND (a.workspace_id IS NULL OR a.workspace_id <> +?) LIMIT 1`,
);

/** Returns whether the person has come to an application outside the workspace: anyone can import or invite anyone. */
export async function hasJoinedOutside(reader: Reader, userId: string, workspaceId: string): Promise<boolean> {
  return (await joinedOutside(reader, userId, workspaceId)).length > 0;
}

/** Returns the user ids of those usernames that are taken in the application. */
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

/** Inserts an active membership without grants; `lastSeenAt` defaults to now. */
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

/** Changes a membership's status; a deletion keeps the previous one. The caller handles the consequences. */
export async function setMemberStatus(
  unit: Unit,
  memberId: string,
  status: MembershipStatus,
  reason: string | null = null,
): Promise<void> {
  await changeStatus(unit, status, reason, unit.now, memberId);
}

type MemberColumns = Partial<Omit<Member, 'id' | 'applicationId' | 'userId' | 'sessionEpoch'>>;

export function updateMember(unit: Unit, memberId: string, columns: MemberColumns): Promise<void> {
  return updateMembers(unit, [memberId], columns);
}

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

/** Sets the username; the unique index decides races. @returns false, without a change, if it is taken. */
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

/** Ends the member's current sessions. The caller updates session rows; devices end by their own rows. */
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

/** Updates when a member was last seen, never backwards. Takes one statement if they were already seen that day. */
export async function noteMemberSeen(unit: Unit, memberId: string, at: number): Promise<void> {
  if ((await noteSeenAgain(unit, at, memberId, startOfDay(at))) > 0) return;
  const [member] = await seenBefore(unit, memberId);
  if (!member || member.before >= at) return;
  await noteSeen(unit, at, memberId);
  unit.publish(MEMBER_SEEN, { ...member, at });
}
