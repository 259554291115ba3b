/**
 * Reservations: memberships of people whom a workspace has named but never seen. Until they come, it must not learn
 * whether the server knows them, nor anything about them.
 *
 * - A reservation is a row of `application_users` with `reserved_email`. Grants, username and status work as for any
 *   member; the profile waits in `reserved_profile` (JSON).
 * - Its person is the holder of the address, else a person created with only the address, so that every workspace gets
 *   the same, final id. Deleting the user keeps the row: its status `deleted` blocks the address. Deleting the
 *   reservation removes the row but keeps the person, so that the address gets the same id again.
 * - Some addresses must not lead to their person: one they gave up, or a second one where the workspace already
 *   reserves another. Such an address gets a placeholder person, found by `placeholderEmail`, that nobody can sign in as.
 * - Management reads go through `asShown` (store/shown-member.ts), which replaces the person's data with the reserved data.
 * - The first sign-in to any application of the workspace clears both columns of all the person's rows there.
 *
 * Invitations to a workspace work alike, by `workspace_members.invited_email`, until the person comes to the console.
 */
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Metadata } from '../core/metadata.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, orm, prepared, query } from '../db/statements.ts';
import { unindexedWorkspaceId } from './applications.ts';
import { deleteOutcomesOf } from './bulk-changes.ts';
import { clearGrants } from './grants.ts';
import { insertMemberRow, type Member } from './members.ts';
import type { User } from './people.ts';
import { type Application, applications } from './schema/applications.ts';
import { applicationUsers, type ReservedProfile } from './schema/users.ts';
import { workspaceMembers } from './schema/workspace-members.ts';

export type { ReservedProfile } from './schema/users.ts';

/** `lastSeenAt` of somebody who has never come. */
export const NEVER = 0;

const { placeholder } = sql;

/** Returns the address of the placeholder account for an address that must not lead to its person. Receives no mail. */
export const placeholderEmail = (email: string, workspaceId: string): string => `${email}.${workspaceId}.invalid`;

const isIn = (reader: Reader, workspaceId: string) => eq(unindexedWorkspaceId(reader), workspaceId);

/** Returns those of the people who are or were members of an application of the workspace. */
export async function knownIn(reader: Reader, workspaceId: string, userIds: readonly string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await orm(reader)
    .selectDistinct({ userId: applicationUsers.userId })
    .from(applicationUsers)
    .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
    .where(
      and(
        inArray(applicationUsers.userId, [...userIds]),
        isIn(reader, workspaceId),
        isNull(applicationUsers.reservedEmail),
      ),
    );
  return new Set(rows.map(({ userId }) => userId));
}

const isMemberIn = query.exists<{ userId: string; workspaceId: string }>(
  `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = :userId AND a.workspace_id = :workspaceId AND m.reserved_email IS NULL LIMIT 1`,
);

/**
 * Returns language and time zone of a person for a mail from a workspace; null for a stranger, whom they would disclose
 * as known.
 * @param workspaceId null for the console, which everybody belongs to.
 */
export async function localeAndZoneShownTo(
  reader: Reader,
  workspaceId: string | null,
  person: Pick<User, 'id' | 'locale' | 'timezone'> | undefined,
): Promise<Pick<User, 'locale' | 'timezone'>> {
  const unknown = { locale: null, timezone: null };
  if (!person || (person.locale === null && person.timezone === null)) return unknown;
  const isShown = workspaceId === null || (await isMemberIn(reader, { userId: person.id, workspaceId }));
  return isShown ? person : unknown;
}

/** Returns the person's language alone; see `localeAndZoneShownTo`. */
export async function localeShownTo(
  reader: Reader,
  workspaceId: string | null,
  person: Pick<User, 'id' | 'locale'> | undefined,
): Promise<string | null> {
  return (await localeAndZoneShownTo(reader, workspaceId, person && { ...person, timezone: null })).locale;
}

/** A reservation or invitation of a workspace. */
export interface ReservedPlace {
  readonly email: string;
  readonly userId: string;
  /** True for the workspace itself, false for one of its applications. */
  readonly isSeat: boolean;
}

/** Returns a workspace's reservations and invitations for these addresses, or for these people at any address. */
export async function listReservedPlaces(
  reader: Reader,
  workspaceId: string,
  emails: readonly string[],
  userIds: readonly string[],
): Promise<ReservedPlace[]> {
  const reserved = sql<string>`${applicationUsers.reservedEmail}`;
  const invited = sql<string>`${workspaceMembers.invitedEmail}`;
  const places: ReservedPlace[] = [];
  const isReserved = [
    inArray(applicationUsers.reservedEmail, [...emails]),
    and(inArray(applicationUsers.userId, [...userIds]), isNotNull(applicationUsers.reservedEmail)),
  ];
  for (const condition of isReserved) {
    const rows = await orm(reader)
      .select({ email: reserved, userId: applicationUsers.userId })
      .from(applicationUsers)
      .innerJoin(applications, eq(applications.id, applicationUsers.applicationId))
      .where(and(condition, isIn(reader, workspaceId)));
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

export interface NewReservation {
  readonly applicationId: string;
  readonly userId: string;
  readonly username: string | null;
  readonly reservedEmail: string;
  readonly reservedProfile: ReservedProfile;
  readonly externalId?: string | null;
  readonly metadata?: Metadata | null;
}

/** Inserts a reservation without grants. The person must not have a membership in the application yet. */
export async function insertReservation(unit: Unit, reservation: NewReservation): Promise<Member> {
  return insertMemberRow(unit, { ...reservation, lastSeenAt: NEVER });
}

const deleteRow = change<string>('DELETE FROM application_users WHERE id = :id AND reserved_email IS NOT NULL', {
  rowId: 'id',
});

/** Deletes a reservation with its grants. The person stays, so that the address gets the same id again. */
export async function deleteReservation(unit: Unit, memberId: string): Promise<void> {
  await clearGrants(unit, [memberId]);
  await deleteOutcomesOf(unit, memberId);
  await deleteRow(unit, memberId);
}

/**
 * Returns whether the membership has sessions, keys, device grants, authorization codes or OpenID grants, open or
 * ended, from sign-ins through the workspace's provider. Their rows refer to it, so it cannot be deleted.
 */
export const hasBeenUsed = query.exists<string>(
  `SELECT 1 WHERE EXISTS (SELECT 1 FROM sessions WHERE application_user_id = :memberId)
     OR EXISTS (SELECT 1 FROM api_keys WHERE application_user_id = :memberId)
     OR EXISTS (SELECT 1 FROM device_grants WHERE application_user_id = :memberId)
     OR EXISTS (SELECT 1 FROM oauth_codes WHERE application_user_id = :memberId)
     OR EXISTS (SELECT 1 FROM oauth_grants WHERE application_user_id = :memberId)`,
);

const reservedForPerson = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(and(eq(applicationUsers.userId, placeholder('userId')), isNotNull(applicationUsers.reservedEmail)))
    .orderBy(applicationUsers.id)
    .prepare(),
);

/** Returns a person's reservations in every workspace. */
export function listReservationsOf(reader: Reader, userId: string): Promise<Member[]> {
  return reservedForPerson(reader, { userId });
}

/** `id` is null for a person who was only just created. */
type PersonOrAddress = Pick<User, 'email'> & { readonly id: string | null };

const reservedIn = query.values<string, PersonOrAddress & { workspaceId: string }>(
  ({ unindexed }) => `SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.user_id = :id AND m.reserved_email IS NOT NULL AND ${unindexed('a.workspace_id')} = :workspaceId
   UNION
   SELECT m.id FROM application_users m JOIN applications a ON a.id = m.application_id
   WHERE m.reserved_email = :email AND ${unindexed('a.workspace_id')} = :workspaceId`,
);

/** Returns a workspace's reservations for a person, or for their address under another id, oldest first. */
export async function listReservationsIn(
  reader: Reader,
  workspaceId: string,
  { id, email }: PersonOrAddress,
): Promise<Member[]> {
  const ids = await reservedIn(reader, { id, email, workspaceId });
  if (ids.length === 0) return [];
  return orm(reader)
    .select()
    .from(applicationUsers)
    .where(inArray(applicationUsers.id, ids))
    .orderBy(applicationUsers.id);
}

const reservedFor = query.value<string, { email: string; applicationId: string }>(
  'SELECT user_id FROM application_users WHERE reserved_email = :email AND application_id = :applicationId',
);
const invitedFor = query.value<string, string>(
  'SELECT user_id FROM workspace_members WHERE invited_email = :email LIMIT 1',
);

/** Returns the user id of an application's reservation for an address; for the console, of any invitation. */
export async function findPlaceHolder(
  reader: Reader,
  { id, workspaceId }: Pick<Application, 'id' | 'workspaceId'>,
  email: string,
): Promise<string | undefined> {
  return workspaceId === null ? invitedFor(reader, email) : reservedFor(reader, { email, applicationId: id });
}

/** Turns a reservation into a membership of this person. */
export const redeemReservation = change<{ memberId: string; userId: string }>(
  `UPDATE application_users SET user_id = :userId, reserved_email = NULL, reserved_profile = NULL, updated_at = :now
   WHERE id = :memberId`,
  { rowId: 'memberId' },
);

const takeStandIns = change<Pick<User, 'id' | 'email'>>(
  `UPDATE workspace_members SET user_id = :id WHERE invited_email = :email AND user_id <> :id AND NOT EXISTS (
     SELECT 1 FROM workspace_members o WHERE o.workspace_id = workspace_members.workspace_id AND o.user_id = :id)`,
  { rowId: 'id' },
);
const takeSeats = change<string>(
  'UPDATE workspace_members SET invited_email = NULL WHERE user_id = :id AND invited_email IS NOT NULL',
  { rowId: 'id' },
);

/** Accepts all workspace invitations of a person or their address. */
export async function acceptInvitations(unit: Unit, { id, email }: Pick<User, 'id' | 'email'>): Promise<void> {
  await takeStandIns(unit, { id, email });
  await takeSeats(unit, id);
}
