/** Starts an ephemeral server for integration tests, which ends with its parent process. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient, GatehouseError } from './gatehouse.ts';

export interface EphemeralOptions {
  /** Path of the binary; defaults to `gatehouse` on the `PATH`. */
  readonly binary?: string;
  /** Required version of the binary, such as `1.2.0`. */
  readonly version?: string;
  /**
   * `postgres://…` of a server on which each instance gets a database of its own, dropped at its end. Its user needs
   * `CREATEDB`. Without it, the data is in a temporary folder.
   */
  readonly databaseUrl?: string;
  /** Applications, roles and users to start with: the path of a seed file, or its content. */
  readonly seed?: string | object;
  /** Receives each line of the server's log, such as `console.error`. */
  readonly onLog?: (line: string) => unknown;
  /** Server settings. `GATEHOUSE_*` variables of this process are not inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface CapturedMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly code: string | null;
  readonly createdAt: string;
}

export interface TestSession {
  readonly token: string;
  readonly userId: string;
  readonly expiresAt: string;
  readonly applicationId: string;
}

export interface EphemeralServer {
  readonly url: string;
  readonly workspaceId: string;
  /** Full workspace key with rate limits that no test suite reaches. */
  readonly workspaceKey: string;
  /** A live application that everyone may sign in to. */
  readonly applicationId: string;
  readonly clientId: string;
  /** Signs a person in by code and creates them if new. @param clientId defaults to the application above. */
  signIn(email: string, clientId?: string): Promise<TestSession>;
  /** Returns the captured mails, newest first. */
  outbox(to?: string): Promise<CapturedMail[]>;
  clearOutbox(): Promise<void>;
  /** Advances the clock and runs due jobs. @returns the new time. */
  advance(ms: number): Promise<string>;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

/** JSON line that the server prints when it is ready. */
type Ready = Pick<EphemeralServer, 'url' | 'workspaceId' | 'workspaceKey' | 'applicationId' | 'clientId'>;

interface MailPage {
  readonly items: CapturedMail[];
  readonly nextCursor: string | null;
}

const ROOMY = { perMinute: 1_000_000, perDay: 1_000_000_000 };
/** Characters of the server's log that an error quotes. */
const LOG_KEPT = 4000;
const CALL_TIMEOUT_MS = 30_000;

/**
 * Starts a server that ends with this process, even if that is killed, and does not keep it alive.
 * @throws {GatehouseError} `not_started`, with the output of the binary; `wrong_version`.
 */
export async function startEphemeral(options: EphemeralOptions = {}): Promise<EphemeralServer> {
  const { binary = 'gatehouse', version, databaseUrl, seed, onLog, timeoutMs = 15_000 } = options;
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'));
  const database = databaseUrl !== undefined && { GATEHOUSE_DATABASE_URL: databaseUrl };
  if (version !== undefined) requireVersion(binary, version);
  const file = seed === undefined ? undefined : await seedFile(seed);
  const seeded = file !== undefined && { GATEHOUSE_SEED: file.path };
  const env = { ...Object.fromEntries(inherited), ...database, ...seeded, ...options.env };
  // Piped stdin: the server detects the end of this process by its closing.
  const child = spawn(binary, ['serve', '--ephemeral'], { cwd: tmpdir(), env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ready = await readyLine(child, binary, { timeoutMs, onLog }).finally(() => file?.remove());
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.();

  await raiseLimits(ready);

  async function call<Data>(method: string, path: string, body?: unknown): Promise<Data> {
    const response = await fetch(ready.url + path, {
      method,
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data: Data; error?: string; message?: string };
    if (response.status === 200) return answer.data;
    throw new GatehouseError(answer.error ?? 'unexpected', `${path}: ${answer.message ?? response.status}`);
  }

  async function outbox(to?: string): Promise<CapturedMail[]> {
    const mails: CapturedMail[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ ...(to !== undefined && { to }), ...(cursor !== null && { cursor }) });
      const page: MailPage = await call('GET', `/test/outbox?${query}`);
      mails.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return mails;
  }

  async function signInNow(email: string, clientId: string): Promise<TestSession> {
    const { challengeId } = await call<{ challengeId: string }>('POST', '/api/v1/auth/otp/send', { email, clientId });
    const mail = (await outbox(email)).find(({ code }) => code !== null);
    return call('POST', '/api/v1/auth/otp/verify', { challengeId, code: mail?.code });
  }
  /** Serializes sign-ins per address, so that the newest code belongs to the current one. */
  const underWay = new Map<string, Promise<unknown>>();

  return {
    ...ready,
    outbox,
    signIn(email, clientId = ready.clientId) {
      const before = underWay.get(email) ?? Promise.resolve();
      const session = before.catch(() => {}).then(() => signInNow(email, clientId));
      underWay.set(email, session);
      return session;
    },
    clearOutbox: () => call('DELETE', '/test/outbox'),
    advance: async (ms) => (await call<{ now: string }>('POST', '/test/clock', { advanceMs: ms })).now,
    stop: () => stop(child),
  };
}

function requireVersion(binary: string, version: string): void {
  let said: string;
  try {
    said = execFileSync(binary, ['version'], { encoding: 'utf8', cwd: tmpdir() });
  } catch (cause) {
    throw notStarted(binary, String(cause));
  }
  const [, found] = /^gatehouse (\S+)/.exec(said) ?? [];
  if (found !== version)
    throw new GatehouseError('wrong_version', `${binary} is ${found ?? 'something else'}, not gatehouse ${version}.`);
}

/** Returns the path of a seed file; one that is given as a value is written to a temporary folder. */
async function seedFile(seed: string | object): Promise<{ readonly path: string; remove(): unknown }> {
  if (typeof seed === 'string') return { path: resolve(seed), remove: () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-seed-'));
  const path = join(folder, 'seed.json');
  await writeFile(path, JSON.stringify(seed), { mode: 0o600 });
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Calls back with each whole line of a stream, and returns what takes its chunks. */
function byLine(onLine: (line: string) => unknown): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = '';
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  };
}

function readyLine(
  child: ChildProcess,
  binary: string,
  { timeoutMs, onLog }: { readonly timeoutMs: number; readonly onLog: EphemeralOptions['onLog'] },
): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let log = '';
    let output = '';
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(notStarted(binary, `${why}\n${log}`));
    };
    const timer = setTimeout(() => fail(`It was not ready within ${timeoutMs} ms.`), timeoutMs);
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code, signal) => fail(`It ended with ${code ?? signal}.`));
    // Drains stderr: a full pipe would block the server.
    child.stderr?.on('data', (chunk: Uint8Array) => (log = (log + String(chunk)).slice(-LOG_KEPT)));
    if (onLog) child.stderr?.on('data', byLine(onLog));
    child.stdout?.on('data', (chunk: Uint8Array) => {
      if (output.includes('\n')) return;
      output += String(chunk);
      if (!output.includes('\n')) return;
      clearTimeout(timer);
      child
        .removeAllListeners('exit')
        .removeAllListeners('error')
        .on('error', () => {});
      const { ready: _, ...ready } = JSON.parse(output.slice(0, output.indexOf('\n'))) as Ready & { ready: true };
      resolve(ready);
    });
  });
}

const notStarted = (binary: string, why: string) =>
  new GatehouseError(
    'not_started',
    why.includes('ENOENT')
      ? `There is no ${binary}: give the path of the server as binary, or put it on PATH as gatehouse.`
      : `${binary} did not start: ${why.trim()}`,
  );

/** Raises the rate limits of the initial workspace key, which has the default ones. */
async function raiseLimits({ url, workspaceKey }: Ready): Promise<void> {
  const client = createClient({ url, apiKey: workspaceKey });
  for await (const { id, source } of client.all('/api/workspace/api-keys'))
    if (source === 'environment')
      await client.patch('/api/workspace/api-keys/{keyId}', { path: { keyId: id }, body: { rateLimits: ROOMY } });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    child.ref();
    child.once('exit', () => resolve());
    // Windows has no signal that allows cleanup, so stdin is closed instead.
    if (process.platform === 'win32') child.stdin?.end();
    else child.kill('SIGTERM');
  });
}
