/** Which application had a mail sent, from what was written about its recipient in the same change. */
import type { Reader } from '../db/database.ts';
import { raw } from '../db/statements.ts';
import { type Mail, MAIL_LANES } from './mails.ts';

/** Where a mail came from. */
export interface MailOrigin {
  readonly applicationId: string;
  readonly workspaceId: string | null;
}

// Only what the application holds about this address counts, so that none learns of an address that it did not have.
const origins = raw<MailOrigin, [string, number, number]>(
  `SELECT a.id AS "applicationId", a.workspace_id AS "workspaceId" FROM applications a WHERE a.id IN (
     SELECT application_id FROM code_challenges WHERE email = ?1 AND created_at = ?2
     UNION SELECT application_id FROM audit_records WHERE created_at = ?2 AND email = ?1
     UNION SELECT application_id FROM beta_interests WHERE email = ?1 AND ?3 = ${MAIL_LANES.bulk})
   LIMIT 2`,
);

/** @returns undefined where it was none, or cannot be told: mails to many by two applications that the same person waits for. */
export async function findMailOrigin(
  reader: Reader,
  { recipient, createdAt, lane }: Pick<Mail, 'recipient' | 'createdAt' | 'lane'>,
): Promise<MailOrigin | undefined> {
  const [origin, another] = await origins(reader, recipient, createdAt, lane);
  return another === undefined ? origin : undefined;
}
