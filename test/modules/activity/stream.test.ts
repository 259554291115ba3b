import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { AppError } from '@/core/error.ts';
import { newId } from '@/core/id.ts';
import { activityStreams, type ActivityStreamOptions } from '@/modules/activity/streams.ts';
import { AUDIT_NOTICED, recordAudit } from '@/store/audit.ts';
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
    const repair = given.brokenWrites(instance, 'INSERT ON roles');
    expect((await manage('POST', '/roles', { body: { slug: 'editor' } })).status).toBe(500);
    repair();
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

describe('a stream that is opened again', () => {
  const idsIn = (text: string) => [...text.matchAll(/^id: (aud_\w+)\nevent: activity$/gm)].map(([, id]) => id!);

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

  test('begins where the earlier one did if that had no record yet', async () => {
    const scene = await setUp();
    const { instance, ofShop } = scene;
    const key = bearer(instance.workspaceKey);
    const first = await listening(instance, ofShop, key);
    const [, id] = /^id: (aud_\w+)\nevent: ready$/m.exec(first.text())!;
    await first.leave();
    await record(scene, 0, 2);
    const again = follow(await instance.app.fetch(request(ofShop, { ...key, 'last-event-id': id! })));
    await again.told();
    expect(idsIn(again.text())).toEqual(await listed(scene));
  });

  test('gets more than one batch, at the pace of its reader', async () => {
    const { instance, shop, ofShop } = await setUp();
    const key = bearer(instance.workspaceKey);
    const first = await listening(instance, ofShop, key);
    const [, id] = /^id: (aud_\w+)\nevent: ready$/m.exec(first.text())!;
    await first.leave();
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      for (let made = 0; made < 250; made += 1)
        await recordAudit(unit, { kind: 'role.created', applicationId: shop.id, detail: { text: 'x'.repeat(1024) } });
    });
    const response = await instance.app.fetch(request(ofShop, { ...key, 'last-event-id': id! }));
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (idsIn(text).length < 250) text += decoder.decode((await reader.read()).value, { stream: true });
    expect(new Set(idsIn(text)).size).toBe(250);
    await reader.cancel();
  });

  test('gets `reload` if its id is unknown, of another tenant or deleted, and then new records', async () => {
    const scene = await setUp();
    const { instance, ofShop, tenant, other } = scene;
    const key = bearer(instance.workspaceKey);
    await record(scene, 0, 2);
    await managing(instance, other)('POST', '/scopes', { body: { slug: 'read' } });
    const [deleted] = await listed(scene);
    instance.sqlite.run('DELETE FROM audit_records WHERE id = ?', [deleted!]);
    const idOf = (condition: string, value: string) =>
      (instance.sqlite.query(`SELECT id FROM audit_records WHERE ${condition} = ?`).get(value) as { id: string }).id;
    const foreign = idOf('workspace_id', tenant.workspaceId);
    const elsewhere = idOf('application_id', other.id);
    for (const last of [deleted!, foreign, elsewhere, newId('audit', START), "' OR 1=1", 'x'.repeat(5000)]) {
      const stream = follow(await instance.app.fetch(request(ofShop, { ...key, 'last-event-id': last })));
      expect((await stream.told()).map(({ event }) => event)).toEqual(['ready', 'reload']);
      const [newest] = (await listed(scene)).slice(-1);
      expect(stream.text()).toContain(`id: ${newest}\nevent: reload\n`);
      const slug = `s${newId('audit', START).slice(-8)}`;
      await scene.manage('POST', '/roles', { body: { slug } });
      expect(await kinds(stream)).toEqual([['activity', 'role.created']]);
      await stream.leave();
    }
  });

  test('is authorized like any other: a record of its id opens nothing to a key without access', async () => {
    const scene = await setUp();
    const { instance, ofShop, tenant } = scene;
    await record(scene, 0, 1);
    const [last] = await listed(scene);
    const headers = { ...bearer(tenant.workspaceKey), 'last-event-id': last! };
    expect((await instance.app.fetch(request(ofShop, headers))).status).toBe(404);
    const own = follow(await instance.app.fetch(request(OF_WORKSPACE, headers)));
    expect((await own.told()).map(({ event }) => event)).toEqual(['ready', 'reload']);
  });

  test('gets `reload` when the clock went back, since new records precede those it has', async () => {
    const { db, clock, now } = await movableDatabase();
    const streams = activityStreams(db.reader, clock);
    db.onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices));
    const write = () =>
      db.write(SYSTEM_ACTOR, (unit) => recordAudit(unit, { kind: 'role.created', workspaceId: 'wsp_1' }));
    const stream = follow(new Response(streams.open(options())));
    await stream.told();
    await write();
    now.at -= 60_000;
    await write();
    expect((await stream.told()).map(({ event }) => event)).toEqual(['activity', 'reload']);
    now.at += 120_000;
    await write();
    expect((await stream.told()).map(({ event }) => event)).toEqual(['activity']);
    now.at -= 60_000;
    const later = activityStreams(db.reader, clock);
    db.onCommit(AUDIT_NOTICED, (notices) => later.hear(notices));
    const begun = follow(new Response(later.open(options())));
    await begun.told();
    await write();
    expect((await begun.told()).map(({ event }) => event)).toEqual(['reload']);
  });

  test('is told to reload when it has caught up with records of before the clock went back', async () => {
    const { db, sqlite, clock, now } = await movableDatabase();
    const write = () =>
      db.write(SYSTEM_ACTOR, (unit) => recordAudit(unit, { kind: 'role.created', workspaceId: 'wsp_1' }));
    await write();
    const { id: after } = sqlite.query('SELECT id FROM audit_records').get() as { id: string };
    now.at += 60_000;
    await write();
    now.at -= 30_000;
    const streams = activityStreams(db.reader, clock);
    db.onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices));
    const stream = follow(new Response(streams.open({ ...options(), after })));
    expect((await stream.told()).map(({ event }) => event)).toEqual(['ready', 'activity']);
    await write();
    expect((await stream.told()).map(({ event }) => event)).toEqual(['reload']);
  });
});

const options = (
  confirm: ActivityStreamOptions['confirm'] = async () => ({ maySeeNames: true }),
): ActivityStreamOptions => ({
  workspaceId: 'wsp_1',
  budgetId: 'usr_maker',
  applicationId: null,
  userId: 'usr_1',
  credentialId: 'ses_1',
  after: null,
  confirm,
});

async function movableDatabase() {
  const now = { at: START };
  const clock = { now: () => now.at };
  return { ...(await openTestDatabase(clock)), now, clock };
}

describe('a reader that is too slow', () => {
  test('has nothing buffered for it, and gets every record once it reads', async () => {
    const { db, clock } = await movableDatabase();
    const streams = activityStreams(db.reader, clock);
    db.onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices));
    let lists = 0;
    const stream = streams.open(options(async () => ({ maySeeNames: (lists += 1) > 0 })));
    const slow = stream.getReader();
    // The stream begins: its position is the newest record of now.
    await slow.read();
    for (let made = 0; made < 300; made += 1)
      await db.write(SYSTEM_ACTOR, (unit) =>
        recordAudit(unit, { kind: 'role.created', workspaceId: 'wsp_1', detail: { made } }),
      );
    await turns();
    expect(lists).toBe(0);
    const decoder = new TextDecoder();
    const made: number[] = [];
    while (made.length < 300) {
      const messages = messagesIn(decoder.decode((await slow.read()).value));
      made.push(...messages.map(({ data }) => data.detail.made as number));
    }
    expect(made).toEqual(Array.from({ length: 300 }, (_, index) => index));
  });

  test('gets nothing more once its right has ended, though it has not read the batch to its end', async () => {
    const { db, clock } = await movableDatabase();
    const streams = activityStreams(db.reader, clock);
    db.onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices));
    const record = (count: number) =>
      db.write(SYSTEM_ACTOR, async (unit) => {
        for (let made = 0; made < count; made += 1)
          await recordAudit(unit, { kind: 'role.created', workspaceId: 'wsp_1' });
      });
    let isLost = false;
    const confirm = async () => {
      if (isLost) throw new AppError('not_found');
      return { maySeeNames: true };
    };
    const reader = streams.open(options(confirm)).getReader();
    const next = async () =>
      messagesIn(new TextDecoder().decode((await reader.read()).value)).map(({ event }) => event);
    expect(await next()).toEqual(['ready']);
    await record(50);
    expect([await next(), await next()]).toEqual([['activity'], ['activity']]);
    isLost = true;
    await record(1);
    await turns();
    expect(await next()).toEqual(['ended']);
    expect((await reader.read()).done).toBe(true);
  });

  test('finds a slot though all workspaces of another maker have taken theirs, 500 in all', () => {
    const streams = activityStreams({} as never, { now: () => START });
    const open = (count: number, budgetId: string) =>
      streams.open({ ...options(), workspaceId: `wsp_${count % 40}`, budgetId, userId: `usr_${count}` });
    for (let count = 0; count < 500; count += 1) open(count, 'usr_maker');
    expect(() => open(500, 'usr_maker')).toThrow('Too many open streams');
    open(500, 'usr_other');
    expect(streams.count()).toBe(501);
    streams.closeAll();
    expect(streams.count()).toBe(0);
  });

  test('takes the slot of the oldest stream of the maker with most, where all are taken', async () => {
    const { db, clock } = await movableDatabase();
    const streams = activityStreams(db.reader, clock);
    const open = (count: number, budgetId: string) =>
      streams.open({ ...options(), workspaceId: `wsp_${count}`, budgetId, userId: `usr_${count}` });
    const oldest = follow(new Response(open(0, 'usr_0')));
    for (let count = 1; count < 10_000; count += 1) open(count, `usr_${Math.floor(count / 500)}`);
    const own = follow(new Response(open(10_000, 'usr_own')));
    await Promise.all([oldest.told(), own.told()]);
    expect([streams.count(), oldest.isClosed(), own.isClosed()]).toEqual([10_000, true, false]);
    streams.closeAll();
  });

  test('is closed where its right to read on cannot be checked', async () => {
    const { db, clock } = await movableDatabase();
    const streams = activityStreams(db.reader, clock);
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
