/** WebAuthn credentials of people, each valid in one workspace's applications or in all. */
import { and, asc, eq, gte, inArray, lt, or, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { insertOne } from './one-row.ts';
import { type Passkey, passkeys } from './schema/passkeys.ts';

export type { Passkey } from './schema/passkeys.ts';

const { placeholder } = sql;

/** Stored name of a passkey that nobody has named; people read it in their own language. */
export const UNNAMED_PASSKEY = 'Passkey';

/** Returns the name that the person or the passkey's provider gave; null if there is none. */
export function givenName({ name }: Pick<Passkey, 'name'>): string | null {
  return name === UNNAMED_PASSKEY ? null : name;
}

const passkeyByCredential = prepared((db) =>
  db
    .select()
    .from(passkeys)
    .where(eq(passkeys.credentialId, placeholder('credentialId')))
    .prepare(),
);

export async function findPasskey(reader: Reader, credentialId: Buffer): Promise<Passkey | undefined> {
  const [row] = await passkeyByCredential(reader, { credentialId });
  return row;
}

/** Returns a passkey of this person; undefined for anyone else's. */
export async function findPasskeyOf(reader: Reader, userId: string, id: string): Promise<Passkey | undefined> {
  const [row] = await orm(reader)
    .select()
    .from(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)));
  return row;
}

const passkeysByUser = prepared((db) =>
  db
    .select()
    .from(passkeys)
    .where(eq(passkeys.userId, placeholder('userId')))
    .orderBy(asc(passkeys.id))
    .prepare(),
);

/** Returns a person's passkeys, oldest first. */
export function listPasskeysOf(reader: Reader, userId: string): Promise<Passkey[]> {
  return passkeysByUser(reader, { userId });
}

/** Inserts a passkey. Its credential id must be unique in the instance. */
export function insertPasskey(unit: Unit, passkey: Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>): Promise<Passkey> {
  return insertOne(unit, passkeys, { id: newId('passkey', unit.now), ...passkey, createdAt: unit.now });
}

export async function renamePasskey(unit: Unit, id: string, name: string): Promise<void> {
  await orm(unit).update(passkeys).set({ name }).where(eq(passkeys.id, id));
}

/** Deletes a passkey. The caller ends the sessions that depend on it. */
export async function deletePasskey(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(passkeys).where(eq(passkeys.id, id));
}

/** Deletes a person's passkeys created at or after a time, and the ids in `more`. @returns the number deleted. */
export async function deletePasskeysSince(
  unit: Unit,
  userId: string,
  since: number,
  more: readonly string[],
): Promise<number> {
  const deleted = await orm(unit)
    .delete(passkeys)
    .where(and(eq(passkeys.userId, userId), or(gte(passkeys.createdAt, since), inArray(passkeys.id, more))))
    .returning({ id: passkeys.id });
  return deleted.length;
}

export async function deletePasskeysOf(unit: Unit, userId: string): Promise<void> {
  await orm(unit).delete(passkeys).where(eq(passkeys.userId, userId));
}

export interface PasskeyUse {
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** Records a use. @returns false if the passkey was removed, or its counter neither grows nor stays at zero. */
export async function countPasskeyUse(unit: Unit, id: string, { counter, isBackedUp }: PasskeyUse): Promise<boolean> {
  const grows = lt(passkeys.counter, counter);
  const isAccepted = counter === 0 ? or(grows, eq(passkeys.counter, 0)) : grows;
  const updated = await orm(unit)
    .update(passkeys)
    .set({ counter, isBackedUp, lastUsedAt: unit.now })
    .where(and(eq(passkeys.id, id), isAccepted))
    .returning({ id: passkeys.id });
  return updated.length > 0;
}
