/** Shared by the webhook tests: an instance that may send to loopback, and functions for its webhook operations. */
import { afterEach } from 'bun:test';
import { BlockList } from 'node:net';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { emit as emitEvent } from '@/events/emit.ts';
import { type GuardedFetch, guardedFetch } from '@/outbound/guarded-fetch.ts';
import type { Application } from '@/store/applications.ts';
import { type CallOptions, createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const nothing = new BlockList();

/** The product's own client as in an ephemeral instance, optionally with a shorter timeout. */
export function toLoopback(timeoutMs = Infinity): GuardedFetch {
  const send = guardedFetch({ allowed: nothing, isLoopbackAllowed: true });
  return (request) => send({ ...request, timeoutMs: Math.min(request.timeoutMs, timeoutMs) });
}

export interface Scene {
  readonly instance: Instance;
  readonly application: Application;
  readonly api: WebhookApi;
}

/** An instance that accepts plain http on loopback as a target. */
export async function setUp(options: InstanceOptions = {}): Promise<Scene> {
  const instance = await createInstance({ mode: 'ephemeral', outbound: toLoopback(), ...options });
  const application = await instance.createApplication();
  return { instance, application, api: apiOf(instance, application.id) };
}

export type WebhookApi = ReturnType<typeof apiOf>;

/** @param token defaults to a full workspace key. */
export function apiOf(instance: Instance, applicationId: string, token: string | undefined = instance.workspaceKey) {
  const all = `/api/applications/${applicationId}/webhooks`;
  const call = (method: string, path: string, options: CallOptions = {}) =>
    instance.call(method, `${all}${path}`, { token, ...options });
  return {
    create: (body: unknown) => call('POST', '', { body }),
    list: (query = '') => call('GET', query),
    get: (id: string) => call('GET', `/${id}`),
    patch: (id: string, body: unknown) => call('PATCH', `/${id}`, { body }),
    remove: (id: string) => call('DELETE', `/${id}`),
    rotateSecret: (id: string) => call('POST', `/${id}/rotate-secret`),
    test: (id: string, body?: unknown) => call('POST', `/${id}/test`, { body }),
    performance: (id: string, query = '') => call('GET', `/${id}/performance${query}`),
    countReplay: (id: string, since?: string) =>
      call('GET', `/${id}/replay${since === undefined ? '' : `?since=${encodeURIComponent(since)}`}`),
    replay: (id: string, since: unknown) => call('POST', `/${id}/replay`, { body: { since } }),
    release: (id: string) => call('POST', `/${id}/release`),
    deliveries: (id: string, query = '') => call('GET', `/${id}/deliveries${query}`),
    delivery: (id: string, deliveryId: string) => call('GET', `/${id}/deliveries/${deliveryId}`),
    redeliver: (id: string, deliveryId: string) => call('POST', `/${id}/deliveries/${deliveryId}/redeliver`),
  };
}

const open = new Set<{ close(): unknown }>();

afterEach(async () => {
  const all = [...open];
  open.clear();
  for (const one of all) await one.close();
});

/** Closes a resource after the test. */
export function closing<Closable extends { close(): unknown }>(one: Closable): Closable {
  open.add(one);
  return one;
}

/**
 * A receiver in real time, independent of the instance's clock. Closed after the test, which fails if a signature was
 * refused.
 */
async function receiverFor({ clock }: Instance): Promise<Receiver> {
  return closing(await startReceiver(() => clock.real()));
}

/** A receiver with a webhook that sends to it. */
export async function subscribe({ instance, api }: Scene, events: readonly string[] = ['*']) {
  const receiver = await receiverFor(instance);
  const { json } = await api.create({ url: receiver.url, events });
  receiver.trust(json.data.signingSecret);
  return { receiver, id: json.data.id as string, signingSecret: json.data.signingSecret as string };
}

/** A webhook that sends to any address. */
export async function subscribeTo({ api }: Scene, url: string): Promise<string> {
  const { json } = await api.create({ url, events: ['*'] });
  return json.data.id;
}

/** Commits one event, as an operation does. */
export async function emit(
  { instance, application }: Pick<Scene, 'instance' | 'application'>,
  userId = 'usr_1',
): Promise<void> {
  await instance.db.write(SYSTEM_ACTOR, (unit) =>
    emitEvent(unit, { type: 'user.banned', applicationId: application.id, data: { userId } }),
  );
}

/** Returns the newest delivery of a webhook with all its attempts. */
export async function newestDelivery({ api }: Scene, id: string) {
  const { json } = await api.deliveries(id, '?limit=1');
  return (await api.delivery(id, json.data.items[0].id)).json.data;
}

/** Quarantines a webhook by letting its receiver answer 410. */
export async function quarantine(scene: Scene, { receiver }: { receiver: Receiver }): Promise<void> {
  receiver.answerWith(() => ({ status: 410 }));
  await emit(scene, 'usr_quarantine');
  await scene.instance.services.deliveries.runOnce();
  receiver.answerWith(() => ({ status: 200 }));
}

/** Returns the recipients of quarantine mails. */
export function quarantineMails({ instance }: Pick<Scene, 'instance'>): string[] {
  const rows = instance.sqlite
    .query("SELECT recipient FROM mails WHERE subject LIKE '%quarantine%' ORDER BY recipient")
    .all() as { recipient: string }[];
  return rows.map(({ recipient }) => recipient);
}

export const URL_OF_SHOP = 'https://shop.example.com/hooks';
export const input = (changes: object = {}) => ({ url: URL_OF_SHOP, events: ['*'], ...changes });
/** An instance as operators run it: only public https is a target. */
export function setUpNormal(environment: Record<string, string> = {}) {
  return setUp({ mode: 'normal', environment });
}
