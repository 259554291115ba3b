/** Contenders that `engines.ts` compares: one product on one engine each, with 10,000 sessions and every load's requests. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, readDatabase } from '../support/binary.ts';
import { benchInstances } from './instances.ts';
import { type BenchDatabase, createDatabase, insertOtherSessions } from './postgres-bench.ts';
import { cpuMs, createApplication, createKeys } from './server.ts';
import { bearerScript, postLines, sendScript, verifyScript } from './wrk-scripts.ts';

export const SESSIONS = 10_000;

export interface Load {
  readonly name: string;
  /** Lua that defines `request`. */
  readonly script: string;
  /** Share of the duration. */
  readonly share: number;
}

export interface Contender {
  readonly name: string;
  /** Starts the processes. @returns their addresses. */
  start(): Promise<readonly string[]>;
  stop(): Promise<void>;
  remove(): Promise<void>;
  /** Returns the processor time so far, in milliseconds, of the product and of PostgreSQL. */
  cpuMs(): { readonly product: number; readonly postgres: number };
  readonly loads: readonly (() => Promise<Load>)[];
  /** Queues webhook deliveries to an address while nothing runs; null for a product without any. */
  readonly queueDeliveries: ((count: number) => Promise<void>) | null;
}

/** @throws if a valid session is refused: refusals are fast, and answered with 200 too. */
async function requireAnswer(url: string, expected: string, options: RequestInit): Promise<void> {
  const text = await (await fetch(url, options)).text();
  if (!text.includes(expected)) throw new Error(`${url} answered ${text}`);
}

interface Code {
  readonly id: string;
  readonly code: string;
}

/** @param instances on one database; null for SQLite. */
export async function gatehouse(
  folder: string,
  postgresUrl: string,
  receiverUrl: string,
  instances: number | null,
): Promise<Contender> {
  const env = { GATEHOUSE_LOG_LEVEL: 'warn', GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8' };
  const product = await benchInstances({ folder, postgresUrl, instances, env });
  const { name, database, stop } = product;
  const file = (kind: string) => join(product.folder, kind);
  let tokens: readonly string[] = [];
  let round = 0;

  async function start(): Promise<readonly string[]> {
    const urls = (await product.start()).map(({ url }) => url);
    const [token] = tokens;
    const options = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
    if (token) for (const url of urls) await requireAnswer(`${url}/api/v1/session`, 'person0@example.com', options);
    return urls;
  }

  const [setup] = await product.start();
  const application = await createApplication(setup!, 'Bench');
  const keys = await createKeys(setup!, `/api/applications/${application.id}`);
  const subscription = { url: receiverUrl, events: ['user.banned'] };
  const webhook = await setup!.call('POST', `/api/applications/${application.id}/webhooks`, subscription);
  await stop();
  tokens = await product.insertSessions(application.id, SESSIONS);
  await Bun.write(file('tokens'), tokens.join('\n'));

  return {
    name,
    start,
    stop,
    remove: product.remove,
    cpuMs: () => ({
      product: product.servers().reduce((sum, { pid }) => sum + cpuMs(pid), 0),
      postgres: database?.cpuMs() ?? 0,
    }),
    queueDeliveries: (count) => product.insertDeliveries(application.id, webhook.id, { count, status: 'pending' }),
    loads: [
      async () => ({ name: 'verify', share: 1, script: verifyScript(file('tokens'), keys) }),
      async () => ({ name: 'session', share: 1, script: bearerScript(file('tokens'), 'POST', '/api/v1/session') }),
      async () => {
        const body = `'{"email":"' .. email .. '","clientId":"${application.clientId}"}'`;
        return { name: 'send a code', share: 1, script: sendScript((round += 1), '/api/v1/auth/otp/send', body) };
      },
      async () => {
        const bodies = (await openCodes()).map(({ id, code }) => `{"challengeId":"${id}","code":"${code}"}`);
        return {
          name: 'sign in by the code',
          share: 0.5,
          script: await postLines(file('codes'), '/api/v1/auth/otp/verify', bodies),
        };
      },
    ],
  };

  async function openCodes(): Promise<readonly Code[]> {
    const text = `SELECT c.id, m.code FROM code_challenges c JOIN mails m ON m.recipient = c.email
      WHERE c.consumed_at IS NULL ORDER BY c.id`;
    if (database) return (await database.sql.unsafe(text)) as Code[];
    return readDatabase(product.folder, (sqlite) => sqlite.query(text).all()) as Code[];
  }
}

/** Versions from the registry, installed for a run: they are no dependencies of the product. */
const BETTER_AUTH = ['better-auth@1.7.25', 'pg@8.23.1'];

/** better-auth in one process, on a database of its own. */
export async function betterAuth(folder: string, postgresUrl: string): Promise<Contender> {
  const installed = join(folder, 'better-auth');
  mkdirSync(installed);
  await Bun.write(join(installed, 'package.json'), '{ "private": true }');
  await Bun.$`${process.execPath} add --exact ${BETTER_AUTH}`.cwd(installed).quiet();
  const database: BenchDatabase = await createDatabase(postgresUrl, 'better_auth_bench');
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const script = join(import.meta.dir, 'better-auth.ts');
  const tokensFile = join(folder, 'better-auth-tokens');
  let child: Bun.Subprocess | undefined;
  let tokens: readonly string[] = [];
  let round = 0;

  async function start(): Promise<readonly string[]> {
    const command = [process.execPath, script, installed, database.url, String(port)];
    child = Bun.spawn(command, {
      stdout: 'ignore',
      stderr: 'inherit',
      env: { ...process.env, NODE_ENV: 'production' },
    });
    while (!(await fetch(`${url}/api/auth/ok`).catch(() => null))) {
      if (child.exitCode !== null) throw new Error('better-auth ended');
      await Bun.sleep(20);
    }
    const [token] = tokens;
    const headers = { authorization: `Bearer ${token}` };
    if (token) await requireAnswer(`${url}/api/auth/get-session`, 'person0@example.com', { headers });
    return [url];
  }
  async function stop(): Promise<void> {
    child?.kill();
    await child?.exited;
  }

  await start();
  await stop();
  tokens = await insertOtherSessions(database.sql, SESSIONS);
  await Bun.write(tokensFile, tokens.join('\n'));

  return {
    name: 'better-auth, PostgreSQL',
    start,
    stop,
    remove: () => database.drop(),
    queueDeliveries: null,
    cpuMs: () => ({ product: child ? cpuMs(child.pid) : 0, postgres: database.cpuMs() }),
    loads: [
      async () => ({ name: 'verify', share: 1, script: bearerScript(tokensFile, 'GET', '/api/auth/get-session') }),
      async () => ({ name: 'session', share: 1, script: bearerScript(tokensFile, 'GET', '/api/auth/get-session') }),
      async () => {
        const body = `'{"email":"' .. email .. '","type":"sign-in"}'`;
        const target = '/api/auth/email-otp/send-verification-otp';
        return { name: 'send a code', share: 1, script: sendScript((round += 1), target, body) };
      },
      async () => {
        const sent = (await database.sql.unsafe(
          `SELECT replace(identifier, 'sign-in-otp-', '') AS email FROM verification`,
        )) as { email: string }[];
        const bodies = sent.map(({ email }) => `{"email":"${email}","otp":"123456"}`);
        const path = join(folder, 'better-auth-codes');
        return {
          name: 'sign in by the code',
          share: 0.5,
          script: await postLines(path, '/api/auth/sign-in/email-otp', bodies),
        };
      },
    ],
  };
}
