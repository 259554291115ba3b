/** Deletes a removed endpoint's deliveries and attempts in batches, and its row last. */
import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import { countDeliveries, deleteDeliveries } from '../../store/deliveries.ts';
import { deleteWebhook } from '../../store/webhooks.ts';

export const DELETE_WEBHOOK: BackgroundTask<{ readonly webhookId: string }> = {
  name: 'delete_webhook',
  async step(unit, { data: { webhookId } }, limit) {
    const done = await deleteDeliveries(unit, { webhookId, limit });
    const isFinished = done < limit;
    if (isFinished) await deleteWebhook(unit, webhookId);
    return { done, cursor: null, isFinished };
  },
  count: (reader, { data: { webhookId } }) => countDeliveries(reader, webhookId),
};
