import { api, ask, type Schemas } from '../../api.ts';
import type { operations } from '../../generated/api.ts';
import type { EventType } from './event-words.ts';

export type Webhook = Schemas['Webhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookInput = operations['createWebhook']['requestBody']['content']['application/json'];
export type WebhookPatch = operations['updateWebhook']['requestBody']['content']['application/json'];
export type Delivery = Schemas['Delivery'];
/** A delivery with its attempts. */
export type OpenDelivery = Delivery & { readonly requestBody: string | null; readonly attemptLog: Attempt[] };
export type DeliveryStatus = Delivery['status'];
export type Replay = Schemas['Replay'];
export type Attempt = Schemas['DeliveryAttempt'];

/** Above the maximum of endpoints per application. */
const ALL = 100;
const DELIVERIES = 50;
/** Days covered by an endpoint's statistics. */
export const STATS_DAYS = 7;
/** Maximum page size of deliveries. */
export const COUNTED = 200;

export type WebhookCalls = ReturnType<typeof webhookCalls>;

export function webhookCalls(id: string) {
  const path = { id };
  const one = (webhookId: string) => ({ params: { path: { id, webhookId } } });
  const delivery = (webhookId: string, deliveryId: string) => ({ params: { path: { id, webhookId, deliveryId } } });
  return {
    list: (cursor: string | undefined) =>
      ask(api.GET('/api/applications/{id}/webhooks', { params: { path, query: { cursor, limit: ALL } } })),
    stats: () => ask(api.GET('/api/applications/{id}/stats', { params: { path, query: { days: STATS_DAYS } } })),
    get: (webhookId: string) => ask(api.GET('/api/applications/{id}/webhooks/{webhookId}', one(webhookId))),
    create: (body: WebhookInput) => ask(api.POST('/api/applications/{id}/webhooks', { params: { path }, body })),
    update: (webhookId: string, body: WebhookPatch) =>
      ask(api.PATCH('/api/applications/{id}/webhooks/{webhookId}', { ...one(webhookId), body })),
    remove: (webhookId: string) => ask(api.DELETE('/api/applications/{id}/webhooks/{webhookId}', one(webhookId))),
    rotateSecret: (webhookId: string) =>
      ask(api.POST('/api/applications/{id}/webhooks/{webhookId}/rotate-secret', { ...one(webhookId), body: {} })),
    test: (webhookId: string, type?: EventType) =>
      ask(api.POST('/api/applications/{id}/webhooks/{webhookId}/test', { ...one(webhookId), body: { type } })),
    performance: (webhookId: string, days: number) =>
      ask(
        api.GET('/api/applications/{id}/webhooks/{webhookId}/performance', {
          params: { path: { id, webhookId }, query: { days } },
        }),
      ),
    countReplay: (webhookId: string, since: string | undefined) =>
      ask(
        api.GET('/api/applications/{id}/webhooks/{webhookId}/replay', {
          params: { path: { id, webhookId }, query: { since } },
        }),
      ),
    replay: (webhookId: string, since: string) =>
      ask(api.POST('/api/applications/{id}/webhooks/{webhookId}/replay', { ...one(webhookId), body: { since } })),
    release: (webhookId: string) =>
      ask(api.POST('/api/applications/{id}/webhooks/{webhookId}/release', { ...one(webhookId), body: {} })),
    deliveries: (
      webhookId: string,
      query: { cursor?: string; status?: DeliveryStatus; type?: string; limit?: number },
    ) =>
      ask(
        api.GET('/api/applications/{id}/webhooks/{webhookId}/deliveries', {
          params: { path: { id, webhookId }, query: { limit: DELIVERIES, ...query } },
        }),
      ),
    delivery: (webhookId: string, deliveryId: string) =>
      ask(
        api.GET('/api/applications/{id}/webhooks/{webhookId}/deliveries/{deliveryId}', delivery(webhookId, deliveryId)),
      ),
    redeliver: (webhookId: string, deliveryId: string) =>
      ask(
        api.POST('/api/applications/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', {
          ...delivery(webhookId, deliveryId),
          body: {},
        }),
      ),
  };
}
