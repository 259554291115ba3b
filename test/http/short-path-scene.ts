/** The same scene twice, one answered by the short path and one by the general pipeline, and what both show of a call. */
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { BUSY_PATHS } from '@/http/raw-path.ts';
import { newSecret } from '../modules/oauth/scene.ts';
import { sceneOf } from '../modules/devices/scene.ts';

const SETTINGS = {
  GATEHOUSE_TRUSTED_PROXIES: '10.0.0.0/8',
  GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '30',
  GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '30',
  GATEHOUSE_LIMIT_WRONG_CLIENTS_PER_MINUTE: '10',
  GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000',
};

export type Scene = Awaited<ReturnType<typeof createScene>>;

export async function createScene() {
  const instance = await createInstance({ environment: SETTINGS });
  const shop = await instance.createApplication();
  const brief = await instance.createApplication({ name: 'Brief', sessionTtlSeconds: 300 });
  const users = `/api/applications/${shop.id}/users`;
  const signIn = async (email: string, clientId = shop.clientId) => instance.signIn(clientId, email);
  const manage = (path: string) => instance.call('POST', path, { token: instance.workspaceKey, body: {} });
  const keys = `/api/applications/${shop.id}/api-keys`;

  const [ada, banned, paused, left, ended] = [
    await signIn('ada@example.com'),
    await signIn('bob@example.com'),
    await signIn('cyd@example.com'),
    await signIn('dan@example.com'),
    await signIn('eve@example.com', brief.clientId),
  ];
  await manage(`${users}/${banned.userId}/ban`);
  await manage(`${users}/${paused.userId}/pause`);
  await instance.call('DELETE', '/api/v1/session', { token: left.token });
  const owner = await instance.signIn('console', 'owner@example.com');
  const foreign = await given.tenant(instance);
  const foreignKey = await instance.call('POST', `/api/applications/${foreign.application.id}/api-keys`, {
    token: foreign.workspaceKey,
    body: { name: 'backend', access: 'read' },
  });
  const read = await instance.createKey(shop.id, { access: 'read' });
  const rotated = await instance.createKey(shop.id);
  await manage(`${keys}/${rotated.id}/rotate`);
  const inGrace = await instance.createKey(shop.id);
  await manage(`${keys}/${inGrace.id}/rotate-with-grace`);
  const devices = sceneOf(instance, shop);
  const credentials = {
    ada: ada.token,
    banned: banned.token,
    paused: paused.token,
    left: left.token,
    ended: ended.token,
    owner: owner.token,
    key: read.token,
    full: (await instance.createKey(shop.id)).token,
    workspaceKey: instance.workspaceKey,
    revoked: (await given.revokedKey(instance, shop.id)).token,
    rotated: rotated.token,
    inGrace: inGrace.token,
    scarce: (await instance.createKey(shop.id, { rateLimits: { perMinute: 2, perDay: 5 } })).token,
    foreignKey: foreignKey.json.data.token as string,
    personal: (await devices.connect(ada)).token,
    clientId: shop.clientId,
    clientSecret: await newSecret(instance, shop),
  };
  instance.clock.advance(301_000);
  return { instance, ...credentials };
}

/** A call. Its texts may name credentials of the scene in braces, such as `Bearer {ada}`. */
export interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Sends no Content-Length. */
  readonly isChunked?: boolean;
  readonly peer?: string | null;
}

/** Builds the request. In braces are credentials, by their name in the scene. */
export function requestOf(scene: Scene, { path, method = 'POST', headers = {}, body, isChunked }: Sent): Request {
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: keyof Scene) => String(scene[name]));
  const isBasic = headers['authorization']?.startsWith('Basic ');
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = filled(value);
    return [name, isBasic && name === 'authorization' ? `Basic ${btoa(text.slice('Basic '.length))}` : text];
  });
  const bytes = typeof body === 'string' ? Buffer.from(filled(body)) : body;
  const stream = bytes && isChunked ? new Blob([bytes]).stream() : bytes;
  const length: [string, string][] = bytes && !isChunked ? [['content-length', String(bytes.byteLength)]] : [];
  return new Request(`http://localhost${path}`, { method, headers: [...shown, ...length], body: stream });
}

/** Counters that a call may change. */
const COUNTERS = [
  'gatehouse_verdicts_total',
  'gatehouse_http_requests_total',
  'gatehouse_rate_limit_refusals_total',
] as const;

async function countersOf({ services }: Instance): Promise<string[]> {
  const found: string[] = [];
  for (const family of services.metrics.families())
    if ((COUNTERS as readonly string[]).includes(family.name))
      for (const { labels, value } of await family.read())
        if (value > 0) found.push(`${family.name} ${JSON.stringify(labels)} ${value}`);
  return found.sort();
}

/** Replaces what differs between two instances or two calls: ids, times of the machine, durations, stacks. */
const comparable = (text: string) =>
  text
    .replace(/\b([a-z]{3})_[0-9a-z]{26}\b/g, '$1_…')
    .replace(/"time":"[^"]+"/g, '"time":"…"')
    .replace(/"time":\d+/g, '"time":0')
    .replace(/"stack":"(?:[^"\\]|\\.)*"/g, '"stack":"…"')
    .replace(/"durationMs":[\d.]+/g, '"durationMs":0');

/** Sends the call, and returns all that anybody can see of it. */
export async function seenOf(scene: Scene, sent: Sent, isShort: boolean) {
  const { instance } = scene;
  instance.peer = (sent.peer === undefined ? '203.0.113.7' : sent.peer) as string;
  instance.logLines.length = 0;
  const path = BUSY_PATHS.find((busy) => busy === sent.path.split('?')[0]);
  const answered = instance.app.fetch(requestOf(scene, sent), isShort && path ? path : 'plain');
  const isAtOnce = !(answered instanceof Promise);
  const response = await answered;
  const shown = {
    status: response.status,
    headers: [...response.headers].map(([name, value]) => comparable(`${name}: ${value}`)).sort(),
    body: comparable(Buffer.from(await response.bytes()).toString('latin1')),
    log: instance.logLines.map(comparable),
    counters: await countersOf(instance),
  };
  return { isAtOnce, shown };
}

/** Returns when sessions, members and keys were last used, as written to the database. */
export async function lastUses({ instance }: Scene): Promise<unknown> {
  await instance.services.flushCounters();
  return ['sessions.last_seen_at', 'application_users.last_seen_at', 'api_keys.last_used_at'].map((column) => {
    const [table, name] = column.split('.');
    return instance.sqlite.query(`SELECT ${name} AS at FROM ${table} ORDER BY created_at, id`).all();
  });
}
