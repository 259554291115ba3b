/** Runs the compiled binary as a child process, in an empty folder of its own. */
import { Database } from 'bun:sqlite';
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOMY } from './roomy-key.ts';

export { eventually } from './eventually.ts';
export { freePort } from './free-port.ts';

/** Another build, such as a downloaded release, can be tested instead. */
export const BINARY = process.env['GATEHOUSE_TEST_BINARY'] ?? resolve(import.meta.dir, '../../dist/gatehouse');

export type ServerProcess = Bun.Subprocess<'ignore', 'pipe', 'pipe'>;

/** Returns the environment without the product's settings, so that a developer's own do not leak into a test. */
export function cleanEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'));
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...extra };
}

const folders = new Set<string>();
const servers = new Set<ServerProcess>();

// A failing test leaves no servers and no folders behind.
if (process.env['NODE_ENV'] === 'test')
  afterAll(async () => {
    await Promise.all([...servers].map((server) => (server.kill('SIGKILL'), server.exited)));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

export function emptyFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  folders.add(path);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      folders.delete(path);
    },
  };
}

/** Runs a command to its end. */
export async function run(args: string[], options: { cwd: string; env?: Record<string, string> }) {
  const child = Bun.spawn([BINARY, ...args], {
    cwd: options.cwd,
    env: cleanEnvironment(options.env),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  return { stdout, stderr, exitCode };
}

export interface EphemeralServer {
  readonly url: string;
  readonly workspaceId: string;
  readonly workspaceKey: string;
  readonly applicationId: string;
  readonly clientId: string;
  readonly process: ServerProcess;
  readonly stdout: Output;
  readonly stderr: Output;
  stop(signal?: NodeJS.Signals): Promise<number>;
}

/** Starts `gatehouse serve --ephemeral` and waits until it is ready. */
export async function startEphemeral(
  args: string[] = [],
  env: Record<string, string> = {},
  cwd = tmpdir(),
): Promise<EphemeralServer> {
  const { stop, ...server } = spawnServer(['--ephemeral', ...args], env, cwd);
  const line = await server.stdout.until(/^.*\n/);
  const ready = JSON.parse(line) as Pick<EphemeralServer, 'url' | 'workspaceKey'>;
  await raiseLimits(ready, ready.workspaceKey);
  return { ...(ready as EphemeralServer), ...server, stop };
}

/** Raises the limits of the key that a server was started with, so that no test reaches them by accident. */
export async function raiseLimits(server: { url: string }, token: string): Promise<void> {
  const keys = '/api/workspace/api-keys';
  const { json } = await request(server, 'GET', keys, { token });
  const { id } = json.data.items.find(({ source }: { source: string }) => source === 'environment');
  await request(server, 'PATCH', `${keys}/${id}`, { token, body: { rateLimits: ROOMY } });
}

export interface RunningServer {
  /** The announced address, from which links are built. */
  readonly url: string;
  readonly folder: string;
  readonly process: ServerProcess;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The setup link of a server without an owner. */
  readonly setupUrl: string | null;
  stop(signal?: NodeJS.Signals): Promise<number>;
}

/** Starts a server on a folder and a free port, and waits until it is ready. */
export async function startServer(
  folder: string,
  env: Record<string, string> = {},
  args: string[] = [],
): Promise<RunningServer> {
  return { folder, ...(await startOn(['--data', folder, ...args], env)) };
}

/** Starts an instance on a PostgreSQL database and a free port, and waits until it is ready. */
export function startOnPostgres(
  databaseUrl: string,
  instanceKey: string,
  env: Record<string, string> = {},
): Promise<Omit<RunningServer, 'folder'>> {
  return startOn([], { GATEHOUSE_DATABASE_URL: databaseUrl, GATEHOUSE_INSTANCE_KEY: instanceKey, ...env });
}

async function startOn(args: string[], env: Record<string, string>): Promise<Omit<RunningServer, 'folder'>> {
  const { stop, ...server } = spawnServer(['--port', '0', ...args], env, tmpdir());
  // In a terminal the announcement ends with an empty line; in the log the address comes last.
  const announcement = await server.stdout.until(/^Gatehouse is running at [^]*\n\n|"Gatehouse is running at [^\n]*\n/);
  const url = /Gatehouse is running at ([^\s"]+)/.exec(announcement)![1]!;
  const setupUrl = /[^\s"]+\/setup\?token=[^\s"]+/.exec(announcement)?.[0] ?? null;
  return { url, setupUrl, ...server, stop };
}

function spawnServer(args: string[], env: Record<string, string>, cwd: string) {
  const child: ServerProcess = Bun.spawn([BINARY, 'serve', ...args], {
    cwd,
    env: cleanEnvironment({ GATEHOUSE_LOG_LEVEL: 'warn', ...env }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  servers.add(child);
  void child.exited.then(() => servers.delete(child));
  const stderr = collect(child.stderr);
  return {
    process: child,
    stdout: collect(child.stdout, stderr),
    stderr,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return child.exited;
    },
  };
}

/** Output of a process so far. */
export interface Output {
  text(): string;
  /** Waits until the whole output so far matches, and returns it. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with the whole output when the process has closed it. */
  readonly whole: Promise<string>;
}

/** Collects a stream as it arrives. */
export function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, errors?: Output): Output {
  let text = '';
  let wake = Promise.withResolvers<void>();
  let isEnded = false;
  const whole = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      wake.resolve();
      wake = Promise.withResolvers();
    }
    isEnded = true;
    wake.resolve();
    return text;
  })();
  return {
    whole,
    text: () => text,
    async until(pattern) {
      while (!pattern.test(text)) {
        if (isEnded) throw new Error(`the process ended: ${text}${await errors?.whole}`);
        await wake.promise;
      }
      return text;
    },
  };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint: each test checks the answer it asked for.
  readonly json: any;
}

/** Sends one request to a server; an object is sent as JSON, a string unchanged. */
export async function request(
  { url }: { url: string },
  method: string,
  path: string,
  { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Requests a code. @throws unless it was sent. */
export async function sendCode(server: { url: string }, email: string, clientId?: string): Promise<string> {
  const sent = await request(server, 'POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  if (sent.status !== 200) throw new Error(`otp/send answered ${sent.status}: ${sent.text}`);
  return sent.json.data.challengeId;
}

export const verifyCode = (server: { url: string }, challengeId: string, code: string) =>
  request(server, 'POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });

/** Signs a person in to an ephemeral instance (codes from its outbox) or a normal one (codes from its database). */
export async function signIn(
  server: { url: string; folder?: string },
  email: string,
  clientId?: string,
): Promise<{ token: string; userId: string; expiresAt: string; applicationId: string }> {
  const challengeId = await sendCode(server, email, clientId);
  const code = server.folder === undefined ? await outboxCode(server, email) : databaseCode(server.folder, email);
  const answer = await verifyCode(server, challengeId, code);
  if (answer.status !== 200) throw new Error(`otp/verify answered ${answer.status}: ${answer.text}`);
  return answer.json.data;
}

/** Returns the newest code that an ephemeral instance mailed to an address. */
export async function outboxCode(server: { url: string }, email: string): Promise<string> {
  const { json } = await request(server, 'GET', `/test/outbox?to=${encodeURIComponent(email)}`);
  return json.data.items[0].code;
}

/** Returns the newest code that the server on a folder mailed to an address. */
export function databaseCode(folder: string, email: string): string {
  const query = 'SELECT code FROM mails WHERE recipient = ? ORDER BY rowid DESC LIMIT 1';
  return readDatabase(folder, (sqlite) => (sqlite.query(query).get(email) as { code: string }).code);
}

/** Opens a folder's database read-only, whether its server runs or not. */
export function readDatabase<Result>(folder: string, read: (sqlite: Database) => Result): Result {
  const sqlite = new Database(join(folder, 'gatehouse.db'), { readonly: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 5000');
    return read(sqlite);
  } finally {
    sqlite.close();
  }
}

function textOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  return new Response(stream).text();
}
