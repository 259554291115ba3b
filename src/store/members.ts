/** Memberships of applications (`application_users`): member, status and username. */
import { and, asc, desc, eq, gt, inArray, sql } from 'drizzle-orm';
import { startOfDay } from '../core/calendar.ts';
import { newId } from '../core/id.ts';
import { onlyOne, required } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { change, hold, note, orm, ormFor, prepared, query } from '../db/statements.ts';
import { type FirstSeen, type LastSeenAt, lastSeenRows } from './last-seen.ts';
import type { User } from './people.ts';
import { applicationUsers, type MembershipStatus, users } from './schema/users.ts';
import { asShown, type Member, type MemberWithUser } from './shown-member.ts';

export { MEMBERSHIP_STATUSES, type MembershipStatus } from './schema/users.ts';
export type { Member, MemberWithUser } from './shown-member.ts';

const { placeholder } = sql;

/** Statuses, set by management, in which a member cannot sign in. */
export const KEPT_OUT: readonly MembershipStatus[] = ['banned', 'paused', 'deleted'];

/** Published at a member's first visit on a day. */
export const MEMBER_SEEN = topic<FirstSeen>('member seen');

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

/** A member with their account, as far as it decides whether they may sign in. */
export type Applicant = Pick<Member, 'status'> & Pick<User, 'id' | 'kind' | 'email' | 'deletedAt'>;

/** Returns a membership in any state with its account. */
export const findApplicant = query.row<Applicant, { applicationId: string; userId: string }>(
  `SELECT m.status, u.id, u.kind, u.email, u.deleted_at AS "deletedAt"
   FROM application_users m JOIN users u ON u.id = m.user_id
   WHERE m.application_id = :applicationId AND m.user_id = :userId`,
);

/** Holds a membership. */
export const holdMember = hold<{ applicationId: string; userId: string }>(
  'UPDATE application_users SET user_id = user_id WHERE application_id = :applicationId AND user_id = :userId',
);

const memberById = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(eq(applicationUsers.id, placeholder('id')))
    .prepare(),
);

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

/** Returns the user id of the member who has the address, else of the person it is reserved for. */
export const findUserIdByEmail = query.value<string, { applicationId: string; email: string }>(
  `SELECT m.user_id FROM users u JOIN application_users m ON m.user_id = u.id AND m.application_id = :applicationId
   WHERE u.email = :email AND m.reserved_email IS NULL
   UNION ALL
   SELECT user_id FROM application_users WHERE application_id = :applicationId AND reserved_email = :email LIMIT 1`,
);

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
      externalId: placeholder('externalId'),
      // A placeholder of a JSON column would store null as the text `null`.
      metadata: sql`${placeholder('metadata')}`,
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
  Partial<
    Pick<
      Member,
      'username' | 'lastSeenAt' | 'reservedEmail' | 'reservedProfile' | 'profileUserId' | 'externalId' | 'metadata'
    >
  >;

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
    externalId = null,
    metadata = null,
  }: NewMember,
): Promise<Member> {
  const id = newId('applicationUser', unit.now);
  const made = { id, applicationId, userId, username, lastSeenAt, reservedEmail, reservedProfile, profileUserId };
  const metadataText = metadata && JSON.stringify(metadata);
  return onlyOne(await insertRow(unit, { ...made, externalId, metadata: metadataText, now: unit.now }));
}

const changeStatus = change<{ memberId: string; status: MembershipStatus; reason: string | null }>(
  `UPDATE application_users SET status = :status, status_reason = :reason, updated_at = :now,
     status_before_deletion = CASE WHEN :status = 'deleted' THEN status END,
     reason_before_deletion = CASE WHEN :status = 'deleted' THEN status_reason END
   WHERE id = :memberId`,
  { rowId: 'memberId' },
);

/** Changes a membership's status; a deletion keeps the previous one. The caller handles the consequences. */
export async function setMemberStatus(
  unit: Unit,
  memberId: string,
  status: MembershipStatus,
  reason: string | null = null,
): Promise<void> {
  await changeStatus(unit, { memberId, status, reason });
}

type MemberColumns = Partial<Omit<Member, 'id' | 'applicationId' | 'userId' | 'sessionEpoch' | 'sessionsEndedAt'>>;

export function updateMember(unit: Unit, memberId: string, columns: MemberColumns): Promise<void> {
  return updateMembers(unit, [memberId], columns);
}

export async function updateMembers(unit: Unit, memberIds: readonly string[], columns: MemberColumns): Promise<void> {
  if (memberIds.length === 0) return;
  await ormFor(unit, memberIds)
    .update(applicationUsers)
    .set({ updatedAt: unit.now, ...columns })
    .where(inArray(applicationUsers.id, [...memberIds]));
}

/** Ends the member's current sessions. The caller updates session rows; devices end by their own rows. */
export const bumpMemberEpoch = change<string>(
  'UPDATE application_users SET session_epoch = session_epoch + 1 WHERE id = :memberId',
  { rowId: 'memberId' },
);

/** Refuses these members the continuation of sign-ins up to now. */
export const noteSessionsEnded = note<{ memberIds: readonly string[] }>(
  ({ idList }) => `UPDATE application_users SET sessions_ended_at = :now WHERE id IN ${idList(':memberIds')}`,
);

const noteSeenAgain = note<{ memberId: string; at: number; dayStart: number }>(
  `UPDATE application_users SET last_seen_at = :at
   WHERE id = :memberId AND last_seen_at < :at AND last_seen_at >= :dayStart`,
);
/** Returns whether any application of a workspace has a person, signed in or imported. */
export const hasAnyUser = query.exists<void>(
  `SELECT 1 FROM applications a WHERE a.workspace_id IS NOT NULL AND EXISTS (
     SELECT 1 FROM application_users m JOIN users u ON u.id = m.user_id
     WHERE m.application_id = a.id AND u.kind = 'person')`,
);

const seenBefore = query.row<Pick<FirstSeen, 'applicationId' | 'before'>, string>(
  'SELECT application_id AS "applicationId", last_seen_at AS before FROM application_users WHERE id = :memberId',
);
const noteSeen = note<{ memberId: string; at: number; before: number }>(
  'UPDATE application_users SET last_seen_at = :at WHERE id = :memberId AND last_seen_at = :before',
);

/** Updates when a member was last seen, never backwards. Takes one statement if they were already seen that day. */
export async function noteMemberSeen(unit: Unit, memberId: string, at: number): Promise<void> {
  while ((await noteSeenAgain(unit, { memberId, at, dayStart: startOfDay(at) })) === 0) {
    const member = await seenBefore(unit, memberId);
    if (!member || member.before >= at) return;
    // Another instance may have written since: then the first use of the day was counted there.
    if ((await noteSeen(unit, { memberId, at, before: member.before })) === 0) continue;
    unit.publish(MEMBER_SEEN, { ...member, at });
    return;
  }
}

const unseenThatDay = query.values<string, { ids: readonly string[]; dayStart: number }>(
  ({ idList }) => `SELECT id FROM application_users WHERE id IN ${idList(':ids')} AND last_seen_at < :dayStart`,
);
const noteAllSeenAgain = note<{ seen: readonly LastSeenAt[]; dayStart: number }>(
  ({ jsonRows }) => `UPDATE application_users SET last_seen_at = seen.at FROM ${lastSeenRows(jsonRows)}
   WHERE application_users.id = seen.id AND last_seen_at < seen.at AND last_seen_at >= :dayStart`,
);

/** Updates when members were last seen on one day. Only those not seen before on that day take statements of their own. */
export async function noteMembersSeen(unit: Unit, seen: readonly LastSeenAt[]): Promise<void> {
  const [first] = seen;
  if (!first) return;
  const dayStart = startOfDay(first.at);
  const unseen = new Set(await unseenThatDay(unit, { ids: seen.map(({ id }) => id), dayStart }));
  await noteAllSeenAgain(unit, { seen, dayStart });
  for (const { id, at } of seen) if (unseen.has(id)) await noteMemberSeen(unit, id, at);
}
