/**
 * Verification on threads, against the same server without them, in alternating windows: verifications, calls that a
 * thread hands over, memory, and verifications while clients import users without pause. Prints one JSON line.
 * Usage: bun test/bench/threads.ts [seconds] [--threads N] [--rounds N] [--sessions N] [--importers N]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder } from '../support/binary.ts';
import { giveRole, insertMembers, insertSessions } from './rows.ts';
import {
  type BenchServer,
  createApplication,
  createKey,
  cpuMs,
  fill,
  residentMiB,
  round,
  startServer,
} from './server.ts';
import { linesFrom, wrk, type WrkResult } from './wrk.ts';

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

interface Window extends Pick<WrkResult, 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'longestMs'> {
  readonly cpuUs: number;
}

const scratch = emptyFolder();
const folder = scratch.path;
try {
  const setup = await startServer(folder);
  const { id: applicationId } = await createApplication(setup, 'Bench');
  const { id: targetId } = await createApplication(setup, 'Imports');
  const key = await createKey(setup, `/api/applications/${applicationId}`, 'read');
  await setup.stop();
  const tokens = fill(folder, (sqlite) => {
    const people = insertMembers(sqlite, applicationId, sessions);
    giveRole(sqlite, applicationId, 'user', people);
    return insertSessions(sqlite, people, sessions);
  });
  await Bun.write(join(folder, 'tokens'), tokens.join('\n'));
  const verify = verifyScript(key);
  const list = listScript(key, `/api/applications/${applicationId}/users?limit=20`);
  const get = listScript(key, `/api/applications/${applicationId}`);

  const found = { verify: both(), get: both(), list: both(), verifyWhileImporting: both() };
  const memory = { without: [] as number[], with: [] as number[] };
  for (let time = 0; time < rounds; time += 1)
    for (const kind of ['without', 'with'] as const) {
      const server = await startServer(folder, { GATEHOUSE_THREADS: kind === 'with' ? String(threads) : '0' });
      try {
        found.verify[kind].push(await load(server, verify));
        found.get[kind].push(await load(server, get));
        found.list[kind].push(await load(server, list));
        memory[kind].push(residentMiB(server.pid));
        const importing = importWithoutPause(server, targetId, `${time}-${kind}`);
        found.verifyWhileImporting[kind].push(await load(server, verify));
        await importing.stop();
      } finally {
        await server.stop();
      }
    }
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
}

function both(): { without: Window[]; with: Window[] } {
  return { without: [], with: [] };
}

/** CPU time is more meaningful than rates on a machine that is not idle. */
async function load(server: BenchServer, script: string): Promise<Window> {
  const before = cpuMs(server.pid);
  const result = await wrk({ url: server.url, connections: CONNECTIONS, seconds, folder, script });
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

function verifyScript(bearer: string): string {
  return `${linesFrom('token', join(folder, 'tokens'))}
    local head, tail
    init = function()
      local first = token()
      local whole = wrk.format("POST", "/api/v1/verify",
        { ["Authorization"] = "Bearer ${bearer}", ["Content-Type"] = "application/json" }, '{"token":"' .. first .. '"}')
      local from, to = whole:find(first, 1, true)
      head, tail = whole:sub(1, from - 1), whole:sub(to + 1)
    end
    request = function() return head .. token() .. tail end`;
}

function listScript(bearer: string, path: string): string {
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
