/** `gatehouse webhooks`: manages endpoints and their deliveries; listen.ts follows events live. */
import { webhooksListen } from './listen.ts';
import { operationCommand } from './operation-command.ts';
import type { DataOf } from './operations.ts';
import type { RemoteCommand } from './remote-command.ts';
import type { Facts } from './show.ts';

const EVENTS = {
  field: 'events',
  value: 'TYPES',
  meaning: 'Event types such as user.signed_in,user.banned; or "*" for all.',
} as const;
const DESCRIPTION = { field: 'description', value: 'TEXT', meaning: 'Note for administrators.' } as const;

const RECORD: Facts<DataOf<'getWebhook'>> = {
  URL: 'url',
  Id: 'id',
  Events: 'events',
  Status: ({ status, quarantineReason }) => (quarantineReason ? `${status}: ${quarantineReason}` : status),
  Description: 'description',
  'Old secret until': 'previousSecretEndsAt',
  Created: 'createdAt',
};

const NEW_RECORD: Facts<DataOf<'createWebhook'>> = {
  URL: 'url',
  Id: 'id',
  Events: 'events',
  'Signing secret': 'signingSecret',
};
const newRemark = ({ id }: DataOf<'createWebhook'>) =>
  `The secret is shown this once. Your receiver checks Svc-Signature with it.\nNext: gatehouse webhooks test ${id}`;

export const WEBHOOKS: readonly RemoteCommand[] = [
  operationCommand('listWebhooks', {
    name: 'webhooks list',
    columns: { ID: 'id', STATUS: 'status', URL: { cut: 'url' }, EVENTS: { cut: 'events' } },
    empty: 'There is no webhook yet. Make one: gatehouse webhooks create URL --events "*"',
  }),
  operationCommand('getWebhook', { name: 'webhooks show', summary: 'Show a webhook', record: RECORD }),
  operationCommand('createWebhook', {
    name: 'webhooks create',
    summary: 'Send events to an endpoint; its secret is shown this once',
    operands: [{ field: 'url', name: 'URL', meaning: 'Address that deliveries are sent to: https.' }],
    flags: { events: EVENTS, description: DESCRIPTION },
    record: NEW_RECORD,
    remark: newRemark,
  }),
  operationCommand('updateWebhook', {
    name: 'webhooks update',
    summary: 'Change a webhook; omitted fields keep their values',
    flags: {
      to: { field: 'url', value: 'URL', meaning: 'Address that deliveries are sent to; --url is the server’s.' },
      events: EVENTS,
      description: DESCRIPTION,
      status: 'status',
    },
    record: RECORD,
  }),
  operationCommand('deleteWebhook', {
    name: 'webhooks delete',
    confirm: ({ label }) => [label, 'The webhook and the record of its deliveries are deleted.'],
    done: () => 'Deleted.',
  }),
  operationCommand('testWebhook', {
    name: 'webhooks test',
    done: ({ id }, { label }) => `On its way. See the outcome: gatehouse webhooks delivery ${label} ${id}`,
  }),
  operationCommand('getWebhookPerformance', {
    name: 'webhooks performance',
    flags: { days: 'days' },
    record: ({ total }) => [
      ['Delivered', String(total.delivered)],
      ['Failed attempts', String(total.failed)],
      ['Latency', `p50 ${total.p50Ms ?? '-'} ms, p95 ${total.p95Ms ?? '-'} ms`],
    ],
  }),
  operationCommand('countReplay', {
    name: 'webhooks failed',
    flags: { since: 'since' },
    record: ({ events, running }) => [
      ['Failed events', String(events ?? 'give --since to count them')],
      ['Replay', running ? `${running.done} of ${running.total ?? '?'}` : 'none is running'],
    ],
  }),
  operationCommand('replayDeliveries', {
    name: 'webhooks replay',
    flags: { since: 'since' },
    done: ({ events }) => `${events} events are sent again, oldest first.`,
  }),
  operationCommand('rotateWebhookSecret', {
    name: 'webhooks rotate-secret',
    summary: 'Make a new signing secret; the old one stays valid for 24 hours',
    record: NEW_RECORD,
    remark: newRemark,
  }),
  operationCommand('releaseWebhook', {
    name: 'webhooks release',
    done: ({ url, status, released }) => `${url} is ${status} again; ${released} are sent now.`,
  }),
  operationCommand('listDeliveries', {
    name: 'webhooks deliveries',
    flags: { status: 'status', type: 'type' },
    columns: { ID: 'id', EVENT: 'eventType', STATUS: 'status', TRIES: 'attempts', AT: 'createdAt' },
    empty: ({ label }) => `Nothing was sent yet. Try it: gatehouse webhooks test ${label}`,
  }),
  operationCommand('getDelivery', {
    name: 'webhooks delivery',
    summary: 'Show a delivery, with every attempt',
    record: (delivery, show) => [
      ['Event', `${delivery.eventType}, ${delivery.eventId}`],
      ['Status', delivery.status],
      ['Next attempt', show.time(delivery.nextAttemptAt)],
      ...delivery.attemptLog.map(
        ({ number, startedAt, statusCode, errorClass, durationMs }) =>
          [
            `Attempt ${number}`,
            `${show.time(startedAt)}: ${statusCode ?? errorClass ?? '-'} in ${durationMs} ms`,
          ] as const,
      ),
      ['Body', delivery.requestBody ?? 'not shown: it can hold names, and this key may only read'],
    ],
  }),
  operationCommand('redeliver', {
    name: 'webhooks redeliver',
    summary: 'Send the same event again',
    done: ({ id }) => `On its way as ${id}.`,
  }),
  webhooksListen,
];
