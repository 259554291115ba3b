/**
 * Profiles of unproved members. A workspace's own identity provider proves an address only there, so its members keep
 * their reservation (`reserved_email`). Their profile is a separate row of `users` per person and workspace, which
 * nobody can sign in as, and the person's own record does not change until its holder comes.
 */
import { eq, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { change, changeReturningIds, ormFor, prepared } from '../db/statements.ts';
import type { Member } from './members.ts';
import { findUserByEmail, insertPerson, type User } from './people.ts';
import { applicationUsers, users } from './schema/users.ts';

const { placeholder } = sql;

/** Returns the account whose profile a membership shows and edits: the person's own, or the unproved member's. */
export function profileIdOf({ userId, profileUserId }: Pick<Member, 'userId' | 'profileUserId'>): string {
  return profileUserId ?? userId;
}

/** Returns whether somebody has signed in to this membership; false for a pending reservation. */
export function hasSignedIn({
  reservedEmail,
  profileUserId,
}: Pick<Member, 'reservedEmail' | 'profileUserId'>): boolean {
  return reservedEmail === null || profileUserId !== null;
}

/** Cannot receive mail or collide with a person's address. */
const profileEmail = (personId: string, workspaceId: string) => `${personId}.${workspaceId}@unproved.invalid`;

export interface EnsuredProfile {
  readonly profile: User;
  readonly isNew: boolean;
}

/** Returns a person's unproved profile in a workspace, and creates a blank one if there is none. */
export async function ensureUnprovedProfile(
  unit: Unit,
  personId: string,
  workspaceId: string,
): Promise<EnsuredProfile> {
  const email = profileEmail(personId, workspaceId);
  const profile = await findUserByEmail(unit, email);
  return profile ? { profile, isNew: false } : { profile: await insertPerson(unit, email, false), isNew: true };
}

/** Assigns a reservation to the person that the provider signed in, with this profile. */
export const takeReservation = change<{ memberId: string; userId: string; profileId: string }>(
  `UPDATE application_users SET user_id = :userId, profile_user_id = :profileId, updated_at = :now,
     reserved_email = coalesce(reserved_email, (SELECT email FROM users WHERE id = :userId)) WHERE id = :memberId`,
  { rowId: 'memberId' },
);

const unprovedOfPerson = prepared((db) =>
  db
    .select()
    .from(applicationUsers)
    .where(sql`${applicationUsers.userId} = ${placeholder('userId')} AND ${applicationUsers.profileUserId} IS NOT NULL`)
    .orderBy(applicationUsers.id)
    .prepare(),
);

/** Returns a person's memberships through workspace providers, in every workspace, oldest first. */
export function listUnprovedMembers(reader: Reader, userId: string): Promise<Member[]> {
  return unprovedOfPerson(reader, { userId });
}

/** Turns the memberships that show this profile back into reservations whose holder has never come. */
export const returnToReservations = changeReturningIds<string>(
  `UPDATE application_users SET profile_user_id = NULL, last_seen_at = 0, updated_at = :now
   WHERE profile_user_id = :profileId RETURNING id`,
);

/** Deletes the row. Its pictures, languages, addresses and legal entities must be deleted first. */
export async function deleteUnprovedProfile(unit: Unit, profileId: string): Promise<void> {
  await ormFor(unit, [profileId]).delete(users).where(eq(users.id, profileId));
}
