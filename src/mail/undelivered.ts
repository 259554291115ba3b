/** Reports undeliverable mail in the activity of the application or workspace that sent it. */
import type { Unit } from '../db/database.ts';
import { recordAudit } from '../store/audit.ts';
import type { Mail } from '../store/mails.ts';

/** Records that a mail was given up, in the change that gives it up. */
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
    detail: { reason: error, attempts: mail.attempts, ...(mail.senderName !== null && { sender: mail.senderName }) },
  });
}
