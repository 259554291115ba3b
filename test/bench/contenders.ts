/** Contenders that `engines.ts` compares: one product on one engine each, with 10,000 sessions and every load's requests. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from '../../src/core/random.ts';
import { freePort, readDatabase } from '../support/binary.ts';
import { giveRole, insertDeliveries, insertMembers, insertSessions as insertSqliteSessions } from './rows.ts';
import {
  type BenchDatabase,
  createDatabase,
  insertDueDeliveries,
  insertOtherSessions,
  insertSessions,
} from './postgres-bench.ts';
import { type BenchServer, cpuMs, createApplication, createKey, fill, startServer } from './server.ts';
import { linesFrom } from './wrk.ts';

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

const JSON_HEADERS = '{ ["Content-Type"] = "application/json" }';

/** Lua of a function that returns this thread's lines only: one sign-in has one caller. */
const ownLines = (name: string, path: string) => `${linesFrom(`${name}_of_all`, path)}
  local begun = false
  local function ${name}()
    for _ = 1, begun and threads - 1 or thread do ${name}_of_all() end
    begun = true
    return ${name}_of_all()
  end`;

/** Codes go to new people, so that each sign-in creates an account; their addresses are in no order, as anywhere. */
const sendScript = (round: number, path: string, body: string) => `local turn = 0
  request = function()
    turn = turn + 1
    local scattered = turn * 7919 % 1000003
    local email = scattered .. "." .. ${round} .. "." .. thread .. "@example.com"
    return wrk.format("POST", "${path}", ${JSON_HEADERS}, ${body})
  end`;

const postLines = async (path: string, target: string, bodies: readonly string[]) => {
  await Bun.write(path, bodies.join('\n'));
  return `${ownLines('body', path)}
    request = function() return wrk.format("POST", "${target}", ${JSON_HEADERS}, body()) end`;
};

/** Requests that differ in the token alone: building each anew would take the client as long as the server. */
const tokenScript = (tokens: string, request: string) => `${ownLines('token', tokens)}
  local head, tail
  init = function()
    local first = token()
    local whole = ${request}
    local from, to = whole:find(first, 1, true)
    head, tail = whole:sub(1, from - 1), whole:sub(to + 1)
  end
  request = function() return head .. token() .. tail end`;

const bearerScript = (tokens: string, method: string, path: string) =>
  tokenScript(tokens, `wrk.format("${method}", "${path}", { ["Authorization"] = "Bearer " .. first })`);

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
  const name = instances === null ? 'SQLite' : `PostgreSQL, ${instances} instance${instances === 1 ? '' : 's'}`;
  const database = instances === null ? null : await createDatabase(postgresUrl, `gatehouse_bench_${instances}`);
  const env = {
    GATEHOUSE_LOG_LEVEL: 'warn',
    GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8',
    ...(database && {
      GATEHOUSE_DATABASE_URL: database.url,
      GATEHOUSE_INSTANCE_KEY: systemRandom.bytes(32).toBase64(),
    }),
  };
  const folders = Array.from({ length: instances ?? 1 }, (_, index) => join(folder, `${name}-${index}`));
  for (const path of folders) mkdirSync(path, { recursive: true });
  const [main = ''] = folders;
  const file = (kind: string) => join(main, kind);
  let servers: BenchServer[] = [];
  let tokens: readonly string[] = [];
  let round = 0;

  async function start(): Promise<readonly string[]> {
    for (const path of folders) servers.push(await startServer(path, env));
    const urls = servers.map(({ url }) => url);
    const [token] = tokens;
    const options = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
    if (token) for (const url of urls) await requireAnswer(`${url}/api/v1/session`, 'person0@example.com', options);
    return urls;
  }
  async function stop(): Promise<void> {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
  }

  await start();
  const setup = servers[0]!;
  const application = await createApplication(setup, 'Bench');
  const key = await createKey(setup, `/api/applications/${application.id}`, 'read');
  const subscription = { url: receiverUrl, events: ['user.banned'] };
  const webhook = await setup.call('POST', `/api/applications/${application.id}/webhooks`, subscription);
  await stop();
  tokens = database
    ? await insertSessions(database.sql, application.id, SESSIONS)
    : fill(main, (sqlite) => {
        const people = insertMembers(sqlite, application.id, SESSIONS);
        giveRole(sqlite, application.id, 'user', people);
        return insertSqliteSessions(sqlite, people, SESSIONS);
      });
  await Bun.write(file('tokens'), tokens.join('\n'));

  return {
    name,
    start,
    stop,
    async remove() {
      await database?.drop();
    },
    cpuMs: () => ({
      product: servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
      postgres: database?.cpuMs() ?? 0,
    }),
    async queueDeliveries(count) {
      if (database) await insertDueDeliveries(database.sql, application.id, webhook.id, count);
      else fill(main, (sqlite) => insertDeliveries(sqlite, application.id, [webhook.id], { count, status: 'pending' }));
    },
    loads: [
      async () => ({
        name: 'verify',
        share: 1,
        script: tokenScript(
          file('tokens'),
          `wrk.format("POST", "/api/v1/verify",
             { ["Authorization"] = "Bearer ${key}", ["Content-Type"] = "application/json" },
             '{"token":"' .. first .. '"}')`,
        ),
      }),
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
    return readDatabase(main, (sqlite) => sqlite.query(text).all()) as Code[];
  }
}

/** better-auth in one process, on a database of its own. @param installed folder in which it is installed. */
export async function betterAuth(folder: string, postgresUrl: string, installed: string): Promise<Contender> {
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
