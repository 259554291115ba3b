/**
 * Concurrent request bodies of unauthenticated clients: the growth of the process, and how long GET /healthz waits
 * meanwhile. Each row starts a new server. Prints a table. Linux only.
 * Usage: bun test/bench/bodies.ts [connections] [kind] [path] [bytes]
 */
import { emptyFolder } from '../support/binary.ts';
import { peakMiB } from '../support/memory.ts';
import { flood, type Flood, type FloodKind } from '../support/body-flood.ts';
import { residentMiB, round, startServer } from './server.ts';
import { inWords, whileWatched } from './waits.ts';

/** Accepts 64 KiB without a credential. */
const OPEN_PATH = '/api/v1/auth/otp/send';
/** Accepts a body only with a key. */
const CLOSED_PATH = '/api/applications';
/** Most of 1 MiB, the largest body that proxies forward by default. */
const BYTES = 900_000;

const [connections, kind, path, bytes] = process.argv.slice(2);

const floods: readonly Flood[] =
  connections === undefined
    ? [
        ...[250, 1000, 2000, 4000].map((count) => ({ path: OPEN_PATH, count, bytes: BYTES, kind: 'whole' as const })),
        { path: OPEN_PATH, count: 2000, bytes: BYTES, kind: 'held' },
        { path: OPEN_PATH, count: 2000, bytes: BYTES, kind: 'chunked' },
        { path: CLOSED_PATH, count: 2000, bytes: BYTES, kind: 'whole' },
        { path: CLOSED_PATH, count: 2000, bytes: BYTES, kind: 'chunked' },
        { path: '/api/v1/auth/otp/verify', count: 4000, bytes: 65_000, kind: 'held' },
      ]
    : [
        {
          count: Number(connections),
          kind: (kind ?? 'whole') as FloodKind,
          path: path ?? OPEN_PATH,
          bytes: Number(bytes ?? BYTES),
        },
      ];

console.log(
  '| connections × bytes | kind | path | at rest | peak RSS | growth | longest /healthz (by the server) | answers |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const given of floods) {
  const scratch = emptyFolder();
  const server = await startServer(scratch.path);
  try {
    const atRest = residentMiB(server.pid);
    const { result, waits } = await whileWatched(server, () => flood(server.url, given));
    const peak = peakMiB(server.pid);
    const size = `${given.count} × ${given.bytes}`;
    const megabytes = [atRest, peak, peak - atRest].map((value) => `${round(value)} MiB`);
    const answers = Object.entries(result.answers).map(([status, count]) => `${count} × ${status}`);
    console.log(`| ${[size, given.kind, given.path, ...megabytes, inWords(waits), answers.join(', ')].join(' | ')} |`);
  } finally {
    await server.stop();
    scratch.remove();
  }
}
