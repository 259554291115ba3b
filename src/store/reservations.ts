/**
 * Reservations: places that a workspace keeps for people it has named and never seen. It may not learn whether the server
 * knows them, nor anything of them, before they come. The simplest shape that holds this:
 *
 * - A reservation is a row of `application_users` with `reserved_email`, the address it was made for. Grants, username and
 *   state are those of the row, as of any member; the profile waits in `reserved_profile` (JSON). Nothing else is written.
 * - Its person is whoever has the address, else a person made for it with nothing but the address, so that the id is their
 *   own from the start and is the same for every workspace that asks. Deleting the user keeps the row: its state, `deleted`,
 *   keeps the address out. Forgetting the reservation removes the row and leaves the person, so that the id is the same
 *   when the address comes again.
 * - An address that nobody may be found by (given up by its person, or of somebody for whom the workspace keeps a place under
 *   another address) stands for a person of its own, whom `standInEmail` finds again and nobody can sign in as.
 * - What management reads goes through {@link asShown}, which puts the reserved in the place of the person's.
 * - The first sign-in to any application of the workspace empties both columns of all the person's rows there.
 *
 * A seat of a workspace is kept in the same way by `workspace_members.invited_email`, until the person comes to the console.
 */
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, raw, rawChange } from '../db/statements.ts';
import { clearGrants } from './grants.ts';
import { insertMemberRow, type Member, type MemberWithUser } from './members.ts';
import type { User } from './people.ts';
import { type Application, applications } from './schema/applications.ts';
import { applicationUsers, type ReservedProfile } from './schema/users.ts';
import { workspaceMembers } from './schema/workspace-members.ts';

export type { ReservedProfile } from './schema/users.ts';

/** When somebody was last seen who has never come. */
export const NEVER = 0;

const { placeholder } = sql;

/** The address of the account that stands for one that nobody may be found by. No mail goes there. */
export const standInEmail = (email: string, workspaceId: string): string => `${email}.${workspaceId}.invalid`;

/**
 * Shows a member as the application may see them: of a reservation what was reserved, and nothing of the person but their id.
 *
 * @param user the account whose profile the membership shows: store/unproved-profiles.ts.
 */
export function asShown({ member, user }: MemberWithUser): MemberWithUser {
  const { reservedEmail, reservedProfile, profileUserId, userId: id, createdAt, updatedAt } = member;
  if (reservedEmail === null) return { member, user };
  // Their profile, under their own id and at the address they came by.
  if (profileUserId !== null) return { member, user: { ...user, id, email: reservedEmail } };
  const { kind } = user;
  const {
    givenName = null,
    familyName = null,
    fullName = null,
    locale = null,
    timezone = null,
  } = reservedProfile ?? {};
  const shown: User = {
    ...{ id, kind, email: reservedEmail, emailVerifiedAt: null, name: null },
    ...{ givenName, familyName, fullName, locale, timezone, region: null },
    ...{ providerAvatarUrl: null, avatarSizes: null, avatarUpdatedAt: null, bannerSizes: null, bannerUpdatedAt: null },
    ...{ createdAt, updatedAt, deletedAt: null },
  };
  return { member, user: shown };
}

/** Looked up by the people or the addresses: a workspace may have very many applications. */
const isIn = (workspaceId: string) => eq(sql`+${applications.workspaceId}`, workspaceId);

/** Those among the people who are, or were, members of an application of the workspace. */
export async function knownIn(reader: Reader, workspaceId: string, userIds: readonly string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await orm(reader)
    .selectDistinct({ userId: applicationUsers.userId })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      and(inArray(applicationUsers.userId, [...userIds]), isIn(workspaceId), isNull(applicationUsers.reservedEmail)),
    );
  return new Set(rows.map(({ userId }) => userId));
}

const membershipIn = raw<{ id: string }, [string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +? AND a.workspace_id = +? AND m.reserved_email IS NULL LIMIT 1`,
);

/**
 * The language that a person has chosen, for a mail on behalf of a workspace; null where they are nobody to it: of a stranger
 * not even that shows.
 *
 * @param workspaceId null for the console, which is everybody's.
 */
export async function localeShownTo(
  reader: Reader,
  workspaceId: string | null,
  person: Pick<User, 'id' | 'locale'> | undefined,
): Promise<string | null> {
  if (!person?.locale || workspaceId === null) return person?.locale ?? null;
  const [membership] = await membershipIn(reader, person.id, workspaceId);
  return membership === undefined ? null : person.locale;
}

/** A place that a workspace keeps for somebody. */
export interface KeptPlace {
  readonly email: string;
  readonly userId: string;
  /** Of the workspace itself; else of one of its applications. */
  readonly isSeat: boolean;
}

/** Places kept in a workspace, for these addresses or for these people under whatever address. */
export async function placesKept(
  reader: Reader,
  workspaceId: string,
  emails: readonly string[],
  userIds: readonly string[],
): Promise<KeptPlace[]> {
  const reserved = sql<string>`${applicationUsers.reservedEmail}`;
  const invited = sql<string>`${workspaceMembers.invitedEmail}`;
  const places: KeptPlace[] = [];
  const isReserved = [
    inArray(applicationUsers.reservedEmail, [...emails]),
    and(inArray(applicationUsers.userId, [...userIds]), isNotNull(applicationUsers.reservedEmail)),
  ];
  for (const condition of isReserved) {
    const rows = await orm(reader)
      .select({ email: reserved, userId: applicationUsers.userId })
      .from(applicationUsers)
      .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
      .where(and(condition, isIn(workspaceId)));
    places.push(...rows.map((row) => ({ ...row, isSeat: false })));
  }
  const isInvited = [
    inArray(workspaceMembers.invitedEmail, [...emails]),
    and(inArray(workspaceMembers.userId, [...userIds]), isNotNull(workspaceMembers.invitedEmail)),
  ];
  for (const condition of isInvited) {
    const rows = await orm(reader)
      .select({ email: invited, userId: workspaceMembers.userId })
      .from(workspaceMembers)
      .where(and(condition, eq(workspaceMembers.workspaceId, workspaceId)));
    places.push(...rows.map((row) => ({ ...row, isSeat: true })));
  }
  return places;
}

/** What a reservation is made of. */
export interface NewReservation {
  readonly applicationId: string;
  readonly userId: string;
  readonly username: string | null;
  readonly reservedEmail: string;
  readonly reservedProfile: ReservedProfile;
}

/** Without grants. The person must not have a place in the application yet. */
export async function insertReservation(unit: Unit, reservation: NewReservation): Promise<Member> {
  return insertMemberRow(unit, { ...reservation, lastSeenAt: NEVER });
}

const deleteRow = rawChange<[string]>('DELETE FROM application_users WHERE id = ? AND reserved_email IS NOT NULL');

/** Removes the row with its grants. The person stays: an address that is named again has the same id. */
export async function deleteReservation(unit: Unit, memberId: string): Promise<void> {
  await clearGrants(unit, [memberId]);
  await deleteRow(unit, memberId);
}

const usesOf = raw<{ used: 1 }, [string]>(
  `SELECT 1 AS used WHERE EXISTS (SELECT 1 FROM sessions WHERE application_user_id = ?1)
     OR EXISTS (SELECT 1 FROM api_keys WHERE application_user_id = ?1)
     OR EXISTS (SELECT 1 FROM device_grants WHERE application_user_id = ?1)`,
);

/**
 * Whether sessions, keys or device grants belong to the membership, open or ended: somebody has signed in to it by the word of
 * the workspace's provider. Their rows refer to it, so it cannot be deleted.
 */
export async function hasBeenUsed(reader: Reader, memberId: string): Promise<boolean> {
  return (await usesOf(reader, memberId)).length > 0;
}

const reservedForPerson = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.userId, placeholder('userId')), isNotNull(applicationUsers.reservedEmail)))
    .orderBy(applicationUsers.id)
    .prepare(),
);

/** All that is reserved for a person, in every workspace. */
export function listReservationsOf(reader: Reader, userId: string): Promise<Member[]> {
  return reservedForPerson(reader, { userId });
}

const reservedIn = raw<{ id: string }, [string, string, string]>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = +?1 AND m.reserved_email IS NOT NULL AND +a.workspace_id = +?3
   UNION
   SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.reserved_email = +?2 AND +a.workspace_id = +?3`,
);

/** What a workspace has reserved for a person, or for their address under another id; oldest first. */
export async function listReservationsIn(
  reader: Reader,
  workspaceId: string,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<Member[]> {
  const ids = (await reservedIn(reader, id, email, workspaceId)).map((row) => row.id);
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(applicationUsers)
    .where(inArray(applicationUsers.id, ids))
    .orderBy(applicationUsers.id);
}

const placeFor = raw<{ userId: string }, [string, string]>(
  'SELECT user_id AS "userId" FROM application_users WHERE reserved_email = ? AND application_id = ?',
);
const seatFor = raw<{ userId: string }, [string]>(
  'SELECT user_id AS "userId" FROM workspace_members WHERE invited_email = ? LIMIT 1',
);

/** Under whose id an application keeps a place for an address; the console, a seat of any workspace. */
export async function findPlaceHolder(
  reader: Reader,
  { id, workspaceId }: Pick<Application, 'id' | 'workspaceId'>,
  email: string,
): Promise<string | undefined> {
  const [place] = await (workspaceId === null ? seatFor(reader, email) : placeFor(reader, email, id));
  return place?.userId;
}

const setMember = rawChange<[string, number, string]>(
  `UPDATE application_users SET user_id = ?, reserved_email = NULL, reserved_profile = NULL, updated_at = ? WHERE id = ?`,
);

/** Makes a reservation a membership, of the person it was for. */
export async function redeemReservation(unit: Unit, memberId: string, userId: string): Promise<void> {
  await setMember(unit, userId, unit.now, memberId);
}

const takeStandIns = rawChange<[string, string]>(
  'UPDATE OR IGNORE workspace_members SET user_id = ?1 WHERE invited_email = ?2 AND user_id <> ?1',
);
const takeSeats = rawChange<[string]>(
  'UPDATE workspace_members SET invited_email = NULL WHERE user_id = ? AND invited_email IS NOT NULL',
);

/** The seats that are kept for a person, or for their address, are theirs from now on. */
export async function takeInvitedSeats(unit: Unit, { id, email }: Pick<User, 'id' | 'email'>): Promise<void> {
  await takeStandIns(unit, id, email);
  await takeSeats(unit, id);
}
