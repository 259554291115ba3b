import type { Unit } from '../../db/database.ts';
import { findNewestPending } from '../../store/deliveries.ts';
import { updateWebhook, type Webhook } from '../../store/webhooks.ts';

/** Releases an endpoint from quarantine: held deliveries go one by one, and new ones wait behind them. */
export async function endQuarantine(unit: Unit, id: string): Promise<Webhook> {
  const inOrderUntil = await findNewestPending(unit, id);
  const inOrderAfter = inOrderUntil === null ? null : '';
  const ended = { status: 'active', quarantinedAt: null, quarantineReason: null, dropNoticeAt: null } as const;
  return updateWebhook(unit, id, { ...ended, inOrderUntil, inOrderAfter });
}
