/** Held deliveries of an endpoint: how long they are kept, how its owners are notified, and what happens to them. */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR } from '@/core/clock.ts';
import { newId } from '@/core/id.ts';
import * as given from '../../support/given.ts';
import { emit, quarantine, type Scene, setUp, subscribe } from './scene.ts';

/** A quarantined endpoint with held events, all created now. */
async function quarantineWithEvents(count: number, options: Parameters<typeof setUp>[0] = {}) {
  const scene = await setUp(options);
  const endpoint = await subscribe(scene);
  await quarantine(scene, endpoint);
  for (let at = 0; at < count; at += 1) await emit(scene, `usr_${at}`);
  const { instance, api } = scene;
  return {
    ...scene,
    ...endpoint,
    /** Moves the clock as an ephemeral instance does. */
    async pass(ms: number) {
      instance.clock.advance(ms);
      await instance.services.scheduler.runAll();
      await instance.services.tasks.runOnce();
    },
    left: async () => (await api.deliveries(endpoint.id, '?status=held&limit=200')).json.data.items.length as number,
  };
}

interface MailRow {
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly expiresAt: number;
}

/** The mails that announce the end of held deliveries. */
const notices = ({ instance }: Pick<Scene, 'instance'>) =>
  instance.sqlite
    .query(
      `SELECT recipient, subject, text, expires_at AS expiresAt FROM mails WHERE text LIKE '%/webhooks/whk_%' ORDER BY rowid`,
    )
    .all() as MailRow[];

const drops = ({ instance, application }: Pick<Scene, 'instance' | 'application'>) =>
  (
    instance.sqlite
      .query(
        "SELECT detail FROM audit_records WHERE kind = 'webhook.held_dropped' AND application_id = ? ORDER BY rowid",
      )
      .all(application.id) as { detail: string }[]
  ).map(({ detail }) => JSON.parse(detail).dropped as number);

describe('the held events of a quarantined endpoint', () => {
  test('are announced to the owners once, a week before they are dropped, with all details', async () => {
    const scene = await quarantineWithEvents(3);
    const { application, id, receiver, pass } = scene;
    // From noon of 2 March to the end of 1 April.
    await pass(23 * DAY + 11 * HOUR);
    expect(notices(scene)).toEqual([]);
    await pass(HOUR);
    const [mail, ...others] = notices(scene);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ recipient: 'owner@example.com' });
    expect(mail?.subject).toContain(application.name);
    for (const part of [
      '3 events wait',
      receiver.url,
      'April 2, 2026',
      `/console/applications/${application.id}/webhooks/${id}`,
    ])
      expect(mail?.text).toContain(part);
    await pass(HOUR);
    await pass(5 * DAY);
    expect(notices(scene)).toHaveLength(1);
    expect(await scene.left()).toBe(3);
  });

  test('are announced in the language of each owner', async () => {
    const scene = await quarantineWithEvents(1);
    const { instance } = scene;
    const { userId } = instance.sqlite
      .query("SELECT user_id AS userId FROM workspace_members WHERE role = 'owner'")
      .get() as { userId: string };
    await given.person(instance, userId, { locale: 'de' });
    await scene.pass(24 * DAY);
    expect(notices(scene)[0]?.text).toContain('Ab dem 2. April 2026');
  });

  test('are dropped after thirty days with a record of their number; younger ones stay', async () => {
    const scene = await quarantineWithEvents(3);
    const { instance, pass, left } = scene;
    await pass(20 * DAY);
    await emit(scene, 'usr_later');
    await pass(4 * DAY);
    await pass(7 * DAY - HOUR);
    expect([await left(), drops(scene)]).toEqual([4, []]);
    await pass(HOUR);
    expect([await left(), drops(scene)]).toEqual([1, [3]]);
    // The next sweep deletes their events.
    await pass(HOUR);
    const events = instance.sqlite.query("SELECT data FROM events WHERE type = 'user.banned'").all() as {
      data: string;
    }[];
    expect(events.map(({ data }) => JSON.parse(data).userId)).toEqual(['usr_later']);
    // The later event is dropped later, without another mail.
    await pass(20 * DAY);
    expect([await left(), drops(scene), notices(scene).length]).toEqual([0, [3, 1], 1]);
  });

  test('are dropped once a day, however often the job runs', async () => {
    const scene = await quarantineWithEvents(1);
    const { pass } = scene;
    await pass(DAY);
    await emit(scene, 'usr_next_day');
    await pass(HOUR);
    await emit(scene, 'usr_same_day');
    await pass(31 * DAY);
    await pass(7 * DAY);
    for (let hour = 0; hour < 5; hour += 1) await pass(HOUR);
    expect(drops(scene)).toEqual([3]);
  });

  test('are never dropped less than a week after the mail, however old they were by then', async () => {
    const scene = await quarantineWithEvents(2);
    await scene.pass(90 * DAY);
    expect([notices(scene).length, await scene.left()]).toEqual([1, 2]);
    await scene.pass(7 * DAY - 1);
    expect(await scene.left()).toBe(2);
    await scene.pass(1);
    expect([await scene.left(), drops(scene)]).toEqual([0, [2]]);
  });

  test('are all sent if the endpoint is released in time, and the next quarantine is announced again', async () => {
    const scene = await quarantineWithEvents(2);
    const { instance, api, id, receiver, pass } = scene;
    await pass(30 * DAY);
    expect(notices(scene)).toHaveLength(1);
    expect((await api.release(id)).status).toBe(200);
    await instance.services.deliveries.runOnce();
    expect(receiver.received.map(({ event }) => event.data['userId']).slice(-2)).toEqual(['usr_0', 'usr_1']);
    await quarantine(scene, scene);
    await emit(scene, 'usr_again');
    await pass(8 * DAY);
    expect([await scene.left(), drops(scene), notices(scene).length]).toEqual([1, [], 1]);
    await pass(17 * DAY);
    expect(notices(scene)).toHaveLength(2);
  });

  test('are announced once and dropped once, by concurrent sweeps and across a restart', async () => {
    const scene = await quarantineWithEvents(2);
    const { instance } = scene;
    instance.clock.advance(25 * DAY);
    const restarted = await instance.restart();
    await Promise.all([instance.services.scheduler.runAll(), restarted.services.scheduler.runAll()]);
    expect(notices(scene)).toHaveLength(1);
    instance.clock.advance(7 * DAY);
    await Promise.all([instance.services.scheduler.runAll(), restarted.services.scheduler.runAll()]);
    await restarted.services.tasks.runOnce();
    expect([drops(scene), await scene.left()]).toEqual([[2], 0]);
  });

  test('are dropped without a mail if the endpoint or its application is deleted', async () => {
    const scene = await quarantineWithEvents(2);
    const { instance, api, id, application, pass } = scene;
    const other = await subscribe(scene);
    await quarantine(scene, other);
    await emit(scene, 'usr_other');
    expect((await api.remove(id)).status).toBe(200);
    await given.application(instance, application.id, { deletedAt: instance.clock.now() });
    await pass(25 * DAY);
    await pass(7 * DAY);
    expect(notices(scene)).toEqual([]);
    expect(instance.sqlite.query("SELECT count(*) AS n FROM deliveries WHERE status = 'pending'").get()).toEqual({
      n: 0,
    });
  });

  test('wait if the workspace has no mails left, and are announced and dropped later', async () => {
    const scene = await quarantineWithEvents(1, { environment: { GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '1' } });
    const { pass } = scene;
    const other = await subscribe(scene);
    await quarantine(scene, other);
    await emit(scene, 'usr_other');
    await pass(40 * DAY);
    expect(notices(scene)).toHaveLength(1);
    await pass(HOUR);
    expect(notices(scene)).toHaveLength(2);
    await pass(7 * DAY);
    expect(await scene.left()).toBe(0);
  });

  test('are dropped eventually even if the workspace never has a mail left', async () => {
    const scene = await quarantineWithEvents(1);
    const { instance, pass } = scene;
    const spend = async () => {
      const hour = instance.clock.now() - (instance.clock.now() % HOUR);
      instance.sqlite.run("DELETE FROM rate_counters WHERE bucket = 'workspace-mail'");
      instance.sqlite.run(
        'INSERT INTO rate_counters (bucket, subject, window_started_at, window_ends_at, count) VALUES (?, ?, ?, ?, 1000)',
        ['workspace-mail', instance.workspaceId, hour, hour + HOUR],
      );
    };
    const passSpent = async (ms: number) => {
      instance.clock.advance(ms);
      await spend();
      await pass(0);
    };
    await passSpent(59 * DAY);
    await passSpent(2 * DAY);
    expect([notices(scene).length, await scene.left()]).toEqual([0, 1]);
    await passSpent(7 * DAY);
    expect([notices(scene).length, drops(scene)]).toEqual([0, [1]]);
  });
});

describe('the pending events of a disabled endpoint', () => {
  test('are kept as long, and the mail tells its owners to enable it', async () => {
    const scene = await quarantineWithEvents(2);
    const { api, id, instance } = scene;
    await api.release(id);
    await instance.services.deliveries.runOnce();
    await instance.services.deliveries.stop();
    await emit(scene, 'usr_waiting');
    expect((await api.patch(id, { status: 'disabled' })).status).toBe(200);
    await scene.pass(25 * DAY);
    expect(notices(scene)[0]?.text).toContain('Switch the webhook on again');
    await scene.pass(7 * DAY);
    expect(drops(scene)).toEqual([1]);
  });
});

test('thousands of held events are dropped in batches with a single record', async () => {
  const scene = await quarantineWithEvents(0);
  const { instance, application, id, pass } = scene;
  const { sqlite, clock } = instance;
  sqlite.transaction(() => {
    const at = clock.now();
    for (let index = 0; index < 2500; index += 1) {
      const eventId = newId('event', at);
      sqlite
        .prepare("INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, 'user.left', '{}', ?)")
        .run(eventId, application.id, at);
      sqlite
        .prepare(
          `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
           VALUES (?, ?, ?, 'user.left', 'pending', 0, ?, ?)`,
        )
        .run(newId('delivery', at), id, eventId, at, at);
    }
  })();
  await pass(24 * DAY);
  expect(notices(scene)[0]?.text).toContain('2,500 events wait');
  await pass(7 * DAY);
  expect([drops(scene), await scene.left()]).toEqual([[2500], 0]);
});

test('the query for held events uses an index', async () => {
  const { instance } = await quarantineWithEvents(1);
  const plan = instance.sqlite
    .query(
      `EXPLAIN QUERY PLAN SELECT id, (SELECT created_at FROM deliveries WHERE id = (
         SELECT min(d.id) FROM deliveries d WHERE d.webhook_id = w.id AND d.status = 'pending')) AS oldestAt
       FROM webhooks w WHERE status <> 'active' AND removed_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    )
    .all('', 1) as { detail: string }[];
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH w USING INDEX webhooks_resting (id>?)',
    'CORRELATED SCALAR SUBQUERY 2',
    'SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1 (id=?)',
    'CORRELATED SCALAR SUBQUERY 1',
    'SEARCH d USING COVERING INDEX deliveries_by_status (webhook_id=? AND status=?)',
  ]);
});
