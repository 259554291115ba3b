/**
 * Webhooks: crashes and a failing receiver lose no event, and endpoints do not wait for each other. `WEBHOOK_KILLS`
 * and `WEBHOOK_EVENTS` set the amount.
 */
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  emptyFolder,
  eventually,
  readDatabase,
  request,
  run,
  type RunningServer,
  signIn,
  startServer,
} from '../support/binary.ts';
import { amount } from '../support/long.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? amount(4, 50));
const EVENTS = Number(process.env['WEBHOOK_EVENTS'] ?? amount(400, 10_000));
const FAILURES = 0.3;
const WORKERS = 4;
setDefaultTimeout(120_000 + KILLS * 5000 + EVENTS * 20);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const open = new Set<{ close(): unknown }>();
afterEach(async () => {
  const all = [...open];
  open.clear();
  for (const one of all) await one.close();
});

/** A data folder with an application and people, whose changed roles cause events. */
interface Scene {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly token: string;
  readonly applicationId: string;
  readonly userIds: readonly string[];
}

async function setScene(name: string): Promise<Scene> {
  const folder = join(scratch.path, name);
  const workspaceKey = (await run(['key'], { cwd: scratch.path })).stdout.trim();
  const env = { GATEHOUSE_WORKSPACE_KEY: workspaceKey, GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8' };
  const server = await startServer(folder, env);
  const post = async (path: string, body: object = {}) =>
    (await request(server, 'POST', path, { token: workspaceKey, body })).json.data;
  const { id, clientId } = await post('/api/applications', { name: 'Shop' });
  await post(`/api/applications/${id}/publish`);
  await post(`/api/applications/${id}/go-live`);
  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  const { token } = await post('/api/workspace/api-keys', { name: 'ops', access: 'full', rateLimits });
  const userIds: string[] = [];
  for (let worker = 0; worker < WORKERS; worker += 1)
    userIds.push((await signIn(server, `person${worker}@example.com`, clientId)).userId);
  await server.stop();
  return { folder, env, token, applicationId: id, userIds };
}

/** Removes or grants a role, which emits one event. */
async function changeRoles(
  server: RunningServer,
  { token, applicationId, userIds }: Scene,
  worker: number,
  turn: number,
) {
  const body = { slugs: turn % 2 === 0 ? [] : ['user'] };
  const path = `/api/applications/${applicationId}/users/${userIds[worker]}/roles`;
  const answer = await request(server, 'PUT', path, { token, body });
  if (answer.status !== 200) throw new Error(`the change of roles answered ${answer.status}: ${answer.text}`);
}

async function createWebhook(server: RunningServer, { token, applicationId }: Scene, url: string) {
  const path = `/api/applications/${applicationId}/webhooks`;
  const answer = await request(server, 'POST', path, { token, body: { url, events: ['*'] } });
  if (answer.status !== 200) throw new Error(`the webhook was refused: ${answer.text}`);
  return answer.json.data as { id: string; signingSecret: string };
}

async function subscribe(server: RunningServer, scene: Scene): Promise<{ id: string; receiver: Receiver }> {
  const receiver = await startReceiver();
  open.add(receiver);
  const { id, signingSecret } = await createWebhook(server, scene, receiver.url);
  receiver.trust(signingSecret);
  return { id, receiver };
}

function withDatabase<Result>(folder: string, work: (sqlite: Database) => Result): Result {
  const sqlite = new Database(join(folder, 'gatehouse.db'));
  try {
    sqlite.run('PRAGMA busy_timeout = 5000');
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

const countOf = (folder: string, condition: string) =>
  readDatabase(folder, (sqlite) => {
    const { n } = sqlite.query(`SELECT count(*) AS n FROM deliveries WHERE ${condition}`).get() as { n: number };
    return n;
  });

/** Makes retries due in the file while the server is down, since a retry waits 15 s × 2ⁿ of real time. */
const bringRetriesForward = (folder: string) =>
  withDatabase(folder, (sqlite) => sqlite.run("UPDATE deliveries SET next_attempt_at = 0 WHERE status = 'pending'"));

/** Waits until everything due has been sent and recorded. */
const untilDrained = (folder: string) =>
  eventually(
    'everything due is sent',
    () => countOf(folder, `status = 'pending' AND next_attempt_at <= ${Date.now()}`) === 0,
    60_000,
  );

const percentile = (values: readonly number[], at: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * at))]!;

test(`${EVENTS} events through ${KILLS} kills and a receiver that fails ${FAILURES * 100} % arrive at least once each`, async () => {
  const scene = await setScene('crash');
  const { folder, env, applicationId } = scene;
  const first = await startServer(folder, env);
  const { receiver } = await subscribe(first, scene);
  await first.stop();

  /** Number of accepted deliveries per event, and the distinct bodies of each event id. */
  const accepted = new Map<string, number>();
  const bodies = new Map<string, Set<string>>();
  let failed = 0;
  receiver.answerWith(({ eventId, body }) => {
    bodies.set(eventId, (bodies.get(eventId) ?? new Set()).add(body));
    if (Math.random() < FAILURES) {
      failed += 1;
      return Math.random() < 0.5 ? 'drop' : { status: 500 };
    }
    accepted.set(eventId, (accepted.get(eventId) ?? 0) + 1);
    return { status: 200 };
  });

  let acknowledged = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    bringRetriesForward(folder);
    const server = await startServer(folder, env);
    const quota = Math.ceil(((EVENTS + KILLS * WORKERS) * (kill + 1)) / KILLS);
    let isKilled = false;
    const work = scene.userIds.map(async (_, worker) => {
      for (let turn = 0; ; turn += 1) {
        try {
          await changeRoles(server, scene, worker, turn);
          acknowledged += 1;
        } catch (error) {
          if (isKilled && (error as { code?: string }).code !== undefined) return;
          throw error;
        }
      }
    });
    // Kills at a random moment, during changes and deliveries.
    await Promise.race([eventually('the quota', () => acknowledged >= quota, 60_000), ...work]);
    await Bun.sleep(Math.random() * 20);
    isKilled = true;
    server.process.kill('SIGKILL');
    await Promise.all(work);
    await server.process.exited;
  }

  // Retries until the failing receiver has accepted everything.
  let restarts = 0;
  do {
    bringRetriesForward(folder);
    const server = await startServer(folder, env);
    await untilDrained(folder);
    await server.stop(restarts % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    restarts += 1;
  } while (countOf(folder, "status = 'pending'") > 0 && restarts < 60);

  const emitted = readDatabase(folder, (sqlite) => {
    expect(sqlite.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite.query('PRAGMA foreign_key_check').all()).toEqual([]);
    expect(sqlite.query('SELECT DISTINCT status FROM deliveries').all()).toEqual([{ status: 'delivered' }]);
    const rows = sqlite
      .query("SELECT id FROM events WHERE application_id = ? AND type LIKE 'user.role_%'")
      .all(applicationId);
    return (rows as { id: string }[]).map(({ id }) => id);
  });
  const lost = emitted.filter((id) => !accepted.has(id));
  const invented = [...bodies.keys()].filter((id) => !emitted.includes(id));
  const duplicates = [...accepted.values()].filter((count) => count > 1).length;
  console.log(
    `webhooks: ${emitted.length} events, ${acknowledged} changes acknowledged, ${KILLS} kills, ${restarts} restarts to drain; ` +
      `${receiver.received.length} deliveries arrived, ${failed} failed by the receiver, ${duplicates} events accepted more than once, ${lost.length} lost`,
  );
  expect(lost).toEqual([]);
  expect(invented).toEqual([]);
  // The first change after a kill may be redundant; every other one emits an event.
  expect(emitted.length).toBeGreaterThanOrEqual(acknowledged - KILLS * WORKERS);
  expect(emitted.length).toBeGreaterThanOrEqual(EVENTS);
  // Each event has one id and one body: a receiver can recognize a duplicate by Svc-Event-Id alone.
  expect([...bodies.values()].every(({ size }) => size === 1)).toBe(true);
  expect(new Set([...bodies.values()].map(([body]) => JSON.parse(body!).id)).size).toBe(bodies.size);
});

test('a dead and a slow endpoint do not delay a healthy one', async () => {
  const scene = await setScene('lag');
  const server = await startServer(scene.folder, scene.env);
  const { receiver } = await subscribe(server, scene);

  /** Causes events at a steady pace. @returns the lags from commit to arrival, by one clock. */
  async function lagsOf(events: number): Promise<number[]> {
    const before = receiver.received.length;
    for (let turn = 0; turn < events; turn += 1) {
      await changeRoles(server, scene, turn % WORKERS, Math.floor(turn / WORKERS));
      await Bun.sleep(10);
    }
    await eventually('all have arrived', () => receiver.received.length >= before + events);
    return receiver.received.slice(before).map(({ arrivedAt, event }) => arrivedAt - Date.parse(event.createdAt));
  }

  await lagsOf(40);
  const alone = await lagsOf(200);
  // A dead endpoint, as behind a firewall: it accepts the connection and never answers.
  const dead = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, error() {} } });
  open.add({ close: () => dead.stop(true) });
  await createWebhook(server, scene, `http://127.0.0.1:${dead.port}/`);
  const slow = await subscribe(server, scene);
  slow.receiver.answerWith(async () => {
    await Bun.sleep(5000);
    return { status: 200 };
  });
  await lagsOf(40);
  const beside = await lagsOf(200);
  const [medianAlone, medianBeside] = [percentile(alone, 0.5), percentile(beside, 0.5)];
  console.log(
    `webhook lag: alone median ${medianAlone} ms, p99 ${percentile(alone, 0.99)} ms; ` +
      `beside a dead and a slow endpoint median ${medianBeside} ms, p99 ${percentile(beside, 0.99)} ms`,
  );
  expect(slow.receiver.received.length).toBeGreaterThanOrEqual(10);
  expect(medianBeside).toBeLessThan(1000);
  expect(medianBeside).toBeLessThanOrEqual(Math.max(medianAlone * 1.1, medianAlone + 20));
  await server.stop('SIGKILL');
});

test('a stop does not wait for a slow endpoint; its delivery is repeated after the start', async () => {
  const scene = await setScene('stop');
  const server = await startServer(scene.folder, scene.env);
  const { receiver } = await subscribe(server, scene);
  receiver.answerWith(async () => {
    await Bun.sleep(6000);
    return { status: 200 };
  });
  await changeRoles(server, scene, 0, 0);
  await eventually('it is under way', () => receiver.received.length === 1);
  const begin = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - begin).toBeLessThan(5000);
  receiver.answerWith(() => ({ status: 200 }));
  const again = await startServer(scene.folder, scene.env);
  await eventually('it is delivered', () => countOf(scene.folder, "status = 'delivered'") === 1);
  expect(receiver.received[1]).toMatchObject({
    eventId: receiver.received[0]!.eventId,
    body: receiver.received[0]!.body,
  });
  expect(await again.stop()).toBe(0);
});

test('a database that refuses every claim for a while stops neither the server nor the deliveries', async () => {
  const scene = await setScene('refused');
  const server = await startServer(scene.folder, scene.env);
  const { receiver } = await subscribe(server, scene);
  // Created during a delivery, so the check after its result is the first to be refused.
  receiver.answerWith(() => {
    if (receiver.received.length === 1)
      withDatabase(scene.folder, (sqlite) =>
        sqlite.run(`CREATE TRIGGER refuse_lease BEFORE UPDATE OF leased_until ON deliveries
          WHEN NEW.leased_until IS NOT NULL BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`),
      );
    return { status: 200 };
  });
  for (let turn = 0; turn < 20; turn += 1) await changeRoles(server, scene, 0, turn);
  await Bun.sleep(1500);
  expect((await request(server, 'GET', '/healthz')).status).toBe(200);
  withDatabase(scene.folder, (sqlite) => sqlite.run('DROP TRIGGER refuse_lease'));
  await eventually('all are delivered', () => countOf(scene.folder, "status = 'delivered'") === 20);
  expect(await server.stop()).toBe(0);
});

test('plain http to a private address is allowed only in ranges that the operator configured', async () => {
  const scene = await setScene('closed');
  const { GATEHOUSE_ALLOW_CIDRS: _, ...env } = scene.env;
  const server = await startServer(scene.folder, env);
  for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1:9/', 'http://localhost:9/'])
    await expect(createWebhook(server, scene, url)).rejects.toThrow('"path":"url"');
  expect(await server.stop()).toBe(0);
});
