/** A server with threads in the test's process, on its own data folder. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { loadConfig } from '@/config.ts';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { accessLog } from '@/http/access-log.ts';
import type { Notes, Samples } from '@/threads/notes.ts';
import { startServer } from '@/server.ts';
import { makeRoomy } from '../support/roomy-key.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { connect, type Connection } from './connection.ts';

export type ThreadedServer = Awaited<ReturnType<typeof startThreaded>>;

const THREADS = 2;
/** Connections that are tried until each thread has one. */
const MOST_TRIES = 200;

export interface ThreadedOptions {
  readonly environment?: Record<string, string>;
  readonly folder?: string;
  /** File of the threads. */
  readonly thread?: URL;
}

const THREAD = new URL('../../src/threads/verification-thread.ts', import.meta.url);

export async function startThreaded({ environment = {}, folder: given, thread = THREAD }: ThreadedOptions = {}) {
  const folder = given ?? scratchFolder('gatehouse-threads');
  const workspaceKey = mintSecret('apiKey', systemRandom);
  const config = loadConfig(
    {
      GATEHOUSE_DATA: folder,
      GATEHOUSE_PORT: '0',
      GATEHOUSE_THREADS: String(THREADS),
      GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
      GATEHOUSE_WORKSPACE_KEY: workspaceKey,
      GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100000',
      GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '100000',
      GATEHOUSE_LIMIT_CODE_COOLDOWN_SECONDS: '1',
      ...environment,
    },
    { mode: 'normal' },
  );
  const logLines: string[] = [];
  const workers: Worker[] = [];
  /** Verifications that each worker has reported. */
  const answered = new Map<Worker, number>();
  const write = (lines: string) => void logLines.push(...(lines.match(/.*\n/g) ?? []));
  const server = await startServer(config, {
    log: pino({ level: 'debug' }, { write }),
    accessLog: accessLog(write),
    writeLines: write,
    spawnThread() {
      const worker = new Worker(thread.href);
      worker.addEventListener('message', ({ data }: MessageEvent<{ kind?: string; notes: Notes }>) => {
        if (data.kind === 'notes' && data.notes.samples !== null) answered.set(worker, countOf(data.notes.samples));
      });
      workers.push(worker);
      return worker;
    },
  });
  await makeRoomy(server.db, workspaceKey);
  const port = Number(new URL(server.localUrl).port);
  const sqlite = new SqliteDatabase(join(folder, 'gatehouse.db'), { readwrite: true, create: false, strict: true });
  sqlite.run('PRAGMA busy_timeout = 5000');
  const isTls = server.url.startsWith('https:');

  async function call(method: string, path: string, body?: unknown, token = workspaceKey) {
    const response = await fetch(server.localUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      tls: { rejectUnauthorized: false },
    });
    const text = await response.text();
    const json = (response.headers.get('content-type') ?? '').startsWith('application/json') ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, text, json };
  }

  function codeFor(email: string): string {
    const { code } = sqlite
      .query('SELECT code FROM mails WHERE recipient = ? ORDER BY rowid DESC LIMIT 1')
      .get(email) as { code: string };
    return code;
  }

  return {
    server,
    folder,
    port,
    sqlite,
    workspaceKey,
    workers,
    answered,
    logLines,
    call,
    codeFor,
    /** Calls, and returns the data. @throws where the answer is no success. */
    async data(method: string, path: string, body?: unknown, token?: string) {
      const { status, text, json } = await call(method, path, body, token);
      if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
      return json.data;
    },
    async createApplication(input: Record<string, unknown> = {}) {
      const { id } = await this.data('POST', '/api/applications', { name: 'Shop', ...input });
      await this.data('POST', `/api/applications/${id}/publish`);
      return (await this.data('POST', `/api/applications/${id}/go-live`)) as { id: string; clientId: string };
    },
    /** Signs in by code. */
    async signIn(clientId: string, email: string): Promise<{ token: string; userId: string }> {
      sqlite.query('UPDATE code_challenges SET created_at = created_at - 60000').run();
      const { challengeId } = await this.data('POST', '/api/v1/auth/otp/send', { email, clientId });
      return this.data('POST', '/api/v1/auth/otp/verify', { challengeId, code: codeFor(email) });
    },
    /** Returns a connection to each thread. */
    async connectToAll(): Promise<Connection[]> {
      const found = new Map<Worker, Connection>();
      for (let tries = 0; found.size < workers.length && tries < MOST_TRIES; tries += 1) {
        const connection = await connect(port, isTls);
        const before = new Map(answered);
        const isReported = () => [...answered].some(([worker, count]) => count > (before.get(worker) ?? 0));
        // Sent again, since a thread that has just started still hands over.
        for (let waits = 0; !isReported(); waits += 1) {
          if (waits % 100 === 0) await connection.send('GET', '/healthz');
          await Bun.sleep(5);
        }
        const [worker] = [...answered].find(([one, count]) => count > (before.get(one) ?? 0))!;
        if (found.has(worker)) connection.close();
        else found.set(worker, connection);
      }
      return [...found.values()];
    },
    async stop() {
      sqlite.close();
      await server.stop();
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the number of requests that a thread has answered itself. */
function countOf(samples: Samples): number {
  const [, found = []] = samples.find(([name]) => name === 'gatehouse_http_requests_total') ?? [];
  return found.reduce((sum, { value }) => sum + value, 0);
}
