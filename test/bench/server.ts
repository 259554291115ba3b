/**
 * The server under a benchmark: the compiled binary on a new folder, logging to a file as for an operator.
 * `BENCH_COMMAND` names another command, for a profiler: BENCH_COMMAND='bun --cpu-prof-md src/main.ts'.
 */
import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from '../../src/core/random.ts';
import { mintSecret } from '../../src/core/secret.ts';
import { flush } from '../../src/db/sqlite/flush.ts';
import { BINARY, cleanEnvironment, freePort, raiseLimits } from '../support/binary.ts';

/** A full workspace key, valid on every folder. */
const workspaceKey = mintSecret('apiKey', systemRandom);

const command = process.env['BENCH_COMMAND']?.split(' ') ?? [BINARY];

/** Raises all limits, since one machine sends all requests. */
const NO_LIMITS = {
  GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000000',
  GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000000',
  GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '1000000',
  GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '1000000',
};

export interface BenchServer {
  readonly url: string;
  readonly pid: number;
  /** Makes one request with the workspace key. @throws if the answer is not a 2xx. */
  // biome-ignore lint: answers are read by the benchmark that asked for them.
  call(method: string, path: string, body?: object, token?: string): Promise<any>;
  /** @returns the time until the process ended, in milliseconds. */
  stop(): Promise<number>;
  /** Ends the server of a benchmark that fails. */
  kill(): void;
}

const running = new Set<BenchServer>();
process.on('exit', () => {
  for (const server of running) server.kill();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

/** Starts the server and waits until it is ready, without a time limit for migrations. */
export async function startServer(folder: string, env: Record<string, string> = {}): Promise<BenchServer> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  // With a database elsewhere, the folder has the log alone.
  const where = env['GATEHOUSE_DATABASE_URL'] === undefined ? ['--data', folder] : [];
  const child = Bun.spawn([...command, 'serve', ...where, '--port', String(port)], {
    env: cleanEnvironment({
      GATEHOUSE_WORKSPACE_KEY: workspaceKey,
      GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
      ...NO_LIMITS,
      ...env,
    }),
    stdin: 'ignore',
    stdout: Bun.file(join(folder, 'log')),
    stderr: 'inherit',
  });
  const server: BenchServer = {
    url,
    pid: child.pid,
    async call(method, path, body, token = workspaceKey) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text).data;
    },
    async stop() {
      const since = performance.now();
      child.kill('SIGTERM');
      await child.exited;
      running.delete(server);
      return performance.now() - since;
    },
    kill: () => child.kill('SIGKILL'),
  };
  running.add(server);
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${readFileSync(join(folder, 'log'), 'utf8')}`);
    await Bun.sleep(20);
  }
  await raiseLimits(server, workspaceKey);
  return server;
}

/** Creates a key with very high limits. */
export async function createKey(server: BenchServer, path: string, access: 'read' | 'full'): Promise<string> {
  const rateLimits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
  return (await server.call('POST', `${path}/api-keys`, { name: 'bench', access, rateLimits })).token;
}

/** Keys enough for the calls of any benchmark, since a key may call 1,000,000 times a minute at most. */
const KEYS = 16;

/** Creates read keys with very high limits, whose calls a benchmark shares out among them. */
export async function createKeys(server: BenchServer, path: string): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < KEYS) keys.push(await createKey(server, path, 'read'));
  return keys;
}

/** Creates an application that is open to everyone. */
export async function createApplication(server: BenchServer, name: string): Promise<{ id: string; clientId: string }> {
  const { id, clientId } = await server.call('POST', '/api/applications', { name });
  await server.call('POST', `/api/applications/${id}/publish`);
  await server.call('POST', `/api/applications/${id}/go-live`);
  return { id, clientId };
}

/** Opens a folder's database file to write rows while no server runs, and checkpoints the WAL afterwards. */
export function fill<Result>(folder: string, write: (sqlite: Database) => Result): Result {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { strict: true });
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite.run('PRAGMA cache_size = -200000');
  try {
    const result = write(sqlite);
    sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
    return result;
  } finally {
    sqlite.close();
    // Otherwise the kernel writes a gigabyte to the disk during the measurement.
    flush(join(folder, 'gatehouse.db'));
  }
}

/** Returns the user and system time of a process so far, in milliseconds. Linux only. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  // The kernel counts in hundredths of a second for user programs.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the memory of a process besides mapped files, which the kernel can drop. Linux only. */
export function anonymousMiB(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Linux only. */
export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));
