/** People and the synthetic principals of API keys (`users`), and the addresses that once were theirs. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import { only, required } from '../core/required.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared, raw } from '../db/statements.ts';
import { updateOne } from './one-row.ts';
import { emailAliases, users } from './schema/users.ts';

const { placeholder } = sql;

export type User = typeof users.$inferSelect;

/** The parts of a profile that others can offer. */
export type InitialProfile = Pick<User, 'givenName' | 'familyName' | 'fullName' | 'locale' | 'timezone'>;

const userById = prepared((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.id, placeholder('id')))
    .prepare(),
);

/** People who have deleted their account and the principals of keys as well. */
export async function findUser(reader: Reader, id: string): Promise<User | undefined> {
  const [user] = await userById(reader, { id });
  return user;
}

/** Of a person, or the principal of a key, that something else refers to. */
export async function requireUser(reader: Reader, id: string): Promise<User> {
  return required(await findUser(reader, id), `user ${id}`);
}

const userByEmail = prepared((db) =>
  db
    .select()
    .from(users)
    .where(eq(users.email, placeholder('email')))
    .prepare(),
);

/** @param email normalised, as all addresses here. */
export async function findUserByEmail(reader: Reader, email: string): Promise<User | undefined> {
  const [user] = await userByEmail(reader, { email });
  return user;
}

/** Those among the addresses that are somebody's present one, by address. */
export async function findUsersByEmail(reader: Reader, emails: readonly string[]): Promise<Map<string, User>> {
  if (emails.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(users)
    .where(inArray(users.email, [...emails]));
  return new Map(rows.map((user) => [user.email, user]));
}

const emailOfPerson = raw<{ email: string }, [string, string | null]>(
  `SELECT coalesce(m.reserved_email, u.email) AS email
   FROM users u LEFT JOIN application_users m ON m.user_id = u.id AND m.application_id = +?2
   WHERE u.id = +?1 AND u.kind = 'person'`,
);

/**
 * Null for the principal of a key, and for nobody.
 *
 * @param applicationId where a place is kept for them, the address it is kept for is the one the application may know.
 */
export async function findEmailOfPerson(
  reader: Reader,
  id: string,
  applicationId: string | null,
): Promise<string | null> {
  const [row] = await emailOfPerson(reader, id, applicationId);
  return row?.email ?? null;
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

/** Without a profile. @param isEmailProven whether the person has shown that they hold the address. */
export function insertPerson(unit: Unit, email: string, isEmailProven: boolean): Promise<User> {
  const emailVerifiedAt = isEmailProven ? unit.now : null;
  return insertUser(unit, { kind: 'person', email, emailVerifiedAt, name: null, ...NO_PROFILE });
}

/** The synthetic principal of an API key; its address can neither receive mail nor collide with a person's. */
export function insertKeyPrincipal(unit: Unit, keyId: string, name: string): Promise<User> {
  const email = `${keyId}@api-key.invalid`;
  return insertUser(unit, { kind: 'api_key', email, emailVerifiedAt: null, name, ...NO_PROFILE });
}

async function insertUser(
  unit: Unit,
  fields: Pick<User, 'kind' | 'email' | 'emailVerifiedAt' | 'name'> & InitialProfile,
): Promise<User> {
  return only(await insertRow(unit, { id: newId('user', unit.now), now: unit.now, ...fields }));
}

/** Changes what is named, and the time of the last change where that is not named too. @returns the row as it is now. */
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

/** Whose address this was once; such an address never founds another account. */
export async function findAliasHolder(reader: Reader, email: string): Promise<string | undefined> {
  const [alias] = await aliasByEmail(reader, { email });
  return alias?.userId;
}

/** Those among the addresses that were somebody's once, with whose. */
export async function findAliasHolders(reader: Reader, emails: readonly string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map();
  const rows = await orm(reader)
    .select({ email: emailAliases.email, userId: emailAliases.userId })
    .from(emailAliases)
    .where(inArray(emailAliases.email, [...emails]));
  return new Map(rows.map(({ email, userId }) => [email, userId]));
}

const aliasesOf = raw<{ email: string }, [string]>('SELECT email FROM email_aliases WHERE user_id = ?');

/** The addresses a person had before the present one. */
export async function listAliasesOf(reader: Reader, userId: string): Promise<string[]> {
  return (await aliasesOf(reader, userId)).map(({ email }) => email);
}

/** Archives an address that is no longer a person's. */
export async function insertAlias(unit: Unit, email: string, userId: string): Promise<void> {
  await orm(unit).insert(emailAliases).values({ email, userId, archivedAt: unit.now });
}

/** Who has this address, or had it once. */
export async function findHolder(reader: Reader, email: string): Promise<User | undefined> {
  const holder = await findUserByEmail(reader, email);
  if (holder) return holder;
  const formerId = await findAliasHolder(reader, email);
  return formerId === undefined ? undefined : findUser(reader, formerId);
}

/** Whether somebody else has this address, or had it once; one's own of before may be taken up again. */
export async function isAddressOfAnother(reader: Reader, email: string, userId: string): Promise<boolean> {
  const holder = await findHolder(reader, email);
  return holder !== undefined && holder.id !== userId;
}

/** Those among the addresses that were this person's are nobody's any more. */
export async function deleteAliases(unit: Unit, userId: string, emails: readonly string[]): Promise<void> {
  await orm(unit)
    .delete(emailAliases)
    .where(and(eq(emailAliases.userId, userId), inArray(emailAliases.email, [...emails])));
}

/** For an address that its former holder takes up again. */
export async function deleteAlias(unit: Unit, email: string): Promise<void> {
  await orm(unit).delete(emailAliases).where(eq(emailAliases.email, email));
}
