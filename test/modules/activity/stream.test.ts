import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { AppError } from '@/core/error.ts';
import { newId } from '@/core/id.ts';
import { activityStreams, type ActivityStreamOptions } from '@/modules/activity/streams.ts';
import { AUDIT_RECORDED, recordAudit } from '@/store/audit.ts';
import { openTestDatabase } from '../../support/database.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { turns } from '../../support/turns.ts';
import { follow, type Listening, messagesIn } from '../live/listen.ts';
import { managing } from '../users/management.ts';

async function setUp() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  const tenant = await given.tenant(instance);
  const ofShop = `/api/applications/${shop.id}/activity/events`;
  return { instance, shop, other, tenant, ofShop, manage: managing(instance, shop) };
}

const OF_WORKSPACE = '/api/workspace/activity/events';

function request(path: string, headers: Record<string, string>): Request {
  return new Request(`http://localhost${path}`, { headers });
}

/** Opens a stream and waits until it has begun. */
async function listening({ app }: Instance, path: string, headers: Record<string, string>): Promise<Listening> {
  const stream = follow(await app.fetch(request(path, headers)));
  expect(stream.status).toBe(200);
  expect(await stream.told()).toEqual([{ event: 'ready', data: {} }]);
  return stream;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const kinds = async (stream: Listening) => (await stream.told()).map(({ event, data }) => [event, data.kind]);

describe('an activity stream', () => {
  test('sends each record as the list shows it, with its id, to followers of the application and the workspace', async () => {
    const { instance, shop, other, tenant, ofShop, manage } = await setUp();
    const key = bearer(instance.workspaceKey);
    const streams = [await listening(instance, ofShop, key), await listening(instance, OF_WORKSPACE, key)] as const;
    const elsewhere = await listening(instance, OF_WORKSPACE, bearer(tenant.workspaceKey));
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    await managing(instance, other)('POST', '/scopes', { body: { slug: 'read' } });
    await instance.call('PATCH', '/api/workspace', { token: instance.workspaceKey, body: { name: 'House' } });
    const [ofOne, ofAll] = [await streams[0].told(), await streams[1].told()];
    expect(ofOne.map(({ data }) => data.kind)).toEqual(['role.created']);
    expect(ofAll.map(({ data }) => data.kind)).toEqual(['role.created', 'scope.created', 'workspace.updated']);
    expect(await elsewhere.told()).toEqual([]);
    const { items } = (await manage('GET', '/activity/list?family=role')).json.data;
    expect(ofOne[0]).toEqual({ event: 'activity', data: items[0] });
    expect(streams[0].text()).toContain(`id: ${items[0].id}\nevent: activity\n`);
    expect(streams[0].headers.get('content-type')).toStartWith('text/event-stream');
    expect(shop.id).toBe(items[0].applicationId);
  });

  test('sends nothing for a change that was rolled back', async () => {
    const { instance, ofShop, manage } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    const mend = given.brokenWrites(instance, 'INSERT ON roles');
    expect((await manage('POST', '/roles', { body: { slug: 'editor' } })).status).toBe(500);
    mend();
    const { userId } = await instance.signIn(
      (await instance.createApplication({ name: 'Third' })).clientId,
      'ada@example.com',
    );
    given.brokenWrites(instance, 'INSERT ON events');
    await manage('POST', `/users/${userId}/ban`);
    expect(await stream.told()).toEqual([]);
  });

  test('accepts the session cookie from our own origin only', async () => {
    const { instance, ofShop, manage } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const headers = { cookie: `gatehouse=${owner.token}`, 'sec-fetch-site': 'same-origin' };
    const stream = await listening(instance, ofShop, headers);
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    expect(await kinds(stream)).toEqual([['activity', 'role.created']]);
    const foreign = await instance.app.fetch(request(ofShop, { ...headers, 'sec-fetch-site': 'cross-site' }));
    expect(foreign.status).toBe(403);
  });

  test('sends heartbeats', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    await instance.services.scheduler.runAll();
    await turns();
    expect(stream.text()).toEndWith(': heartbeat\n\n');
    expect(await stream.told()).toEqual([]);
  });

  test('is removed when its reader disconnects', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    expect(instance.services.activity.count()).toBe(1);
    await stream.leave();
    expect(instance.services.activity.count()).toBe(0);
  });

  test('is limited to twenty per caller', async () => {
    const { instance, ofShop, tenant } = await setUp();
    for (let open = 0; open < 20; open += 1) await listening(instance, ofShop, bearer(instance.workspaceKey));
    const refused = await instance.call('GET', OF_WORKSPACE, { token: instance.workspaceKey });
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('15');
    await listening(instance, OF_WORKSPACE, bearer(tenant.workspaceKey));
  });
});

type Loss = [
  what: string,
  code: string,
  lose: (
    scene: Awaited<ReturnType<typeof setUp>>,
    caller: { token: string; id: string },
  ) => Promise<{ readonly status: number }>,
  by: 'key' | 'member',
];

const whole = (instance: Instance) => ({ token: instance.workspaceKey });

const LOSSES: Loss[] = [
  ['its key is revoked', 'unauthenticated', ({ manage }, { id }) => manage('DELETE', `/api-keys/${id}`), 'key'],
  [
    'its key is rotated away',
    'unauthenticated',
    ({ manage }, { id }) => manage('POST', `/api-keys/${id}/rotate`),
    'key',
  ],
  [
    'its workspace membership ends',
    'membership_blocked',
    ({ instance }, { id }) => instance.call('DELETE', `/api/workspace/members/${id}`, whole(instance)),
    'member',
  ],
  [
    'its session ends',
    'unauthenticated',
    ({ instance }, { token }) => instance.call('DELETE', '/api/v1/session', { token }),
    'member',
  ],
];

describe('an activity stream ends', () => {
  test.each(LOSSES)('before it sends another record, when %s', async (_, code, lose, by) => {
    const scene = await setUp();
    const { instance, shop, ofShop, manage } = scene;
    const member = await given.consoleMember(instance, 'mia@example.com', 'member');
    const key = await instance.createKey(shop.id, { access: 'read' });
    const caller = by === 'key' ? key : { token: member.token, id: member.memberId };
    const stream = await listening(instance, ofShop, bearer(caller.token));
    await manage('POST', '/roles', { body: { slug: 'before' } });
    expect(await kinds(stream)).toEqual([['activity', 'role.created']]);
    expect((await lose(scene, caller)).status).toBe(200);
    await manage('POST', '/roles', { body: { slug: 'after' } });
    expect(await stream.told()).toEqual([{ event: 'ended', data: { error: code } }]);
    expect(stream.isClosed()).toBe(true);
    expect(instance.services.activity.count()).toBe(0);
  });

  test('when its session expires, at the next heartbeat at the latest', async () => {
    const { instance, ofShop } = await setUp();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const stream = await listening(instance, ofShop, bearer(token));
    instance.clock.advance(400 * 24 * 3_600_000);
    await instance.services.scheduler.runAll();
    expect((await stream.told()).at(-1)).toEqual({ event: 'ended', data: { error: 'unauthenticated' } });
    expect(stream.isClosed()).toBe(true);
  });

  test('when the server stops', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    instance.services.activity.closeAll();
    expect(await stream.told()).toEqual([]);
    expect(stream.isClosed()).toBe(true);
  });
});

describe('a slow reader of activity', () => {
  const record = (text: string): AuditRecord =>
    ({
      id: newId('audit', START),
      workspaceId: 'wsp_1',
      applicationId: 'app_1',
      kind: 'role.created',
      ok: true,
      userId: null,
      detail: { text },
      createdAt: START,
    }) as unknown as AuditRecord;

  async function listed({ manage }: Awaited<ReturnType<typeof setUp>>): Promise<string[]> {
    const { items } = (await manage('GET', '/activity/list?family=role&limit=100')).json.data;
    return (items as { id: string }[]).map(({ id }) => id).toReversed();
  }

  async function record({ manage }: Awaited<ReturnType<typeof setUp>>, from: number, count: number) {
    for (let made = from; made < from + count; made += 1)
      await manage('POST', '/roles', { body: { slug: `r${made}` } });
  }

  test('begins behind the last record of its reader: nothing is left out, nothing comes twice', async () => {
    const scene = await setUp();
    const { instance, ofShop } = scene;
    const key = bearer(instance.workspaceKey);
    const first = await listening(instance, ofShop, key);
    await record(scene, 0, 3);
    await first.told();
    const [last] = idsIn(first.text()).slice(-1);
    await first.leave();
    await record(scene, 3, 4);
    const again = follow(await instance.app.fetch(request(ofShop, { ...key, 'last-event-id': last! })));
    await again.told();
    await record(scene, 7, 1);
    await again.told();
    expect([...idsIn(first.text()), ...idsIn(again.text())]).toEqual(await listed(scene));
  });

  test('buffers a bounded number of bytes, gets the number of dropped records, and then continues', async () => {
    const followers = activityFollowers({} as never);
    const stream = followers.open(following());
    const many = Array.from({ length: 200 }, () => record('x'.repeat(1024)));
    for (let sent = 0; sent < many.length; sent += 50) {
      followers.publish(many.slice(sent, sent + 50));
      await turns();
    }
    const reader = follow(new Response(stream));
    const received = (await reader.told()).filter(({ event }) => event === 'activity');
    expect(reader.text().length).toBeLessThan(160 * 1024);
    expect(received.map(({ data }) => data.id)).toEqual(many.slice(0, received.length).map(({ id }) => id));
    followers.publish([record('last')]);
    const [gap, last, ...rest] = await reader.told();
    expect(gap).toEqual({ event: 'gap', data: { dropped: 200 - received.length } });
    expect([last!.data.detail.text, rest]).toEqual(['last', []]);
  });

  test('buffers a bounded number of records that are published at once', async () => {
    const followers = activityFollowers({} as never);
    const reader = follow(new Response(followers.open(following())));
    followers.publish(Array.from({ length: 800 }, () => record('')));
    const messages = await reader.told();
    await followers.heartbeat();
    messages.push(...(await reader.told()));
    const count = (name: string) => messages.filter(({ event }) => event === name).length;
    const gaps = messages.filter(({ event }) => event === 'gap').map(({ data }) => data.dropped as number);
    expect(count('activity') + gaps.reduce((sum, dropped) => sum + dropped, 0)).toBe(800);
    expect(count('activity')).toBeLessThanOrEqual(500);
  });

  test('gets a stream although another budget owner has used its limit of 500', () => {
    const followers = activityFollowers({} as never);
    const open = (count: number, budgetId: string) =>
      streams.open({ ...options(), workspaceId: `wsp_${count % 40}`, budgetId, userId: `usr_${count}` });
    for (let count = 0; count < 500; count += 1) open(count, 'usr_maker');
    expect(() => open(500, 'usr_maker')).toThrow('Too many open streams');
    open(500, 'usr_other');
    expect(streams.count()).toBe(501);
    streams.closeAll();
    expect(streams.count()).toBe(0);
  });

  test('replaces the oldest stream of the largest budget owner when all slots are taken', async () => {
    const followers = activityFollowers({} as never);
    const open = (count: number, budgetId: string) =>
      streams.open({ ...options(), workspaceId: `wsp_${count}`, budgetId, userId: `usr_${count}` });
    const oldest = follow(new Response(open(0, 'usr_0')));
    for (let count = 1; count < 10_000; count += 1) open(count, `usr_${Math.floor(count / 500)}`);
    const own = follow(new Response(open(10_000, 'usr_own')));
    await Promise.all([oldest.told(), own.told()]);
    expect([streams.count(), oldest.isClosed(), own.isClosed()]).toEqual([10_000, true, false]);
    streams.closeAll();
  });

  test('is disconnected when its permission cannot be checked', async () => {
    const followers = activityFollowers({} as never);
    const refuse = async () => {
      throw new Error('the disk');
    };
    const deny = async () => {
      throw new AppError('not_found');
    };
    const [lost, refused] = [
      follow(new Response(streams.open(options(refuse)))),
      follow(new Response(streams.open(options(deny)))),
    ];
    expect([(await lost.told()).map(({ event }) => event), lost.isClosed()]).toEqual([['ready'], true]);
    expect((await refused.told()).slice(1)).toEqual([{ event: 'ended', data: { error: 'not_found' } }]);
    expect(streams.count()).toBe(0);
  });
});
