/** A mail that nobody gets is told to whom it belongs: as a record in the activity of the application that had it sent. */
import type { Unit } from '../db/database.ts';
import { recordAudit } from '../store/audit.ts';
import { findMailOrigin } from '../store/mail-origins.ts';
import type { Mail } from '../store/mails.ts';

/** Puts on record that a mail was given up, in the change that does so. Of mails of no application the log alone speaks. */
export async function recordUndelivered(
  unit: Unit,
  mail: Mail,
  { error, isExpired }: { readonly error: string; readonly isExpired: boolean },
): Promise<void> {
  const origin = await findMailOrigin(unit, mail);
  if (origin === undefined) return;
  await recordAudit(unit, {
    kind: isExpired ? 'mail.expired' : 'mail.refused',
    ok: false,
    applicationId: origin.applicationId,
    workspaceId: origin.workspaceId,
    email: mail.recipient,
    targetId: mail.id,
    detail: { reason: error, attempts: mail.attempts },
  });
}
