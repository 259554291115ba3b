import { applicationAccess } from '../../core/access-control.ts';
import { required } from '../../core/required.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { Input, PageQuery, SeriesQuery } from '../../http/schemas.ts';
import { credentialOf } from '../../core/principal.ts';
import type { EventStreams } from './event-streams.ts';
import {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryPage,
  DeliverySchema,
  NewWebhook,
  Released,
  Replay,
  ReplayInput,
  ReplayQuery,
  TestInput,
  WebhookInput,
  WebhookPage,
  WebhookPatch,
  WebhookPerformance,
  WebhookRecordSchema,
  WebhookRemoved,
} from './model.ts';
import type { Replays } from './replay.ts';
import type { Webhooks } from './service.ts';

export interface EventStreamDependencies {
  readonly streams: EventStreams;
  readonly budgetOf: (workspaceId: string) => Promise<string>;
}

const STREAM =
  'First `ready`, then an `event` for each, in order, whose data is the body of a delivery to the byte ' +
  'and whose id is that of the event; with `Last-Event-ID` what came after that one first. On PostgreSQL ' +
  'an event may come behind later ones, and the 20 seconds before that id are repeated. A comment ' +
  'line every 15 seconds keeps the connection alive; `ended` with an error code is the last, when the ' +
  'caller may not read on. For developing a receiver: `gatehouse webhooks listen` signs and forwards ' +
  'the events, and registers nothing.';

export function webhookRoutes(
  webhooks: Webhooks,
  replays: Replays,
  { streams, budgetOf }: EventStreamDependencies,
): Operation[] {
  const common = { tag: 'Webhooks', scope: 'application', limit: 'key' } as const;
  const action = { ...common, method: 'POST', access: 'full', body: Input({}), isBodyOptional: true } as const;
  const all = '/api/applications/:id/webhooks';
  const one = `${all}/:webhookId`;
  const delivery = `${one}/deliveries/:deliveryId`;
  return [
    operation({
      ...common,
      id: 'listWebhooks',
      method: 'GET',
      path: all,
      summary: 'List the webhooks of an application',
      access: 'read',
      query: PageQuery,
      data: WebhookPage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => webhooks.list(application, query),
    }),
    operation({
      ...common,
      id: 'createWebhook',
      method: 'POST',
      path: all,
      summary: 'Subscribe an endpoint to events',
      gives: { words: 'Events about people, with names and addresses among them, are sent to this URL.' },
      description: 'The signing secret is only in this answer.',
      access: 'full',
      body: WebhookInput,
      data: NewWebhook,
      errors: ['conflict'],
      handle: ({ actor, application, body }) => webhooks.create(actor, application, body),
    }),
    operation({
      ...common,
      id: 'streamEvents',
      method: 'GET',
      path: `${all}/events`,
      summary: 'Stream the events of an application as server-sent events',
      description: STREAM,
      access: 'full',
      mediaType: 'text/event-stream',
      errors: ['unavailable'],
      async handle({ application: { id: applicationId, workspaceId }, principal, actor, context }) {
        const confirm = required(actor.confirm, 'second look at a caller');
        const after = context.request.headers.get('last-event-id');
        const budgetId = await budgetOf(workspaceId);
        const { userId } = principal;
        return streams.open({ applicationId, budgetId, userId, credentialId: credentialOf(principal), after, confirm });
      },
    }),
    operation({
      ...common,
      id: 'getWebhook',
      method: 'GET',
      path: one,
      summary: 'Read a webhook',
      access: 'read',
      data: WebhookRecordSchema,
      handle: ({ application, params }) => webhooks.get(application, params.webhookId),
    }),
    operation({
      ...common,
      id: 'updateWebhook',
      method: 'PATCH',
      path: one,
      summary: 'Change a webhook, disable it or enable it again',
      gives: {
        words: 'Events about people, with names and addresses among them, are sent to this URL.',
        fields: ['url', 'events', 'status'],
      },
      description: 'A disabled webhook gets no new events; queued ones wait.',
      access: 'full',
      body: WebhookPatch,
      data: WebhookRecordSchema,
      errors: ['invalid_state'],
      handle: ({ actor, application, params, body }) => webhooks.update(actor, application, params.webhookId, body),
    }),
    operation({
      ...common,
      id: 'deleteWebhook',
      method: 'DELETE',
      path: one,
      summary: 'Delete a webhook with its deliveries',
      access: 'full',
      data: WebhookRemoved,
      handle: ({ actor, application, params }) => webhooks.remove(actor, application, params.webhookId),
    }),
    operation({
      ...action,
      id: 'rotateWebhookSecret',
      path: `${one}/rotate-secret`,
      summary: 'Rotate the signing secret; the old one keeps signing as well for 24 hours',
      gives: { words: 'The answer contains the secret: anyone who reads it can forge events for the endpoint.' },
      data: NewWebhook,
      handle: ({ actor, application, params }) => webhooks.rotateSecret(actor, application, params.webhookId),
    }),
    operation({
      ...action,
      id: 'testWebhook',
      path: `${one}/test`,
      summary: 'Send a test event to this endpoint',
      body: TestInput,
      data: DeliverySchema,
      errors: ['invalid_state'],
      handle: ({ actor, application, params, body }) => webhooks.test(actor, application, params.webhookId, body),
    }),
    operation({
      ...common,
      id: 'getWebhookPerformance',
      isNoTool: true,
      method: 'GET',
      path: `${one}/performance`,
      summary: 'Read success and latency of a webhook over time',
      access: 'read',
      query: SeriesQuery,
      data: WebhookPerformance,
      handle: ({ application, params, query }) => webhooks.performance(application, params.webhookId, query),
    }),
    operation({
      ...common,
      id: 'countReplay',
      isNoTool: true,
      method: 'GET',
      path: `${one}/replay`,
      summary: 'Count the events that a replay would send, and read its progress',
      access: 'read',
      query: ReplayQuery,
      data: Replay,
      handle: ({ application, params, query }) => replays.read(application, params.webhookId, query),
    }),
    operation({
      ...action,
      id: 'replayDeliveries',
      path: `${one}/replay`,
      summary: 'Send every failed event since a time again, oldest first',
      body: ReplayInput,
      isBodyOptional: false,
      data: Replay,
      errors: ['invalid_state'],
      handle: ({ actor, application, params, body }) => replays.start(actor, application, params.webhookId, body.since),
    }),
    operation({
      ...action,
      id: 'releaseWebhook',
      path: `${one}/release`,
      summary: 'Release a webhook from quarantine; held events are sent, in order',
      data: Released,
      errors: ['invalid_state'],
      handle: ({ actor, application, params }) => webhooks.release(actor, application, params.webhookId),
    }),
    operation({
      ...common,
      id: 'listDeliveries',
      method: 'GET',
      path: `${one}/deliveries`,
      summary: 'List the deliveries of a webhook, newest first',
      description: 'A filtered page may be short although another page follows.',
      access: 'read',
      query: DeliveriesQuery,
      data: DeliveryPage,
      errors: ['invalid_cursor'],
      handle: ({ application, params, query }) => webhooks.listDeliveries(application, params.webhookId, query),
    }),
    operation({
      ...common,
      id: 'getDelivery',
      method: 'GET',
      path: delivery,
      summary: 'Read a delivery with every attempt; with full access, request and response as well',
      access: 'read',
      data: DeliveryDetail,
      handle: ({ principal, application, params: { webhookId, deliveryId } }) =>
        webhooks.getDelivery(application, webhookId, deliveryId, applicationAccess(principal, application) === 'full'),
    }),
    operation({
      ...action,
      id: 'redeliver',
      path: `${delivery}/redeliver`,
      summary: 'Redeliver an event, under the same event id',
      data: DeliverySchema,
      errors: ['invalid_state'],
      handle: ({ actor, application, params }) =>
        webhooks.redeliver(actor, application, params.webhookId, params.deliveryId),
    }),
  ];
}
