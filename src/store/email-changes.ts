/** Changes of e-mail addresses that can still be undone. Only the hash of the undo token is stored. */
import { change, query } from '../db/statements.ts';

export interface EmailChange {
  readonly id: number;
  readonly userId: string;
  readonly applicationId: string;
  readonly previousEmail: string;
  readonly createdAt: number;
}

export interface NewEmailChange extends Omit<EmailChange, 'id' | 'createdAt'> {
  readonly tokenHash: Uint8Array;
  readonly expiresAt: number;
}

/** Inserts a change; later changes have higher ids. */
export const insertEmailChange = change<NewEmailChange>(
  `INSERT INTO email_changes (token_hash, user_id, application_id, previous_email, created_at, expires_at)
   VALUES (:tokenHash, :userId, :applicationId, :previousEmail, :now, :expiresAt)`,
);

/** Returns the change with this token if it is neither settled nor expired. */
export const findOpenEmailChange = query.row<EmailChange, { tokenHash: Uint8Array; now: number }>(
  `SELECT id, user_id AS "userId", application_id AS "applicationId", previous_email AS "previousEmail", created_at AS "createdAt"
   FROM email_changes WHERE token_hash = :tokenHash AND settled_at IS NULL AND expires_at > :now`,
);

/** Returns the id of the application where the change with this token was requested, settled or not. */
export const findApplicationOfEmailChange = query.value<string, Uint8Array>(
  'SELECT application_id FROM email_changes WHERE token_hash = :tokenHash',
);

/** Settles a change and later ones of the person, whose links stop working. @returns the previous addresses. */
export const settleEmailChanges = change.values<string, EmailChange>(
  `UPDATE email_changes SET settled_at = coalesce(settled_at, :now) WHERE user_id = :userId AND id >= :id
   RETURNING previous_email`,
);

/** Returns until when a change of the person's address can be undone; null if none can. */
export const findUndoEnd = query.aggregate<number | null, { userId: string; now: number }>(
  'SELECT max(expires_at) FROM email_changes WHERE user_id = :userId AND settled_at IS NULL AND expires_at > :now',
);

export const deleteEmailChangesOf = change<string>('DELETE FROM email_changes WHERE user_id = :userId');
