/** Usernames and external ids of members. Each is unique in its application; unique indexes decide races. */
import { and, eq, inArray } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { isUniqueViolation } from '../db/errors.ts';
import { change, orm, query, savepoint } from '../db/statements.ts';
import { applicationUsers } from './schema/users.ts';

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

/** Returns the user ids of the members with these external ids. */
export async function findExternalIdHolders(
  reader: Reader,
  applicationId: string,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  if (externalIds.length === 0) return new Map();
  const { externalId, userId } = applicationUsers;
  const rows = await orm(reader)
    .select({ externalId, userId })
    .from(applicationUsers)
    .where(and(eq(applicationUsers.applicationId, applicationId), inArray(externalId, [...externalIds])));
  return new Map(rows.flatMap(({ externalId: id, userId: holder }) => (id === null ? [] : [[id, holder]])));
}

/** Returns the id of the membership with this external id. */
export const findMemberIdByExternalId = query.value<string, { applicationId: string; externalId: string }>(
  'SELECT id FROM application_users WHERE application_id = :applicationId AND external_id = :externalId',
);

const setUsername = change<{ memberId: string; username: string | null }>(
  'UPDATE application_users SET username = :username, updated_at = :now WHERE id = :memberId',
  { rowId: 'memberId' },
);

/** Sets the username; the unique index decides races. @returns false, without a change, if it is taken. */
export function changeUsername(unit: Unit, memberId: string, username: string | null): Promise<boolean> {
  return unlessTaken(unit, () => setUsername(unit, { memberId, username }));
}

const setExternalId = change<{ memberId: string; externalId: string | null }>(
  'UPDATE application_users SET external_id = :externalId, updated_at = :now WHERE id = :memberId',
  { rowId: 'memberId' },
);

/** Sets the external id; the unique index decides races. @returns false, without a change, if it is taken. */
export function changeExternalId(unit: Unit, memberId: string, externalId: string | null): Promise<boolean> {
  return unlessTaken(unit, () => setExternalId(unit, { memberId, externalId }));
}

async function unlessTaken(unit: Unit, set: () => Promise<unknown>): Promise<boolean> {
  try {
    await savepoint(unit, set);
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}
