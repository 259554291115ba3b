/** Changes of people's addresses that can still be undone. Only the hash of the link's token is kept. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

/** A change, with the address before it. */
export interface EmailChange {
  readonly id: number;
  readonly userId: string;
  /** Where it was asked for. */
  readonly applicationId: string;
  readonly previousEmail: string;
  readonly createdAt: number;
}

/** A change with the hash of its token, never the token. */
export interface NewEmailChange extends Omit<EmailChange, 'id' | 'createdAt'> {
  readonly tokenHash: Uint8Array;
  readonly expiresAt: number;
}

const insertRow = rawChange<[Uint8Array, string, string, string, number, number]>(
  `INSERT INTO email_changes (token_hash, user_id, application_id, previous_email, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?)`,
);

/** Later ones have higher ids. */
export async function insertEmailChange(unit: Unit, change: NewEmailChange): Promise<void> {
  const { tokenHash, userId, applicationId, previousEmail, expiresAt } = change;
  await insertRow(unit, tokenHash, userId, applicationId, previousEmail, unit.now, expiresAt);
}

const openByHash = raw<EmailChange, [Uint8Array, number]>(
  `SELECT id, user_id AS "userId", application_id AS "applicationId", previous_email AS "previousEmail", created_at AS "createdAt"
   FROM email_changes WHERE token_hash = ? AND settled_at IS NULL AND expires_at > ?`,
);

/** By its token, where it is neither settled nor too old. */
export async function findOpenEmailChange(
  reader: Reader,
  tokenHash: Uint8Array,
  now: number,
): Promise<EmailChange | undefined> {
  const [change] = await openByHash(reader, tokenHash, now);
  return change;
}

const applicationByHash = raw<{ applicationId: string }, [Uint8Array]>(
  'SELECT application_id AS "applicationId" FROM email_changes WHERE token_hash = ?',
);

/** Returns the id of the application where a change was asked for, by its token, spent or not. */
export async function findApplicationOfEmailChange(reader: Reader, tokenHash: Uint8Array): Promise<string | undefined> {
  const [row] = await applicationByHash(reader, tokenHash);
  return row?.applicationId;
}

const settleFrom = raw<{ previousEmail: string }, [number, string, number]>(
  `UPDATE email_changes SET settled_at = coalesce(settled_at, ?) WHERE user_id = ? AND id >= ?
   RETURNING previous_email AS "previousEmail"`,
);

/**
 * Settles a change and all later ones of its person, whose links do nothing any more.
 *
 * @returns the address before each of them.
 */
export async function settleEmailChanges(unit: Unit, { userId, id }: EmailChange): Promise<string[]> {
  return (await settleFrom(unit, unit.now, userId, id)).map(({ previousEmail }) => previousEmail);
}

const openUntil = raw<{ until: number | null }, [string, number]>(
  'SELECT max(expires_at) AS until FROM email_changes WHERE user_id = ? AND settled_at IS NULL AND expires_at > ?',
);

/** Until when a change of a person's address can still be undone; null where none can. */
export async function findUndoEnd(reader: Reader, userId: string, now: number): Promise<number | null> {
  const [row] = await openUntil(reader, userId, now);
  return row?.until ?? null;
}

const deleteRowsOf = rawChange<[string]>('DELETE FROM email_changes WHERE user_id = ?');

/** All of a person who is gone. */
export async function deleteEmailChangesOf(unit: Unit, userId: string): Promise<void> {
  await deleteRowsOf(unit, userId);
}
