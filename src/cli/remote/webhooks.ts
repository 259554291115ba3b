/** `gatehouse webhooks`: manages endpoints and their deliveries; listen.ts follows events live. */
import type { DataAt, ItemAt } from '../../client/paths.ts';
import { UsageError } from '../arguments.ts';
import { webhooksListen } from './listen.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand, type RemoteDefinition } from './remote-command.ts';

type Webhook = ItemAt<'/api/applications/{id}/webhooks'>;
type NewWebhook = DataAt<'/api/applications/{id}/webhooks', 'post'>;
type Delivery = ItemAt<'/api/applications/{id}/webhooks/{webhookId}/deliveries'>;

const WEBHOOK = { name: 'WEBHOOK', meaning: 'Id (whk_…).' };
const DELIVERY = { name: 'DELIVERY', meaning: 'Id (dlv_…).' };
const EVENTS = { value: 'TYPES', meaning: 'Such as user.signed_in,user.banned; or * for all.' };
const ALL = '/api/applications/{id}/webhooks';
const ONE = '/api/applications/{id}/webhooks/{webhookId}';

type Path = { readonly id: string; readonly webhookId: string };

function onWebhook(
  definition: Omit<RemoteDefinition, 'carryOut'>,
  act: (call: RemoteCall, path: Path) => Promise<number | void>,
): RemoteCommand {
  return remoteCommand({
    ...definition,
    operands: [WEBHOOK, ...(definition.operands ?? [])],
    isOfApplication: true,
    carryOut: async (call) => act(call, { id: (await call.application()).id, webhookId: call.operands[0] ?? '' }),
  });
}

function describe({ show }: RemoteCall, webhook: Webhook): Promise<void> {
  return show.record(webhook, [
    ['URL', webhook.url],
    ['Id', webhook.id],
    ['Events', webhook.events.join(', ')],
    ['Status', webhook.quarantineReason ? `${webhook.status}: ${webhook.quarantineReason}` : webhook.status],
    ['Description', webhook.description],
    ['Old secret until', show.time(webhook.previousSecretEndsAt)],
    ['Created', show.time(webhook.createdAt)],
  ]);
}

async function showNew({ show, terminal }: RemoteCall, webhook: NewWebhook): Promise<void> {
  if (show.isJson) return show.json(webhook);
  await show.record(webhook, [
    ['URL', webhook.url],
    ['Id', webhook.id],
    ['Events', webhook.events.join(', ')],
    ['Signing secret', webhook.signingSecret],
  ]);
  terminal.err('\nThe signing secret is shown this once. Your receiver checks Svc-Signature with it.\n');
  terminal.err(`Next: gatehouse webhooks test ${webhook.id}\n`);
}

export const WEBHOOKS: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'webhooks list',
    summary: 'List the endpoints of an application',
    isOfApplication: true,
    isList: true,
    async carryOut({ client, show, paging, application }) {
      const path = { id: (await application()).id };
      await show.list<Webhook>(
        {
          columns: [
            { title: 'ID', of: ({ id }) => id },
            { title: 'STATUS', of: ({ status }) => status },
            { title: 'URL', of: ({ url }) => url, isCut: true },
            { title: 'EVENTS', of: ({ events }) => events.join(','), isCut: true },
          ],
          page: (query) => client.get(ALL, { path, query }),
          empty: 'There is no endpoint yet. Make one: gatehouse webhooks create URL --events "*"',
        },
        paging,
      );
    },
  }),
  onWebhook({ name: 'webhooks show', summary: 'Show an endpoint' }, async (call, path) =>
    describe(call, await call.client.get(ONE, { path })),
  ),
  remoteCommand({
    name: 'webhooks create',
    summary: 'Send events to an endpoint; shows its secret this once',
    operands: [{ name: 'URL', meaning: 'Where deliveries are sent: https.' }],
    options: { events: EVENTS, description: { value: 'TEXT', meaning: 'For you.' } },
    isOfApplication: true,
    async carryOut(call) {
      const { client, text, list, operands } = call;
      const events = list('events');
      if (!events) throw new UsageError('Say which events: --events "*", or types such as user.signed_in,user.banned');
      const path = { id: (await call.application()).id };
      const description = text('description');
      const body = { url: operands[0] ?? '', events, ...(description !== undefined && { description }) };
      await showNew(call, await client.post(ALL, { path, body }));
    },
  }),
  onWebhook(
    {
      name: 'webhooks update',
      summary: 'Change an endpoint: what is not given stays',
      options: {
        url: { value: 'URL', meaning: 'The server. (The endpoint: --to.)' },
        to: { value: 'URL', meaning: 'Where deliveries are sent.' },
        events: EVENTS,
        description: { value: 'TEXT', meaning: 'For you.' },
        status: { value: 'STATUS', meaning: 'active or disabled.' },
      },
    },
    async (call, path) => {
      const [url, events, description] = [call.text('to'), call.list('events'), call.text('description')];
      const status = call.choice('status', ['active', 'disabled']);
      const body = {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events }),
        ...(description !== undefined && { description: description || null }),
        ...(status !== undefined && { status }),
      } as const;
      if (Object.keys(body).length === 0)
        throw new UsageError('Say what to change. See "gatehouse help webhooks update".');
      await describe(call, await call.client.patch(ONE, { path, body }));
    },
  ),
  onWebhook(
    { name: 'webhooks delete', summary: 'Delete an endpoint with its deliveries', isFinal: true },
    async (call, path) => {
      await call.confirm(path.webhookId, 'The endpoint and the record of its deliveries are deleted.');
      await call.show.done(await call.client.delete(ONE, { path }), 'Deleted.');
    },
  ),
  onWebhook({ name: 'webhooks test', summary: 'Send a test event to an endpoint' }, async (call, path) => {
    const delivery = await call.client.post(`${ONE}/test`, { path });
    await call.show.done(
      delivery,
      `On its way. What became of it: gatehouse webhooks delivery ${path.webhookId} ${delivery.id}`,
    );
  }),
  onWebhook(
    { name: 'webhooks rotate-secret', summary: 'Make a new signing secret; the old one signs beside it for a day' },
    async (call, path) => showNew(call, await call.client.post(`${ONE}/rotate-secret`, { path })),
  ),
  onWebhook(
    { name: 'webhooks release', summary: 'Let an endpoint out of quarantine; what was held is sent' },
    async (call, path) => {
      const released = await call.client.post(`${ONE}/release`, { path });
      await call.show.done(released, `${released.url} is ${released.status} again; ${released.released} are sent now.`);
    },
  ),
  onWebhook(
    {
      name: 'webhooks deliveries',
      summary: 'List the deliveries to an endpoint, newest first',
      options: {
        status: { value: 'STATUS', meaning: 'Such as delivered, pending, held or failed.' },
        type: { value: 'TYPE', meaning: 'Of events of this type.' },
      },
      isList: true,
    },
    async ({ client, show, paging, text }, path) => {
      const [status, type] = [text('status'), text('type')];
      const filters = {
        ...(status !== undefined && { status: status as Delivery['status'] }),
        ...(type !== undefined && { type }),
      };
      await show.list<Delivery>(
        {
          columns: [
            { title: 'ID', of: ({ id }) => id },
            { title: 'EVENT', of: ({ eventType }) => eventType },
            { title: 'STATUS', of: (row) => row.status },
            { title: 'TRIES', of: ({ attempts }) => attempts },
            { title: 'AT', of: ({ createdAt }) => show.time(createdAt) },
          ],
          page: (query) => client.get(`${ONE}/deliveries`, { path, query: { ...filters, ...query } }),
          empty: `Nothing was sent yet. Try it: gatehouse webhooks test ${path.webhookId}`,
        },
        paging,
      );
    },
  ),
  onWebhook(
    { name: 'webhooks delivery', summary: 'Show a delivery, with every attempt', operands: [DELIVERY] },
    async ({ client, show, operands: [, deliveryId = ''] }, path) => {
      const delivery = await client.get(`${ONE}/deliveries/{deliveryId}`, { path: { ...path, deliveryId } });
      await show.record(delivery, [
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
      ]);
    },
  ),
  onWebhook(
    { name: 'webhooks redeliver', summary: 'Send the same event again', operands: [DELIVERY] },
    async ({ client, show, operands: [, deliveryId = ''] }, path) => {
      const again = await client.post(`${ONE}/deliveries/{deliveryId}/redeliver`, { path: { ...path, deliveryId } });
      await show.done(again, `On its way as ${again.id}.`);
    },
  ),
  webhooksListen,
];
