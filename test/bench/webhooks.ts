/**
 * What webhooks and live updates cost: events per second delivered to a local receiver and CPU per delivery, from a
 * backlog and as they are caused, and memory with idle event streams. The compiled binary, everything on one machine.
 * Prints one JSON line. Usage: bun test/bench/webhooks.ts [events] [listeners]
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/core/id.ts';
import { systemRandom } from '../../src/core/random.ts';
import { hashSecret, mintSecret } from '../../src/core/secret.ts';

const EVENTS = Number(process.argv[2] ?? 20_000);
const LISTENERS = Number(process.argv[3] ?? 5000);
const CAUSED = Math.min(EVENTS, 5000);
/** Of the kernel's clock for user programs, in which /proc counts. */
const TICKS_PER_SECOND = 100;
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
const port = 18_081;
const url = `http://127.0.0.1:${port}`;
const workspaceKey = mintSecret('apiKey', systemRandom);
const binary = process.env['GATEHOUSE_TEST_BINARY'] ?? 'dist/gatehouse';
// The server refuses settings that it does not know.
delete process.env['GATEHOUSE_TEST_BINARY'];

async function startServer() {
  const server = Bun.spawn([binary, 'serve', '--data', folder, '--port', String(port)], {
    env: {
      ...process.env,
      GATEHOUSE_WORKSPACE_KEY: workspaceKey,
      GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
      GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
      GATEHOUSE_LOG_LEVEL: 'error',
    },
    stdout: Bun.file(join(folder, 'log')),
  });
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await Bun.sleep(5);
  return {
    pid: server.pid,
    async stop() {
      server.kill('SIGTERM');
      await server.exited;
    },
  };
}

async function call(method: string, path: string, body?: object, token = workspaceKey) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });
  const { data } = (await response.json()) as { data: { id: string; token: string } };
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return data;
}

/** User and system time of a process, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

let arrived = 0;
let target = Infinity;
let first = 0;
let reached = Promise.withResolvers<number>();
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.text();
    if (arrived === 0) first = performance.now();
    arrived += 1;
    if (arrived === target) reached.resolve(performance.now());
    return new Response();
  },
});

function expectArrivals(count: number): void {
  arrived = 0;
  target = count;
  reached = Promise.withResolvers();
}

const round = (value: number, digits = 0) => Number(value.toFixed(digits));

/** A backlog that waits for the start of the server, spread over so many endpoints. */
async function deliverBacklog(applicationId: string, webhookIds: readonly string[]) {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { strict: true });
  const now = Date.now();
  const event = sqlite.prepare(
    'INSERT INTO events (id, application_id, type, data, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const delivery = sqlite.prepare(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at)
     VALUES (?1, ?2, ?3, 'user.banned', 'pending', 0, ?4, ?4)`,
  );
  sqlite.transaction(() => {
    for (let index = 0; index < EVENTS; index += 1) {
      const eventId = newId('event', now);
      event.run(eventId, applicationId, 'user.banned', JSON.stringify({ userId: newId('user', now) }), now);
      delivery.run(newId('delivery', now), webhookIds[index % webhookIds.length]!, eventId, now);
    }
  })();
  sqlite.close();
  expectArrivals(EVENTS);
  const server = await startServer();
  const cpuBefore = cpuMs(server.pid);
  const arrivedBefore = arrived;
  const end = await reached.promise;
  await Bun.sleep(200);
  const cpu = cpuMs(server.pid) - cpuBefore;
  await server.stop();
  return {
    endpoints: webhookIds.length,
    eventsPerSecond: round(EVENTS / ((end - first) / 1000)),
    cpuMsPerDelivery: round(cpu / (EVENTS - arrivedBefore), 3),
  };
}

/** Changes of roles as fast as eight clients can make them, each an event; until the last has arrived. */
async function deliverAsCaused(pid: number, applicationId: string, userIds: readonly string[], key: string) {
  expectArrivals(CAUSED);
  const cpuBefore = cpuMs(pid);
  const begin = performance.now();
  await Promise.all(
    userIds.map(async (userId) => {
      for (let turn = 0; turn < CAUSED / userIds.length; turn += 1)
        await call(
          'PUT',
          `/api/applications/${applicationId}/users/${userId}/roles`,
          { slugs: turn % 2 === 0 ? ['user'] : [] },
          key,
        );
    }),
  );
  const caused = performance.now();
  const end = await reached.promise;
  return {
    changesPerSecond: round(CAUSED / ((caused - begin) / 1000)),
    eventsPerSecond: round(CAUSED / ((end - begin) / 1000)),
    lastArrivedMsAfterLastChange: round(end - caused),
    cpuMsPerChangeAndDelivery: round((cpuMs(pid) - cpuBefore) / CAUSED, 3),
  };
}

/** Opens event streams, a session each, and leaves them idle. */
async function listen(pid: number, tokens: readonly string[]) {
  Bun.gc(true);
  const before = residentMiB(pid);
  let open = 0;
  const sockets: Bun.Socket[] = [];
  for (let index = 0; index < tokens.length; index += 100) {
    const batch = tokens.slice(index, index + 100);
    sockets.push(
      ...(await Promise.all(
        batch.map((token) =>
          Bun.connect({
            hostname: '127.0.0.1',
            port,
            socket: {
              open: (socket) =>
                void socket.write(
                  `GET /api/v1/session/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
                ),
              data(_, data) {
                if (data.toString().includes('event: session')) open += 1;
              },
            },
          }),
        ),
      )),
    );
  }
  const deadline = performance.now() + 20_000;
  while (open < tokens.length && performance.now() < deadline) await Bun.sleep(20);
  const atOnce = residentMiB(pid);
  const cpuBefore = cpuMs(pid);
  // Two heartbeats.
  await Bun.sleep(31_000);
  const result = {
    listeners: open,
    residentMiB: { before: round(before), opened: round(atOnce), afterTwoHeartbeats: round(residentMiB(pid)) },
    kibPerListener: round(((residentMiB(pid) - before) * 1024) / open, 1),
    idleCpuPercent: round((cpuMs(pid) - cpuBefore) / 310, 2),
  };
  for (const socket of sockets) socket.end();
  return result;
}

function insertPeople(applicationId: string, count: number): { userId: string; token: string }[] {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { strict: true });
  const now = Date.now();
  const user = sqlite.prepare(
    "INSERT INTO users (id, kind, email, given_name, family_name, created_at, updated_at) VALUES (?, 'person', ?, 'Ada', 'Lovelace', ?, ?)",
  );
  const member = sqlite.prepare(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at, scopes_updated_at,
       memberships_updated_at, created_at, updated_at) VALUES (?1, ?2, ?3, 'active', ?4, ?4, ?4, ?4, ?4, ?4)`,
  );
  const session = sqlite.prepare(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
     VALUES (?, ?, ?, 'otp', ?, ?, ?)`,
  );
  const people: { userId: string; token: string }[] = [];
  sqlite.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const userId = newId('user', now);
      const memberId = newId('applicationUser', now);
      const token = mintSecret('session', systemRandom);
      user.run(userId, `person${index}@example.com`, now, now);
      member.run(memberId, applicationId, userId, now);
      session.run(newId('session', now), hashSecret(token), memberId, now, now, now + 86_400_000);
      people.push({ userId, token });
    }
  })();
  sqlite.close();
  return people;
}

let server = await startServer();
try {
  const { id: applicationId } = await call('POST', '/api/applications', { name: 'Bench' });
  const { token: key } = await call('POST', '/api/workspace/api-keys', {
    name: 'bench',
    access: 'full',
    rateLimits: { perMinute: 1_000_000, perDay: 1_000_000_000 },
  });
  const subscribe = async () =>
    (await call('POST', `/api/applications/${applicationId}/webhooks`, { url: receiver.url.href, events: ['*'] })).id;
  const one = await subscribe();
  const people = insertPeople(applicationId, Math.max(LISTENERS, 8));
  const asCaused = await deliverAsCaused(
    server.pid,
    applicationId,
    people.slice(0, 8).map(({ userId }) => userId),
    key,
  );
  const ten = [one];
  while (ten.length < 10) ten.push(await subscribe());
  await server.stop();
  const backlog = [await deliverBacklog(applicationId, [one]), await deliverBacklog(applicationId, ten)];
  server = await startServer();
  const streams = await listen(
    server.pid,
    people.slice(0, LISTENERS).map(({ token }) => token),
  );
  console.log(JSON.stringify({ events: EVENTS, asCaused, backlog, streams }));
} finally {
  await server.stop();
  await receiver.stop(true);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
