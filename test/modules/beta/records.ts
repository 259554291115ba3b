/** Reads from the database what a call has written. */
import type { Instance } from '../../support/instance.ts';
import { allRows } from '../../support/stored.ts';

/**
 * Reads every row of every table once the queued mails are sent, to prove that nothing changed.
 * Counters of rate limits do not count as a change.
 */
export async function databaseOf({ sqlite, services }: Instance): Promise<Record<string, unknown[]>> {
  await services.mail.runOnce();
  return allRows(sqlite);
}

export interface StoredMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Reads every queued mail, oldest first. */
export function mailsOf({ sqlite }: Instance): StoredMail[] {
  return sqlite.query('SELECT recipient AS "to", subject, text FROM mails ORDER BY rowid').all() as StoredMail[];
}

export interface StoredAudit {
  readonly kind: string;
  readonly applicationId: string | null;
  readonly workspaceId: string | null;
  readonly actorUserId: string | null;
  readonly targetId: string | null;
  readonly requestId: string | null;
  readonly email: string | null;
  readonly detail: unknown;
}

/** Reads the audit records, oldest first, without the first `skip`. */
export function auditsOf({ sqlite }: Instance, skip = 0): StoredAudit[] {
  const rows = sqlite
    .query(
      `SELECT kind, application_id AS applicationId, workspace_id AS workspaceId, actor_user_id AS actorUserId,
         target_id AS targetId, request_id AS requestId, email, detail FROM audit_records ORDER BY rowid`,
    )
    .all() as (StoredAudit & { detail: string | null })[];
  return rows.slice(skip).map((row) => ({ ...row, detail: row.detail === null ? null : JSON.parse(row.detail) }));
}

/** Returns the user that a workspace key acts as. */
export function workspaceKeyUserId({ sqlite, workspaceId }: Instance): string {
  const row = sqlite
    .query(
      `SELECT m.user_id AS userId FROM api_keys k JOIN application_users m ON m.id = k.application_user_id
       WHERE k.workspace_id = ? AND k.application_id IS NULL ORDER BY k.rowid LIMIT 1`,
    )
    .get(workspaceId);
  return (row as { userId: string }).userId;
}
