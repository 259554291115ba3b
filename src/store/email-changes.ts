/** Changes of e-mail addresses that can still be undone. Only the hash of the undo token is stored. */
import type { Reader, Unit } from '../db/database.ts';
import { raw, rawChange } from '../db/statements.ts';

export interface EmailChange {
  readonly id: number;
  readonly userId: string;
  /** The application where the change was requested. */
  readonly applicationId: string;
  readonly previousEmail: string;
  readonly createdAt: number;
}

export interface NewEmailChange extends Omit<EmailChange, 'id' | 'createdAt'> {
  readonly tokenHash: Uint8Array;
  readonly expiresAt: number;
}

const insertRow = rawChange<[Uint8Array, string, string, string, number, number]>(
  `INSERT INTO email_changes (token_hash, user_id, application_id, previous_email, created_at, expires_at)
   VALUES (?, ?, ?, ?, ?, ?)`,
);

/** Inserts a change; later changes have higher ids. */
export async function insertEmailChange(unit: Unit, change: NewEmailChange): Promise<void> {
  const { tokenHash, userId, applicationId, previousEmail, expiresAt } = change;
  await insertRow(unit, tokenHash, userId, applicationId, previousEmail, unit.now, expiresAt);
}

const openByHash = raw<EmailChange, [Uint8Array, number]>(
  `SELECT id, user_id AS "userId", application_id AS "applicationId", previous_email AS "previousEmail", created_at AS "createdAt"
   FROM email_changes WHERE token_hash = ? AND settled_at IS NULL AND expires_at > ?`,
);

/** Returns the change with this token if it is neither settled nor expired. */
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

/** Returns the id of the application where the change with this token was requested, settled or not. */
export async function findApplicationOfEmailChange(reader: Reader, tokenHash: Uint8Array): Promise<string | undefined> {
  const [row] = await applicationByHash(reader, tokenHash);
  return row?.applicationId;
}

const settleFrom = raw<{ previousEmail: string }, [number, string, number]>(
  `UPDATE email_changes SET settled_at = coalesce(settled_at, ?) WHERE user_id = ? AND id >= ?
   RETURNING previous_email AS "previousEmail"`,
);

/** Settles a change and later ones of the person, whose links stop working. @returns the previous addresses. */
export async function settleEmailChanges(unit: Unit, { userId, id }: EmailChange): Promise<string[]> {
  return (await settleFrom(unit, unit.now, userId, id)).map(({ previousEmail }) => previousEmail);
}

const openUntil = raw<{ until: number | null }, [string, number]>(
  'SELECT max(expires_at) AS until FROM email_changes WHERE user_id = ? AND settled_at IS NULL AND expires_at > ?',
);

/** Returns until when a change of the person's address can be undone; null if none can. */
export async function findUndoEnd(reader: Reader, userId: string, now: number): Promise<number | null> {
  const [row] = await openUntil(reader, userId, now);
  return row?.until ?? null;
}

const deleteRowsOf = rawChange<[string]>('DELETE FROM email_changes WHERE user_id = ?');

export async function deleteEmailChangesOf(unit: Unit, userId: string): Promise<void> {
  await deleteRowsOf(unit, userId);
}
