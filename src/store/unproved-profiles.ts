/**
 * Profiles of members whose address is not proved. A workspace's own identity provider proves an address in that workspace
 * only, so its members keep their reservation (`reserved_email`). Their profile is a row of `users` of its own, one for each
 * person and workspace, and nobody can sign in as it: the person's own record stays as it is until its holder comes.
 */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, rawChange } from '../db/statements.ts';
import type { Member } from './members.ts';
import { findUserByEmail, insertPerson, type User } from './people.ts';
import { applicationUsers, users } from './schema/users.ts';

const { placeholder } = sql;

/** The account whose profile a membership shows and writes: the person's own, or that of the unproved member. */
export function profileIdOf({ userId, profileUserId }: Pick<Member, 'userId' | 'profileUserId'>): string {
  return profileUserId ?? userId;
}

/** Whether somebody has signed in to this membership; false for a reservation that still waits. */
export function hasSignedIn({
  reservedEmail,
  profileUserId,
}: Pick<Member, 'reservedEmail' | 'profileUserId'>): boolean {
  return reservedEmail === null || profileUserId !== null;
}

/** Mail to it reaches nobody, and no address that a person can have collides with it. */
const profileEmail = (personId: string, workspaceId: string) => `${personId}.${workspaceId}@unproved.invalid`;

/** A profile, and whether it was made just now. */
export interface EnsuredProfile {
  readonly profile: User;
  readonly isNew: boolean;
}

/** Returns the unproved profile of a person in a workspace, made blank where there is none. */
export async function ensureUnprovedProfile(
  unit: Unit,
  personId: string,
  workspaceId: string,
): Promise<EnsuredProfile> {
  const email = profileEmail(personId, workspaceId);
  const profile = await findUserByEmail(unit, email);
  return profile ? { profile, isNew: false } : { profile: await insertPerson(unit, email, false), isNew: true };
}

const setProfile = rawChange<[string, string, number, string]>(
  `UPDATE application_users SET user_id = ?1, profile_user_id = ?2, updated_at = ?3,
     reserved_email = coalesce(reserved_email, (SELECT email FROM users WHERE id = ?1)) WHERE id = ?4`,
);

/** Gives a reservation to the person who came by the provider's word, with that profile. */
export async function takeReservation(unit: Unit, memberId: string, userId: string, profileId: string): Promise<void> {
  await setProfile(unit, userId, profileId, unit.now, memberId);
}

const unprovedOfPerson = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(sql`${applicationUsers.userId} = ${placeholder('userId')} AND ${applicationUsers.profileUserId} IS NOT NULL`)
    .orderBy(applicationUsers.id)
    .prepare(),
);

/** A person's memberships by the word of a provider, in every workspace; oldest first. */
export function listUnprovedMembers(reader: Reader, userId: string): Promise<Member[]> {
  return unprovedOfPerson(reader, { userId });
}

const dropProfile = rawChange<[number, string]>(
  'UPDATE application_users SET profile_user_id = NULL, last_seen_at = 0, updated_at = ? WHERE profile_user_id = ?',
);

/** Makes the memberships that show this profile reservations again: their holder has never come. */
export async function returnToReservations(unit: Unit, profileId: string): Promise<void> {
  await dropProfile(unit, unit.now, profileId);
}

/** Deletes the row itself; its pictures, languages, addresses and entities must be gone. */
export async function deleteUnprovedProfile(unit: Unit, profileId: string): Promise<void> {
  await orm(unit).delete(users).where(eq(users.id, profileId));
}
