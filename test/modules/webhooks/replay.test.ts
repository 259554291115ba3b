/** Sending every failed event of an endpoint again. */
import { expect, test } from 'bun:test';
import { DAY, HOUR } from '@/core/clock.ts';
import { emit, type Scene, setUp, subscribe } from './scene.ts';

/** Lets pending deliveries fail by SQL: fifteen attempts each take days of the clock. */
function failPending({ instance }: Scene): void {
  instance.sqlite.run(
    `UPDATE deliveries SET status = 'failed', attempts = 15, finished_at = ${instance.clock.now()} WHERE status = 'pending'`,
  );
}

/** @param users each gets an event whose delivery has failed. */
async function setUpFailed(users: readonly string[]) {
  const scene = await setUp();
  const { instance, api } = scene;
  const { id, receiver } = await subscribe(scene);
  receiver.answerWith(() => ({ status: 500 }));
  const since = new Date(instance.clock.now()).toISOString();
  instance.clock.advance(HOUR);
  for (const user of users) {
    instance.clock.advance(1);
    await emit(scene, user);
  }
  await instance.services.deliveries.runOnce();
  failPending(scene);
  receiver.answerWith(() => ({ status: 200 }));
  instance.clock.advance(HOUR);
  let tried = receiver.received.length;
  const forget = () => (tried = receiver.received.length);
  const received = () => receiver.received.slice(tried).map(({ body }) => JSON.parse(body).data.userId as string);
  const statuses = async (query = '?limit=200') =>
    Map.groupBy(
      (await api.deliveries(id, query)).json.data.items as { status: string; eventId: string }[],
      ({ status }) => status,
    );
  return { scene, ...scene, id, receiver, since, forget, received, statuses };
}

const USERS = Array.from({ length: 60 }, (_, index) => `usr_${String(index).padStart(2, '0')}`);

test('sends each failed event once, however often it is asked for, and reports how many', async () => {
  const { instance, application, api, id, since, received } = await setUpFailed(USERS);
  expect((await api.countReplay(id, since)).json.data).toEqual({ events: 60, running: null });
  expect((await api.countReplay(id)).json.data.events).toBeNull();
  const started = await api.replay(id, since);
  expect(started.json.data.events).toBe(60);
  await instance.services.tasks.runOnce();
  expect((await api.countReplay(id, since)).json.data).toEqual({ events: 0, running: null });
  await api.replay(id, since);
  await instance.services.tasks.runOnce();
  for (let run = 0; run < 20; run += 1) await instance.services.deliveries.runOnce();
  const sent = received();
  expect(sent.length).toBe(60);
  expect(new Set(sent).size).toBe(60);
  const kinds = instance.auditKinds(application.id).filter((kind) => kind === 'webhook.replayed');
  expect(kinds).toHaveLength(2);
});

test('begins with the oldest, and leaves out what failed before the time', async () => {
  const { scene, instance, api, id, receiver, forget, received } = await setUpFailed(['usr_old']);
  instance.clock.advance(DAY);
  const since = new Date(instance.clock.now()).toISOString();
  instance.clock.advance(1);
  receiver.answerWith(() => ({ status: 500 }));
  for (const user of ['usr_a', 'usr_b', 'usr_c']) {
    await emit(scene, user);
    instance.clock.advance(1);
  }
  await instance.services.deliveries.runOnce();
  failPending(scene);
  forget();
  receiver.answerWith(() => ({ status: 200 }));
  expect((await api.replay(id, since)).json.data.events).toBe(3);
  const rows = instance.sqlite
    .query(
      "SELECT e.data FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.status = 'pending' ORDER BY d.id",
    )
    .all() as { data: string }[];
  expect(rows.map(({ data }) => JSON.parse(data).userId)).toEqual(['usr_a', 'usr_b', 'usr_c']);
  await instance.services.deliveries.runOnce();
  expect(received().sort()).toEqual(['usr_a', 'usr_b', 'usr_c']);
});

test('goes on after a restart, repeats nothing, and refuses a second one meanwhile', async () => {
  const { instance, api, id, since } = await setUpFailed(USERS);
  // The first batch is part of the request; the runner has not begun.
  await instance.services.tasks.stop();
  const { running } = (await api.replay(id, since)).json.data;
  expect(running).toMatchObject({ done: 25 });
  const second = await api.replay(id, since);
  expect([second.status, second.json.error]).toEqual([409, 'invalid_state']);
  const again = await instance.restart();
  await again.services.tasks.runOnce();
  const counts = again.sqlite
    .query("SELECT count(*) AS n, count(DISTINCT event_id) AS events FROM deliveries WHERE status <> 'failed'")
    .get();
  expect(counts).toEqual({ n: 60, events: 60 });
});

test('holds in quarantine, waits while the endpoint is disabled, and ends with it', async () => {
  const { instance, api, id, since, statuses } = await setUpFailed(USERS);
  instance.sqlite.run(`UPDATE webhooks SET status = 'quarantined', quarantined_at = 1, quarantine_reason = 'x'`);
  await api.replay(id, since);
  await instance.services.tasks.runOnce();
  await instance.services.deliveries.runOnce();
  const held = await statuses();
  expect([held.get('held')?.length, held.get('delivered')?.length]).toEqual([60, undefined]);
  await api.release(id);
  await api.patch(id, { status: 'disabled' });
  const refused = await api.replay(id, since);
  expect([refused.status, refused.json.error]).toEqual([409, 'invalid_state']);
});

test('keeps few deliveries pending, so that new events wait behind few', async () => {
  const { instance, api, id, since } = await setUpFailed(['usr_one']);
  const { event_id: eventId } = instance.sqlite.query('SELECT event_id FROM deliveries').get() as { event_id: string };
  const insert = instance.sqlite.prepare(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
     VALUES (?, ?, ?, 'user.banned', 'pending', 1, ?, 1)`,
  );
  for (let index = 0; index < 1000; index += 1)
    insert.run(`dlv_0${String(index).padStart(25, '0')}`, id, eventId, instance.clock.now() + DAY);
  const { running } = (await api.replay(id, since)).json.data;
  expect(running).toMatchObject({ done: 0 });
  instance.sqlite.run("DELETE FROM deliveries WHERE id = 'dlv_00000000000000000000000000'");
  await instance.services.tasks.runOnce();
  expect((await api.countReplay(id, since)).json.data).toEqual({ events: 0, running: null });
});

test.each([null, 'yesterday', '2126-01-01T00:00:00Z', 5])(
  'a replay since %p is refused with the field',
  async (since) => {
    const { api, id } = await setUpFailed([]);
    const { status, json } = await api.replay(id, since);
    expect([status, json.error, json.fields?.[0]?.path]).toEqual([400, 'invalid_request', 'since']);
  },
);

test('a sample of an event is sent to one endpoint, and says that it is one', async () => {
  const { scene, instance, api, id, receiver } = await setUpFailed([]);
  const other = await subscribe(scene);
  expect((await api.test(id, { type: 'user.role_added' })).json.data.eventType).toBe('user.role_added');
  await instance.services.deliveries.runOnce();
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'user.role_added', data: { isSample: true, roles: ['editor'] } },
  ]);
  expect(other.receiver.received).toEqual([]);
  expect((await api.test(id, { type: 'user.unknown' })).json.fields?.[0]?.path).toBe('type');
});
