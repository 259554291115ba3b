/** Records an attempt and its consequence in one change: delivered, retried later, or failed with a quarantine. */
import { MINUTE } from '../../core/clock.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Unit } from '../../db/database.ts';
import { quarantineMail } from '../../mail/messages/quarantine.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import { requireApplication } from '../../store/applications.ts';
import { endpointName } from '../../core/endpoint-name.ts';
import { recordAudit } from '../../store/audit.ts';
import { DELIVERY_ATTEMPTED, finishDelivery, insertAttempt, postponeDelivery } from '../../store/deliveries.ts';
import { noteTriedInOrder, quarantineWebhook } from '../../store/webhooks.ts';
import { listOwners } from '../../store/workspace-members.ts';
import { requireWorkspace } from '../../store/workspaces.ts';
import type { Result } from './attempt.ts';
import { type Claimed, claimOf } from './claimed.ts';
import { MAX_ATTEMPTS, retryWaitMs } from './schedule.ts';

const QUARANTINE_MAIL_LIFETIME_MS = 24 * 60 * MINUTE;

/** Returns whether recording the result may quarantine the endpoint; other results are bookkeeping. */
export function isLastAttempt({ claimed, errorClass }: Result): boolean {
  return errorClass === 'gone' || (errorClass !== null && claimed.attempts >= MAX_ATTEMPTS);
}

/**
 * Writes the attempt, and updates its delivery and endpoint, in the caller's change.
 * @returns false, and nothing is written, if another instance has taken the delivery over, or it was deleted.
 */
export async function recordResult(unit: Unit, result: Result, mails: WorkspaceMail): Promise<boolean> {
  const { claimed, startedAt, durationMs, statusCode, errorClass, requestHeaders, responseExcerpt } = result;
  const { deliveryId, applicationId, attempts: number, endpoint } = claimed;
  if (!(await endAttempt(unit, result))) return false;
  const attempt = { number, startedAt, durationMs, statusCode, errorClass, requestHeaders, responseExcerpt };
  await insertAttempt(unit, { deliveryId, ...attempt });
  const isDelivered = errorClass === null;
  unit.publish(DELIVERY_ATTEMPTED, {
    applicationId,
    webhookId: endpoint.id,
    kind: endpoint.kind,
    isDelivered,
    durationMs,
  });
  if (claimed.isInOrder) await noteTriedInOrder(unit, { id: endpoint.id, deliveryId });
  if (isLastAttempt(result)) await quarantine(unit, claimed, errorClass === 'gone' ? null : number, mails);
  return true;
}

/** @returns whether the claim was still valid. */
function endAttempt(unit: Unit, result: Result): Promise<boolean> {
  const { claimed, errorClass, retryAfterMs, jitter } = result;
  const claim = claimOf(claimed);
  if (errorClass === null) return finishDelivery(unit, claim, 'delivered');
  if (isLastAttempt(result)) return finishDelivery(unit, claim, 'failed');
  return postponeDelivery(unit, claim, unit.now + retryWaitMs(claimed.attempts, retryAfterMs, jitter));
}

/** Quarantines the endpoint and notifies its owners within the mail budget, so that releases flood no mailbox. */
async function quarantine(
  unit: Unit,
  { endpoint }: Claimed,
  failedAttempts: number | null,
  mails: WorkspaceMail,
): Promise<void> {
  const reason = failedAttempts === null ? 'the endpoint answered 410 Gone' : `${failedAttempts} attempts failed`;
  const quarantined = await quarantineWebhook(unit, { id: endpoint.id, reason });
  if (!quarantined) return;
  const { applicationId, url } = quarantined;
  const { name: applicationName, workspaceId } = await requireApplication(unit, applicationId);
  await recordAudit(unit, {
    kind: 'webhook.quarantined',
    ok: false,
    applicationId,
    workspaceId,
    targetId: endpoint.id,
    detail: { name: endpointName(quarantined), reason },
  });
  if (workspaceId === null) return;
  const owners = await listOwners(unit, workspaceId);
  if (owners.length > (await mails.left(unit, workspaceId))) return;
  const { name: workspaceName } = await requireWorkspace(unit, workspaceId);
  const isOfLogout = endpoint.kind === 'logout';
  const content = { workspaceName, applicationName, url, isOfLogout, failedAttempts };
  const expiresAt = unit.now + QUARANTINE_MAIL_LIFETIME_MS;
  await mails.queue(
    unit,
    workspaceId,
    owners.map(({ email: to, locale }) => {
      const mail = quarantineMail({ locale: localeToWriteIn(locale), ...content });
      return { to, ...mail, code: null, expiresAt, origin: { applicationId, workspaceId } };
    }),
  );
}
