import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../core/event.ts';
import {
  Choice,
  Id,
  Input,
  NewSecret,
  Nullable,
  PageOf,
  PageQuery,
  Remark,
  SeriesUnit,
  Timestamp,
} from '../../http/schemas.ts';
import { DELIVERY_STATUSES } from '../../store/deliveries.ts';
import { WEBHOOK_STATUSES } from '../../store/webhooks.ts';

export const MAX_WEBHOOKS = 20;
const MAX_URL_LENGTH = 2000;

const Url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_LENGTH,
  remedy: `Give an https address of at most ${MAX_URL_LENGTH} characters.`,
  examples: ['https://shop.example.com/webhooks/gatehouse'],
});

const Events = Type.Array(Type.String({ maxLength: 100 }), {
  minItems: 1,
  maxItems: 100,
  description: `Event types, or \`*\` alone for all: ${EVENT_TYPES.join(', ')}.`,
  remedy: 'Give a list of event types, or ["*"].',
  examples: [['user.signed_in', 'user.banned']],
});

const Description = Nullable(Remark('Give at most 500 characters without control characters, or null.'));

export const WebhookInput = Input({ url: Url, events: Events, description: Type.Optional(Description) });
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookPatch = Input({
  url: Type.Optional(Url),
  // The list of types is described only at creation: agents pay for every token.
  events: Type.Optional({ ...Events, description: 'Event types, or only `*` for all, as when creating.' }),
  description: Type.Optional(Description),
  status: Type.Optional(Choice(['active', 'disabled'], { description: 'To leave quarantine, use release.' })),
});
export type WebhookPatch = Static<typeof WebhookPatch>;

const record = {
  id: Id('whk'),
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: Nullable(Type.String()),
  status: Choice(WEBHOOK_STATUSES, { $id: 'WebhookStatus' }),
  quarantinedAt: Nullable(Timestamp()),
  quarantineReason: Nullable(Type.String({ examples: ['15 attempts failed'] })),
  previousSecretEndsAt: Nullable(Timestamp({ description: 'Until then, the old secret signs as well.' })),
  createdAt: Timestamp(),
  updatedAt: Timestamp(),
} satisfies TProperties;

export const WebhookRecordSchema = Type.Object(record, { $id: 'Webhook' });
export type WebhookRecord = Static<typeof WebhookRecordSchema>;

export const WebhookPage = PageOf(WebhookRecordSchema);

export const NewWebhook = Type.Intersect([WebhookRecordSchema, Type.Object({ signingSecret: NewSecret('webhook') })], {
  $id: 'NewWebhook',
});
export type NewWebhook = Static<typeof NewWebhook>;

export const WebhookRemoved = Type.Object({ id: Type.String() });

export const Released = Type.Intersect([
  WebhookRecordSchema,
  Type.Object({ released: Type.Integer({ description: 'Number of held events that are now sent, in order.' }) }),
]);
export type Released = Static<typeof Released>;

export const TestInput = Input({
  type: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Sends a sample of this event instead, with `isSample` in its data.',
      remedy: 'Give an event type, such as user.signed_in.',
      examples: ['user.signed_in'],
    }),
  ),
});
export type TestInput = Static<typeof TestInput>;

const Since = Timestamp({
  description: 'Time since which the deliveries were created.',
  remedy: 'Give an ISO 8601 time in the past, with a zone.',
});

export const ReplayInput = Input({ since: Since });
export const ReplayQuery = Type.Object({ since: Type.Optional(Since) });

export const Replay = Type.Object(
  {
    events: Type.Union([Type.Integer({ examples: [120] }), Type.Null()], {
      description: 'Failed events not sent again yet; at most 10,000 are counted. Null without `since`.',
    }),
    running: Nullable(
      Type.Object({ done: Type.Integer({ examples: [25] }), total: Nullable(Type.Integer({ examples: [120] })) }),
    ),
  },
  { $id: 'Replay' },
);
export type Replay = Static<typeof Replay>;

const Attempts = Type.Integer({ examples: [12] });
const Latency = Nullable(Type.Integer({ examples: [180] }));
const performance = { delivered: Attempts, failed: Attempts, p50Ms: Latency, p95Ms: Latency };

export const WebhookPerformance = Type.Object(
  {
    unit: SeriesUnit,
    total: Type.Object(performance),
    points: Type.Array(Type.Object({ at: Timestamp(), ...performance })),
  },
  { $id: 'WebhookPerformance', description: 'Attempts; percentiles of their latency are estimated from ranges.' },
);
export type WebhookPerformance = Static<typeof WebhookPerformance>;

const delivery = {
  id: Id('dlv'),
  eventId: Id('evt'),
  eventType: Type.String({ examples: ['user.signed_in', TEST_EVENT_TYPE] }),
  status: Choice(DELIVERY_STATUSES, { $id: 'DeliveryStatus', description: '`held`: the endpoint was in quarantine.' }),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable(Timestamp({ description: 'Null once finished.' })),
  createdAt: Timestamp(),
  finishedAt: Nullable(Timestamp()),
} satisfies TProperties;

export const DeliverySchema = Type.Object(delivery, { $id: 'Delivery' });
export type DeliveryRecord = Static<typeof DeliverySchema>;

export const DeliveryPage = PageOf(DeliverySchema);

export const DeliveriesQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(
      Choice(DELIVERY_STATUSES, { $id: 'DeliveryStatus', description: 'Only deliveries in this state.' }),
    ),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only deliveries of events of this type.',
        remedy: 'Give an event type, such as user.signed_in.',
        examples: ['user.signed_in'],
      }),
    ),
  }),
]);
export type DeliveriesQuery = Static<typeof DeliveriesQuery>;

const ERROR_CLASSES = [
  'status',
  'redirect',
  'gone',
  'timeout',
  'refused',
  'unresolved',
  'tls',
  'connection',
  'interrupted',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

const Attempt = Type.Object(
  {
    number: Type.Integer(),
    startedAt: Timestamp(),
    durationMs: Type.Integer(),
    statusCode: Nullable(Type.Integer()),
    errorClass: Nullable(
      Choice(ERROR_CLASSES, {
        $id: 'DeliveryErrorClass',
        description:
          '`status`: not 2xx; `redirect`: 3xx, not followed; `gone`: 410; `refused`: the name leads to an address that is not public; `interrupted`: the server ended before the outcome was known.',
      }),
    ),
    requestHeaders: Type.Record(Type.String(), Type.String(), {
      description: 'Headers as sent; each signature is replaced by `withheld`.',
    }),
    responseExcerpt: Nullable(
      Type.String({
        description: 'First KiB of the answer; null without full access, since it may repeat the body.',
      }),
    ),
  },
  { $id: 'DeliveryAttempt' },
);

export type AttemptRecord = Static<typeof Attempt>;

export const DeliveryDetail = Type.Intersect([
  DeliverySchema,
  Type.Object({
    requestBody: Nullable(
      Type.String({
        description: 'The body as sent or to be sent; null without full access, since it can contain names.',
      }),
    ),
    attemptLog: Type.Array(Attempt),
  }),
]);
export type DeliveryDetail = Static<typeof DeliveryDetail>;
