/** A mail that nobody gets is told to whom it belongs: as a record in the activity of the application that had it sent. */
import type { Unit } from '../db/database.ts';
import { recordAudit } from '../store/audit.ts';
import type { Mail } from '../store/mails.ts';

/** Puts on record that a mail was given up, in the change that does so. */
export async function recordUndelivered(
  unit: Unit,
  mail: Mail,
  { error, isExpired }: { readonly error: string; readonly isExpired: boolean },
): Promise<void> {
  const { applicationId, workspaceId } = mail;
  if (applicationId === null && workspaceId === null) return;
  await recordAudit(unit, {
    kind: isExpired ? 'mail.expired' : 'mail.refused',
    ok: false,
    applicationId,
    workspaceId,
    email: mail.recipient,
    targetId: mail.id,
    detail: { reason: error, attempts: mail.attempts },
  });
}
