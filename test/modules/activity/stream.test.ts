import { describe, expect, test } from 'bun:test';
import { AppError } from '@/core/error.ts';
import { newId } from '@/core/id.ts';
import { activityFollowers, type Following } from '@/modules/activity/followers.ts';
import type { AuditRecord } from '@/store/audit.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { turns } from '../../support/turns.ts';
import { follow, type Listening } from '../live/listen.ts';
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

/** An open stream that has begun. */
async function listening({ app }: Instance, path: string, headers: Record<string, string>): Promise<Listening> {
  const stream = follow(await app.fetch(request(path, headers)));
  expect(stream.status).toBe(200);
  expect(await stream.told()).toEqual([{ event: 'ready', data: {} }]);
  return stream;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const kinds = async (stream: Listening) => (await stream.told()).map(({ event, data }) => [event, data.kind]);

describe('a stream of activity', () => {
  test('tells each record as the list shows it, under its id, to its application and to the workspace', async () => {
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

  test('tells nothing of a change that was rolled back', async () => {
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

  test('is for a session in the cookie of our own pages, and for no other site', async () => {
    const { instance, ofShop, manage } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const headers = { cookie: `gatehouse=${owner.token}`, 'sec-fetch-site': 'same-origin' };
    const stream = await listening(instance, ofShop, headers);
    await manage('POST', '/roles', { body: { slug: 'editor' } });
    expect(await kinds(stream)).toEqual([['activity', 'role.created']]);
    const foreign = await instance.app.fetch(request(ofShop, { ...headers, 'sec-fetch-site': 'cross-site' }));
    expect(foreign.status).toBe(403);
  });

  test('keeps the connection alive', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    await instance.services.scheduler.runAll();
    await turns();
    expect(stream.text()).toEndWith(': heartbeat\n\n');
    expect(await stream.told()).toEqual([]);
  });

  test('is forgotten when its reader leaves', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    expect(instance.services.activity.count()).toBe(1);
    await stream.leave();
    expect(instance.services.activity.count()).toBe(0);
  });

  test('is refused beyond twenty of one caller', async () => {
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
    'its seat is lost',
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

describe('a stream of activity ends, before it tells anything more, when', () => {
  test.each(LOSSES)('%s', async (_, code, lose, by) => {
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

  test('its session expires, with the next heartbeat at the latest', async () => {
    const { instance, ofShop } = await setUp();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const stream = await listening(instance, ofShop, bearer(token));
    instance.clock.advance(400 * 24 * 3_600_000);
    await instance.services.scheduler.runAll();
    expect((await stream.told()).at(-1)).toEqual({ event: 'ended', data: { error: 'unauthenticated' } });
    expect(stream.isClosed()).toBe(true);
  });

  test('the server stops', async () => {
    const { instance, ofShop } = await setUp();
    const stream = await listening(instance, ofShop, bearer(instance.workspaceKey));
    instance.services.activity.closeAll();
    expect(await stream.told()).toEqual([]);
    expect(stream.isClosed()).toBe(true);
  });
});

describe('a reader that is too slow', () => {
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

  const following = (confirm: Following['confirm'] = async () => {}): Following => ({
    workspaceId: 'wsp_1',
    budgetId: 'usr_maker',
    applicationId: null,
    userId: 'usr_1',
    confirm,
  });

  test('holds a bounded number of bytes, is told how many were left out, and hears what comes then', async () => {
    const followers = activityFollowers({} as never);
    const stream = followers.open(following());
    const many = Array.from({ length: 200 }, () => record('x'.repeat(1024)));
    for (let sent = 0; sent < many.length; sent += 50) {
      followers.publish(many.slice(sent, sent + 50));
      await turns();
    }
    const reader = follow(new Response(stream));
    const told = (await reader.told()).filter(({ event }) => event === 'activity');
    expect(reader.text().length).toBeLessThan(160 * 1024);
    expect(told.map(({ data }) => data.id)).toEqual(many.slice(0, told.length).map(({ id }) => id));
    followers.publish([record('last')]);
    const [gap, last, ...rest] = await reader.told();
    expect(gap).toEqual({ event: 'gap', data: { dropped: 200 - told.length } });
    expect([last!.data.detail.text, rest]).toEqual(['last', []]);
  });

  test('holds a bounded number of records that were made at once', async () => {
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

  test('finds a place though all workspaces of another maker have taken theirs, 500 in all', () => {
    const followers = activityFollowers({} as never);
    const open = (count: number, budgetId: string) =>
      followers.open({ ...following(), workspaceId: `wsp_${count % 40}`, budgetId, userId: `usr_${count}` });
    for (let count = 0; count < 500; count += 1) open(count, 'usr_maker');
    expect(() => open(500, 'usr_maker')).toThrow('Too many open streams');
    open(500, 'usr_other');
    expect(followers.count()).toBe(501);
    followers.closeAll();
    expect(followers.count()).toBe(0);
  });

  test('takes the place of the oldest stream of the maker with most, where all are taken', async () => {
    const followers = activityFollowers({} as never);
    const open = (count: number, budgetId: string) =>
      followers.open({ ...following(), workspaceId: `wsp_${count}`, budgetId, userId: `usr_${count}` });
    const oldest = follow(new Response(open(0, 'usr_0')));
    for (let count = 1; count < 10_000; count += 1) open(count, `usr_${Math.floor(count / 500)}`);
    const own = follow(new Response(open(10_000, 'usr_own')));
    await Promise.all([oldest.told(), own.told()]);
    expect([followers.count(), oldest.isClosed(), own.isClosed()]).toEqual([10_000, true, false]);
    followers.closeAll();
  });

  test('is let go where nobody can say whether it may read on', async () => {
    const followers = activityFollowers({} as never);
    const refuse = async () => {
      throw new Error('the disk');
    };
    const [lost, refused] = [
      follow(new Response(followers.open(following(refuse)))),
      follow(
        new Response(
          followers.open(
            following(async () => {
              throw new AppError('not_found');
            }),
          ),
        ),
      ),
    ];
    followers.publish([record('')]);
    expect([(await lost.told()).map(({ event }) => event), lost.isClosed()]).toEqual([['ready'], true]);
    expect((await refused.told()).slice(1)).toEqual([{ event: 'ended', data: { error: 'not_found' } }]);
    expect(followers.count()).toBe(0);
  });
});
