/**
 * Isolation of workspaces: the time of an event to a healthy endpoint, alone and while hundreds of another
 * workspace's endpoints stall, each with pending events. The compiled binary, everything on one machine. Prints one
 * JSON line.
 * Usage: bun test/bench/neighbour.ts [stalled endpoints] [seconds]
 */
import { databaseCode, emptyFolder, sendCode, verifyCode } from '../support/binary.ts';
import { createApplication, round, startServer } from './server.ts';

const HANGING = Number(process.argv[2] ?? 300);
const SECONDS = Number(process.argv[3] ?? 40);
const PER_APPLICATION = 20;
const EVENTS_EACH = 3;
const OWNER = 'owner@example.com';
const scratch = emptyFolder();

const arrivals = new Map<string, number>();
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    arrivals.set(((await request.json()) as { id: string }).id, performance.now());
    return new Response();
  },
});
/** Accepts connections and never answers, as behind a firewall. */
const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, error() {} } });

const server = await startServer(scratch.path, { GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8', GATEHOUSE_LOG_LEVEL: 'error' });

async function hook(applicationId: string, url: string, token?: string): Promise<string> {
  const path = `/api/applications/${applicationId}/webhooks`;
  return (await server.call('POST', path, { url, events: ['*'] }, token)).id;
}

/** Sends events to the healthy endpoint, one after the other. @returns the duration of each, in milliseconds. */
async function delays(path: string, seconds: number): Promise<number[]> {
  const taken: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const known = arrivals.size;
    const since = performance.now();
    await server.call('POST', `${path}/test`);
    while (arrivals.size === known) await Bun.sleep(1);
    taken.push([...arrivals.values()].at(-1)! - since);
    await Bun.sleep(100);
  }
  return taken.toSorted((left, right) => left - right);
}

const inShort = (sorted: readonly number[]) => ({
  events: sorted.length,
  medianMs: round(sorted[Math.floor(sorted.length / 2)]!, 1),
  longestMs: round(sorted.at(-1)!, 1),
});

try {
  const { id: healthyId } = await createApplication(server, 'Healthy');
  const healthy = `/api/applications/${healthyId}/webhooks/${await hook(healthyId, receiver.url.href)}`;

  const challengeId = await sendCode(server, OWNER);
  const { token } = (await verifyCode(server, challengeId, databaseCode(scratch.path, OWNER))).json.data;
  const { id: workspaceId } = await server.call('POST', '/api/workspaces', { name: 'Hanging' }, token);
  const alone = inShort(await delays(healthy, 5));

  for (let made = 0; made < HANGING; made += PER_APPLICATION) {
    const asked = `/api/applications?workspaceId=${workspaceId}`;
    const { id } = await server.call('POST', asked, { name: `Hanging ${made}` }, token);
    for (let index = 0; index < PER_APPLICATION; index += 1) {
      const webhookId = await hook(id, `http://127.0.0.1:${silent.port}/`, token);
      for (let event = 0; event < EVENTS_EACH; event += 1)
        await server.call('POST', `/api/applications/${id}/webhooks/${webhookId}/test`, {}, token);
    }
  }
  const beside = inShort(await delays(healthy, SECONDS));
  console.log(JSON.stringify({ benchmark: 'neighbour', hanging: HANGING, alone, beside }));
} finally {
  server.kill();
  silent.stop(true);
  await receiver.stop(true);
  scratch.remove();
}
process.exit(0);
