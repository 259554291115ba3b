/**
 * Searches and long reads of a tenant with 200,000 users and 10,000,000 audit records: the median and worst time of
 * each call, and the longest wait of others meanwhile (GET /healthz). Prints a table, then one JSON line.
 * Usage: bun test/bench/searches.ts [--scale 0.1] [--members 200000] [--folder DIR] [--only WORD] [--postgres URL]
 *
 * `--folder` keeps the rows in this folder, and takes those that are there: the file of full size is 6 GB. With
 * `--postgres` they are moved into an empty database, which stays; a folder that was moved there is taken from there.
 */
import { SQL } from 'bun';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { emptyFolder, readDatabase, run } from '../support/binary.ts';
import { fillLargeTenant } from './large-tenant.ts';
import { type BenchServer, createApplication, createKey, fill, round, startServer } from './server.ts';
import { inWords, whileWatched, type Waits } from './waits.ts';

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    members: { type: 'string' },
    folder: { type: 'string' },
    only: { type: 'string', default: '' },
    postgres: { type: 'string' },
  },
});
const scale = Number(values.scale);
const members = Number(values.members ?? Math.round(200_000 * scale));
const auditRecords = Math.round(10_000_000 * scale);
const ENV = { GATEHOUSE_LOG_LEVEL: 'warn' };

interface Tenant {
  readonly applicationId: string;
  readonly webhookId: string;
}

const scratch = values.folder === undefined ? emptyFolder() : null;
const folder = scratch?.path ?? values.folder ?? '';
const tenant = await tenantIn(folder);
const database = values.postgres === undefined ? null : await movedTo(values.postgres);
const server = await startServer(folder, { ...ENV, ...database?.env });
const key = await createKey(server, '/api/workspace', 'full');
await untilIndexed();
try {
  const results = [];
  for (const { name, times, run } of callsOf(server, { key, owner: await signInAsOwner(server) }, tenant)) {
    if (!name.includes(values.only)) continue;
    const result = await measure(name, times, run);
    results.push(result);
    const { medianMs, worstMs, others } = result;
    console.log(`${name.padEnd(52)} median ${medianMs} ms   worst ${worstMs} ms   others ${inWords(others)}`);
  }
  console.log(JSON.stringify({ benchmark: 'searches', members, auditRecords, calls: results }));
} finally {
  server.kill();
  scratch?.remove();
}
process.exit(0);

/** Returns the tenant of a folder, whose rows it writes where there are none. */
async function tenantIn(folder: string): Promise<Tenant> {
  const note = join(folder, 'tenant.json');
  if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as Tenant;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const first = await startServer(folder, ENV);
  const { id: applicationId } = await createApplication(first, 'Large');
  const path = `/api/applications/${applicationId}`;
  const hook = { url: 'https://example.com/hook', events: ['*'] };
  const { id: webhookId } = await first.call('POST', `${path}/webhooks`, hook);
  await first.stop();
  fill(folder, (sqlite) => fillLargeTenant(sqlite, { applicationId, webhookId, members, auditRecords }));
  writeFileSync(note, JSON.stringify({ applicationId, webhookId }));
  return { applicationId, webhookId };
}

/** Moves the rows of the folder into a database, unless they are there. */
async function movedTo(url: string) {
  const sql = new SQL({ url, max: 1 });
  const [{ isEmpty }] = await sql.unsafe(`SELECT to_regclass('audit_records') IS NULL AS "isEmpty"`);
  if (isEmpty) {
    // A kept folder may be of an older schema.
    await (await startServer(folder, ENV)).stop();
    const { stderr, exitCode } = await run(['move', '--data', folder, '--to', url], { cwd: folder });
    if (exitCode !== 0) throw new Error(stderr);
  }
  const env = { GATEHOUSE_DATABASE_URL: url, GATEHOUSE_INSTANCE_KEY_FILE: join(folder, 'instance.key') };
  return { sql, env };
}

/** Reads one row past the server. */
async function rowOf<Row>(query: string): Promise<Row | null> {
  if (database) return (await database.sql.unsafe(query))[0] ?? null;
  return readDatabase(folder, (sqlite) => sqlite.query<Row, []>(query).get());
}

/** Waits until every member and address is indexed: jobs enter rows that were written past the server. */
async function untilIndexed(): Promise<void> {
  const startedAt = performance.now();
  const count = `SELECT (SELECT count(*) FROM member_search WHERE handles IS NULL)
    + (SELECT count(*) FROM address_search WHERE tokens IS NULL) + (SELECT count(*) FROM long_works) AS n`;
  const missing = async () => Number((await rowOf<{ n: number }>(count))?.n ?? 0);
  const before = await missing();
  while ((await missing()) > 0) await Bun.sleep(200);
  const seconds = round((performance.now() - startedAt) / 1000, 1);
  // Does what autovacuum does within minutes: until then searches pass the dead entries of indexed rows.
  await database?.sql.unsafe('VACUUM ANALYZE');
  if (before > 0) console.log(`${before} members and addresses indexed in ${seconds} s`);
}

async function measure(name: string, times: number, run: () => Promise<unknown>) {
  const { result: taken, waits } = await whileWatched(server, async () => {
    const each: number[] = [];
    for (let turn = 0; turn < times; turn += 1) {
      const startedAt = performance.now();
      await run();
      each.push(performance.now() - startedAt);
    }
    return each.toSorted((left, right) => left - right);
  });
  const others: Waits = waits;
  return { name, medianMs: round(taken[times >> 1] ?? 0, 1), worstMs: round(taken.at(-1) ?? 0, 1), others };
}

interface Call {
  readonly name: string;
  readonly times: number;
  run(): Promise<unknown>;
}

interface Callers {
  readonly key: string;
  /** Token of the owner's session, which the outbox needs. */
  readonly owner: string;
}

/** Signs the owner in to the console, with the code of the mail in the database. */
async function signInAsOwner(server: BenchServer): Promise<string> {
  const { challengeId } = await server.call('POST', '/api/v1/auth/otp/send', { email: 'owner@example.com' });
  const newest =
    "SELECT code FROM mails WHERE recipient = 'owner@example.com' AND code IS NOT NULL ORDER BY id DESC LIMIT 1";
  const { code } = (await rowOf<{ code: string }>(newest)) ?? { code: '' };
  return (await server.call('POST', '/api/v1/auth/otp/verify', { challengeId, code })).token;
}

function callsOf(server: BenchServer, { key, owner }: Callers, { applicationId, webhookId }: Tenant): Call[] {
  const get = (path: string) => server.call('GET', path, undefined, key);
  const of = (rest: string) => get(`/api/applications/${applicationId}/${rest}`);
  const list = (path: string, query: string): Call => ({
    name: `${path} ?${query}`,
    times: 20,
    run: () => of(`${path}?${query}`),
  });
  /** Reads a list page by page, as an export does. */
  const pages = (path: string, query: string, most: number): Call => ({
    name: `${path} ?${query}, ${most} pages`,
    times: 2,
    async run() {
      let cursor: string | null = '';
      for (let page = 0; page < most && cursor !== null; page += 1)
        cursor = (await of(`${path}?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)).nextCursor;
    },
  });
  const since = new Date(Date.now() - 20 * 86_400_000).toISOString();
  const until = new Date(Date.now() - 200 * 86_400_000).toISOString();
  const range = `from=${until}&to=${since}`;
  const users = [
    '',
    'include=profile&limit=200',
    'sort=joined&limit=200',
    'q=person1',
    'q=person199999@',
    'q=lovelace+person19999',
    'q=usr_00000000000000000000000000',
    'q=Ada',
    'q=ada+lovelace&status=active',
    'q=%C3%85ngstr%C3%B6m',
    'q=zofie+angstrom',
    'q=%40zz',
    'q=nobody',
    'q=n',
    'status=active',
    'status=paused',
    'role=user',
    'role=developer',
    'role=none',
    'membership=none',
    'q=nobody&sort=joined',
    'status=banned&role=developer&q=x',
  ];
  const activity = [
    '',
    'limit=200',
    'status=ok',
    'status=error',
    'family=signin',
    'family=role',
    'family=s',
    'family=signin.refused',
    'family=none',
    'country=FI',
    'country=DE',
    'country=ZZ',
    'email=person7@example.com',
    'email=nobody@example.com',
    'email=person7@example.com&status=error',
    'q=PERSON1',
    'q=example.com',
    'q=person1999',
    'q=person199',
    'q=person199999@',
    'q=person199999@&status=error',
    'q=person199999@&family=role',
    'q=nobody-at-all',
    range,
    `${range}&status=error`,
    `${range}&country=FI`,
    'family=signin&country=FI&status=error',
    'family=role&status=error',
    'status=ok&country=FI',
    'status=error&q=nobody',
  ];
  const pagesOf = [
    pages('users', 'sort=joined&limit=200&include=profile', 100),
    pages('users', 'q=nobody', 10),
    pages('activity/list', 'limit=200', 100),
    pages('activity/list', 'q=nobody', 20),
    pages('beta-interests', 'limit=200', 100),
  ];
  const others: Call[] = [
    list('stats', ''),
    list('stats', 'days=365'),
    list('beta-interests', ''),
    list('beta-interests', 'status=approved'),
    list('beta-interests', 'status=notify_when_public&limit=200'),
    list(`webhooks/${webhookId}/deliveries`, 'limit=200'),
    list(`webhooks/${webhookId}/deliveries`, 'status=failed'),
    list(`webhooks/${webhookId}/deliveries`, 'type=user.left'),
  ];
  const workspace = [
    'activity/list',
    'activity/list?status=error',
    'activity/list?family=role',
    'activity/list?country=FI',
    'activity/list?q=nobody',
    'activity/list?q=person199999@',
    'activity/list?email=person7@example.com',
    'activity/list?status=error&q=nobody',
  ];
  return [
    ...users.map((query) => list('users', query)),
    ...activity.map((query) => list('activity/list', query)),
    ...workspace.map((path) => ({ name: `workspace ${path}`, times: 20, run: () => get(`/api/workspace/${path}`) })),
    ...['', '?q=person199999@', '?q=person1999', '?q=nobody', '?q=example', '?status=failed'].map((query) => ({
      name: `mails ${query}`,
      times: 20,
      run: () => server.call('GET', `/api/workspace/outbox${query}`, undefined, owner),
    })),
    ...others,
    ...pagesOf,
  ];
}
