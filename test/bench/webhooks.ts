/**
 * The cost of webhooks and live updates: events per second delivered to a local receiver and CPU per delivery, from a
 * backlog and as they occur, and memory with idle event streams. The compiled binary, everything on one machine.
 * Linux only. Prints one JSON line.
 * Usage: bun test/bench/webhooks.ts [events] [listeners]
 */
import { emptyFolder } from '../support/binary.ts';
import { insertDeliveries, insertMembers, insertSessions, type Person } from './rows.ts';
import { createApplication, createKey, cpuMs, fill, residentMiB, round, startServer } from './server.ts';

const EVENTS = Number(process.argv[2] ?? 20_000);
const LISTENERS = Number(process.argv[3] ?? 5000);
const CAUSED = Math.min(EVENTS, 5000);
const CLIENTS = 8;
const HEARTBEAT_MS = 15_000;
const scratch = emptyFolder();
const folder = scratch.path;
const start = () => startServer(folder, { GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8', GATEHOUSE_LOG_LEVEL: 'error' });

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

/** Delivers a backlog after the server's start, spread over several endpoints. */
async function deliverBacklog(applicationId: string, webhookIds: readonly string[]) {
  fill(folder, (sqlite) => insertDeliveries(sqlite, applicationId, webhookIds, { count: EVENTS, status: 'pending' }));
  expectArrivals(EVENTS);
  const server = await start();
  const cpuBefore = cpuMs(server.pid);
  const arrivedBefore = arrived;
  const end = await reached.promise;
  // Waits until the last deliveries are recorded.
  await Bun.sleep(200);
  const cpu = cpuMs(server.pid) - cpuBefore;
  await server.stop();
  return {
    endpoints: webhookIds.length,
    eventsPerSecond: round(EVENTS / ((end - first) / 1000)),
    cpuMsPerDelivery: round(cpu / (EVENTS - arrivedBefore), 3),
  };
}

/** Changes roles as fast as the clients can, each change an event, until the last has arrived. */
async function deliverAsCaused(applicationId: string, people: readonly Person[], key: string) {
  expectArrivals(CAUSED);
  const cpuBefore = cpuMs(server.pid);
  const begin = performance.now();
  await Promise.all(
    people.map(async ({ userId }) => {
      const path = `/api/applications/${applicationId}/users/${userId}/roles`;
      for (let turn = 0; turn < CAUSED / people.length; turn += 1)
        await server.call('PUT', path, { slugs: turn % 2 === 0 ? ['user'] : [] }, key);
    }),
  );
  const caused = performance.now();
  const end = await reached.promise;
  return {
    changesPerSecond: round(CAUSED / ((caused - begin) / 1000)),
    eventsPerSecond: round(CAUSED / ((end - begin) / 1000)),
    lastArrivedMsAfterLastChange: round(end - caused),
    cpuMsPerChangeAndDelivery: round((cpuMs(server.pid) - cpuBefore) / CAUSED, 3),
  };
}

/** Opens event streams, one per session, and leaves them idle for two heartbeats. */
async function listen(tokens: readonly string[]) {
  const { hostname, port, host } = new URL(server.url);
  const before = residentMiB(server.pid);
  let open = 0;
  const connect = (token: string) =>
    Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) =>
          void socket.write(
            `GET /api/v1/session/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
          ),
        data(_, data) {
          if (data.toString().includes('event: session')) open += 1;
        },
      },
    });
  const sockets: Bun.Socket[] = [];
  for (let index = 0; index < tokens.length; index += 100)
    sockets.push(...(await Promise.all(tokens.slice(index, index + 100).map(connect))));
  const deadline = performance.now() + 20_000;
  while (open < tokens.length && performance.now() < deadline) await Bun.sleep(20);
  const opened = residentMiB(server.pid);
  const cpuBefore = cpuMs(server.pid);
  const idleMs = 2 * HEARTBEAT_MS + 1000;
  await Bun.sleep(idleMs);
  const after = residentMiB(server.pid);
  const result = {
    listeners: open,
    residentMiB: { before: round(before), opened: round(opened), afterTwoHeartbeats: round(after) },
    kibPerListener: round(((after - before) * 1024) / open, 1),
    idleCpuPercent: round(((cpuMs(server.pid) - cpuBefore) / idleMs) * 100, 2),
  };
  for (const socket of sockets) socket.end();
  return result;
}

let server = await start();
try {
  const { id: applicationId } = await createApplication(server, 'Bench');
  const key = await createKey(server, '/api/workspace', 'full');
  const webhooks = `/api/applications/${applicationId}/webhooks`;
  const subscribe = async () =>
    (await server.call('POST', webhooks, { url: receiver.url.href, events: ['*'] })).id as string;
  const one = await subscribe();
  await server.stop();
  const { people, tokens } = fill(folder, (sqlite) => {
    const members = insertMembers(sqlite, applicationId, Math.max(LISTENERS, CLIENTS));
    return { people: members, tokens: insertSessions(sqlite, members, LISTENERS) };
  });
  server = await start();
  const asCaused = await deliverAsCaused(applicationId, people.slice(0, CLIENTS), key);
  const ten = [one];
  while (ten.length < 10) ten.push(await subscribe());
  await server.stop();
  const backlog = [await deliverBacklog(applicationId, [one]), await deliverBacklog(applicationId, ten)];
  server = await start();
  const streams = await listen(tokens);
  console.log(JSON.stringify({ benchmark: 'webhooks', events: EVENTS, asCaused, backlog, streams }));
} finally {
  server.kill();
  scratch.remove();
}
process.exit(0);
