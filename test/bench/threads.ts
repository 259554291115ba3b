/**
 * Verification on threads, against the same server without them, in alternating windows: verifications, calls that a
 * thread hands over, memory, and verifications while clients import users without pause. Prints one JSON line.
 * Usage: bun test/bench/threads.ts [seconds] [--threads N] [--rounds N] [--sessions N] [--importers N]
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder } from '../support/binary.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import {
  type BenchServer,
  createApplication,
  createKeys,
  cpuMs,
  fill,
  residentMiB,
  round,
  startServer,
} from './server.ts';
import { wrk, type WrkResult } from './wrk.ts';
import { verifyScript } from './wrk-scripts.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '10000' },
    importers: { type: 'string', default: '8' },
  },
});
const seconds = Number(positionals[0] ?? 3);
const [threads, rounds, sessions, importers] = [values.threads, values.rounds, values.sessions, values.importers].map(
  Number,
) as [number, number, number, number];
const CONNECTIONS = 32;
const IMPORTED_AT_ONCE = 500;
const MOST_OTHER_ROUNDS = 3;

interface Window extends Pick<WrkResult, 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'longestMs'> {
  readonly cpuUs: number;
}

/** Compiles each thread's code and fills its cache. */
const WARM_UP_SECONDS = 4;

const scratch = emptyFolder();
const folder = scratch.path;
/** The other server's folder: two cannot share one. */
const copies = emptyFolder();
try {
  const setup = await startServer(folder);
  const { id: applicationId } = await createApplication(setup, 'Bench');
  const { id: targetId } = await createApplication(setup, 'Imports');
  const keys = await createKeys(setup, `/api/applications/${applicationId}`);
  const [key] = keys as [string];
  await setup.stop();
  const tokens = fill(folder, (sqlite) => {
    const people = insertMembers(sqlite, applicationId, sessions);
    giveRole(sqlite, applicationId, 'user', people);
    return insertSessions(sqlite, people, sessions);
  });
  cpSync(folder, copies.path, { recursive: true });
  const list = join(folder, 'tokens');
  await Bun.write(list, tokens.join('\n'));
  const verify = verifyScript(list, keys);
  const page = getScript(key, `/api/applications/${applicationId}/users?limit=20`);
  const get = getScript(key, `/api/applications/${applicationId}`);

  const found = { verify: both(), get: both(), list: both(), verifyWhileImporting: both() };
  const memory = { without: [] as number[], with: [] as number[] };
  const servers = {
    without: await startServer(folder, { GATEHOUSE_THREADS: '0' }),
    with: await startServer(copies.path, { GATEHOUSE_THREADS: String(threads) }),
  };
  for (const server of Object.values(servers)) await load(server, verify, WARM_UP_SECONDS);
  for (let time = 0; time < rounds; time += 1)
    for (const kind of ['without', 'with'] as const) {
      const server = servers[kind];
      found.verify[kind].push(await load(server, verify));
      memory[kind].push(residentMiB(server.pid));
    }
  for (let time = 0; time < Math.min(rounds, MOST_OTHER_ROUNDS); time += 1)
    for (const kind of ['without', 'with'] as const) {
      const server = servers[kind];
      found.get[kind].push(await load(server, get));
      found.list[kind].push(await load(server, page));
      const importing = importWithoutPause(server, targetId, `${time}-${kind}`);
      found.verifyWhileImporting[kind].push(await load(server, verify));
      await importing.stop();
    }
  for (const server of Object.values(servers)) await server.stop();
  console.log(
    JSON.stringify({
      benchmark: 'threads',
      threads,
      sessions,
      rounds,
      ...Object.fromEntries(
        Object.entries(found).map(([name, windows]) => [
          name,
          { without: middle(windows.without), with: middle(windows.with) },
        ]),
      ),
      residentMiB: { without: round(median(memory.without)), with: round(median(memory.with)) },
    }),
  );
} finally {
  scratch.remove();
  copies.remove();
}

function both(): { without: Window[]; with: Window[] } {
  return { without: [], with: [] };
}

/** CPU time is more meaningful than rates on a machine that is not idle. */
async function load(server: BenchServer, script: string, duration = seconds): Promise<Window> {
  const before = cpuMs(server.pid);
  const result = await wrk({ url: server.url, connections: CONNECTIONS, seconds: duration, folder, script });
  if (result.errors > 0) throw new Error(`not every request was answered: ${JSON.stringify(result)}`);
  const { requestsPerSecond, p50Ms, p99Ms, longestMs } = result;
  return { requestsPerSecond, p50Ms, p99Ms, longestMs, cpuUs: ((cpuMs(server.pid) - before) / result.requests) * 1000 };
}

function importWithoutPause(server: BenchServer, applicationId: string, name: string) {
  let isOver = false;
  let imported = 0;
  const clients = Array.from({ length: importers }, async (_, client) => {
    for (let call = 0; !isOver; call += 1) {
      const users = Array.from({ length: IMPORTED_AT_ONCE }, (__, row) => ({
        email: `u${name}-${client}-${call}-${row}@example.com`,
      }));
      await server.call('POST', `/api/applications/${applicationId}/users/bulk`, { users });
      imported += users.length;
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(clients);
      return imported;
    },
  };
}

function getScript(bearer: string, path: string): string {
  return `request = function() return wrk.format("GET", "${path}", { ["Authorization"] = "Bearer ${bearer}" }) end`;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)]!;
}

function middle(windows: readonly Window[]): Record<string, number> {
  const of = (pick: (window: Window) => number, digits: number) => round(median(windows.map(pick)), digits);
  return {
    requestsPerSecond: of(({ requestsPerSecond }) => requestsPerSecond, 0),
    cpuUs: of(({ cpuUs }) => cpuUs, 1),
    p50Ms: of(({ p50Ms }) => p50Ms, 2),
    p99Ms: of(({ p99Ms }) => p99Ms, 2),
    longestMs: of(({ longestMs }) => longestMs, 1),
  };
}
