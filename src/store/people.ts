/** People and the synthetic principals of API keys (`users`), and former addresses. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { onlyOne, required } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { hold, orm, prepared, query } from '../db/statements.ts';
import { updateOne } from './one-row.ts';
import { emailAliases, users } from './schema/users.ts';

const { placeholder } = sql;

export type User = typeof users.$inferSelect;

/** Profile fields that importers and providers may supply. */
export type InitialProfile = Pick<User, 'givenName' | 'familyName' | 'fullName' | 'locale' | 'timezone'>;

const userById = prepared((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.id, placeholder('id')))
    .prepare(),
);

/** Returns a user, including deleted people and key principals. */
export async function findUser(reader: Reader, id: string): Promise<User | undefined> {
  const [user] = await userById(reader, { id });
  return user;
}

/** Returns a user that another row refers to. @throws if it is missing. */
export async function requireUser(reader: Reader, id: string): Promise<User> {
  return required(await findUser(reader, id), `user ${id}`);
}

/** Columns of an account that OpenID claims have besides its envelope. */
export type ClaimsUser = Pick<User, 'emailVerifiedAt' | 'locale' | 'timezone'>;

const claimsUser = query.row<ClaimsUser, string>(
  'SELECT email_verified_at AS "emailVerifiedAt", locale, timezone FROM users WHERE id = :id',
);

/** @throws if the account is missing. */
export async function requireClaimsUser(reader: Reader, id: string): Promise<ClaimsUser> {
  return required(await claimsUser(reader, id), `user ${id}`);
}

const userByEmail = prepared((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.email, placeholder('email')))
    .prepare(),
);

/** @param email normalized, like every address in this file. */
export async function findUserByEmail(reader: Reader, email: string): Promise<User | undefined> {
  const [user] = await userByEmail(reader, { email });
  return user;
}

/** Holds the account with this address. */
export const holdPerson = hold<string>('UPDATE users SET email = email WHERE email = :email');

/** Returns the users whose current address is in the list, by address. */
export async function findUsersByEmail(reader: Reader, emails: readonly string[]): Promise<Map<string, User>> {
  if (emails.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(users)
    .where(inArray(users.email, [...emails]));
  return new Map(rows.map((user) => [user.email, user]));
}

const emailOfPerson = query.value<string, { id: string; applicationId: string | null }>(
  `SELECT coalesce(m.reserved_email, u.email)
   FROM users u LEFT JOIN application_users m ON m.user_id = u.id AND m.application_id = :applicationId
   WHERE u.id = :id AND u.kind = 'person'`,
);

/**
 * Returns a person's address; null for a key principal or an unknown id.
 * @param applicationId where reserved, returns the reserved address: the application may see no other.
 */
export async function findEmailOfPerson(
  reader: Reader,
  id: string,
  applicationId: string | null,
): Promise<string | null> {
  return (await emailOfPerson(reader, { id, applicationId })) ?? null;
}

const insertRow = prepared((db) =>
  db
    .insert(users)
    .values({
      id: placeholder('id'),
      kind: placeholder('kind'),
      email: placeholder('email'),
      emailVerifiedAt: placeholder('emailVerifiedAt'),
      name: placeholder('name'),
      givenName: placeholder('givenName'),
      familyName: placeholder('familyName'),
      fullName: placeholder('fullName'),
      locale: placeholder('locale'),
      timezone: placeholder('timezone'),
      createdAt: placeholder('now'),
      updatedAt: placeholder('now'),
    })
    .returning()
    .prepare(),
);

const NO_PROFILE: InitialProfile = { givenName: null, familyName: null, fullName: null, locale: null, timezone: null };

/** Inserts a person. @param isEmailProven whether the person has proved the address. */
export function insertPerson(
  unit: Unit,
  email: string,
  isEmailProven: boolean,
  profile: Partial<InitialProfile> = {},
): Promise<User> {
  const emailVerifiedAt = isEmailProven ? unit.now : null;
  return insertUser(unit, { kind: 'person', email, emailVerifiedAt, name: null, ...NO_PROFILE, ...profile });
}

/** Inserts the synthetic principal of an API key. Its address cannot receive mail or collide with a person's. */
export function insertKeyPrincipal(unit: Unit, keyId: string, name: string): Promise<User> {
  const email = `${keyId}@api-key.invalid`;
  return insertUser(unit, { kind: 'api_key', email, emailVerifiedAt: null, name, ...NO_PROFILE });
}

async function insertUser(
  unit: Unit,
  fields: Pick<User, 'kind' | 'email' | 'emailVerifiedAt' | 'name'> & InitialProfile,
): Promise<User> {
  return onlyOne(await insertRow(unit, { id: newId('user', unit.now), now: unit.now, ...fields }));
}

export function updateUser(unit: Unit, id: string, columns: Partial<Omit<User, 'id'>>): Promise<User> {
  return updateOne(unit, users, id, { updatedAt: unit.now, ...columns });
}

const aliasByEmail = prepared((db) =>
  db
    .select({ userId: emailAliases.userId })
    .from(emailAliases)
    .where(eq(emailAliases.email, placeholder('email')))
    .prepare(),
);

/** Returns the user whose former address this is; a former address never creates another account. */
export async function findAliasHolder(reader: Reader, email: string): Promise<string | undefined> {
  const [alias] = await aliasByEmail(reader, { email });
  return alias?.userId;
}

/** Returns the user ids of those addresses that are former ones, by address. */
export async function findAliasHolders(reader: Reader, emails: readonly string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map();
  const rows = await orm(reader)
    .select({ email: emailAliases.email, userId: emailAliases.userId })
    .from(emailAliases)
    .where(inArray(emailAliases.email, [...emails]));
  return new Map(rows.map(({ email, userId }) => [email, userId]));
}

export const listAliasesOf = query.values<string, string>('SELECT email FROM email_aliases WHERE user_id = :userId');

export async function insertAlias(unit: Unit, email: string, userId: string): Promise<void> {
  await orm(unit).insert(emailAliases).values({ email, userId, archivedAt: unit.now });
}

/** Returns who has this address now, or had it. */
export async function findHolder(reader: Reader, email: string): Promise<User | undefined> {
  const holder = await findUserByEmail(reader, email);
  if (holder) return holder;
  const formerId = await findAliasHolder(reader, email);
  return formerId === undefined ? undefined : findUser(reader, formerId);
}

/** Returns whether somebody else has or had the address; a person may reclaim their own. */
export async function isAddressOfAnother(reader: Reader, email: string, userId: string): Promise<boolean> {
  const holder = await findHolder(reader, email);
  return holder !== undefined && holder.id !== userId;
}

/** Releases those addresses that were this person's former ones. */
export async function deleteAliases(unit: Unit, userId: string, emails: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(emailAliases)
    .where(and(eq(emailAliases.userId, userId), inArray(emailAliases.email, [...emails])));
}

/** Deletes a former address that its holder reclaims. */
export async function deleteAlias(unit: Unit, email: string): Promise<void> {
  await orm(unit).delete(emailAliases).where(eq(emailAliases.email, email));
}
