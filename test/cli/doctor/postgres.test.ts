/** The doctor on a PostgreSQL database: what it finds beside a running instance, and for each way not to reach it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import pino from 'pino';
import { doctorContext } from '@/cli/doctor/context.ts';
import type { Finding } from '@/cli/doctor/finding.ts';
import { runChecks } from '@/cli/doctor/run-checks.ts';
import { loadConfig } from '@/config.ts';
import { type RunningServer, startServer } from '@/server.ts';
import { freePort } from '../../support/binary.ts';
import { emptyDatabases } from '../../support/empty-postgres.ts';

setDefaultTimeout(60_000);

const databases = await emptyDatabases();
const database = await databases.create();
const superuser = database.client('superuser');
const port = freePort();
const OWN = {
  GATEHOUSE_DATABASE_URL: database.url,
  GATEHOUSE_INSTANCE_KEY: Buffer.alloc(32, 7).toString('base64'),
  GATEHOUSE_PORT: String(port),
};
let server: RunningServer;

beforeAll(async () => {
  server = await startServer(loadConfig(OWN), { log: pino({ level: 'silent' }), accessLog: () => {} });
});
afterAll(async () => {
  await server.stop();
  await databases.drop();
});

async function runDoctor(environment: Record<string, string> = {}, isFull = false): Promise<readonly Finding[]> {
  const given = Object.fromEntries(Object.entries({ ...OWN, ...environment }).filter(([, value]) => value !== ''));
  const scene = doctorContext({ environment: given, flags: {}, now: Date.now, timeoutMs: 3000 });
  const findings = await runChecks(scene, { sendTo: null, isFull });
  const { password } = new URL(OWN.GATEHOUSE_DATABASE_URL);
  if (password) expect(JSON.stringify(findings)).not.toContain(password);
  return findings;
}

const of = (findings: readonly Finding[], name: string) =>
  findings.filter(({ check }) => check === name).map(({ status, message }) => `${status} ${message}`);

/** Returns a URL of the database with changed parts. */
const urlWith = (changes: Partial<Record<'hostname' | 'port' | 'username' | 'pathname' | 'search', string>>) =>
  Object.assign(new URL(database.url), changes).href;

test('reports server, schema, key, instances, work and backups, and recognizes the instance at the base URL', async () => {
  const findings = await runDoctor();
  expect(of(findings, 'schema')[0]).toMatch(/^ok \d+, that of this binary, in the schema public\.$/);
  expect(of(findings, 'instance key')).toEqual(['ok It belongs to the database.']);
  expect(of(findings, 'database')[0]).toMatch(
    /^ok PostgreSQL [\d.]+ at \S+: empty_\w+ has .+ of \d+ connections in use/,
  );
  expect(of(findings, 'replication')[0]).toContain('ok No standby is connected');
  expect(of(findings, 'instances')[0]).toMatch(/^ok 1 instance: .+ \(version .+, up for .+\)\.$/);
  expect(of(findings, 'pending')[0]).toContain('ok ');
  expect(of(findings, 'backups')[0]).toContain('pg_dump --format=custom');
  expect(of(findings, 'base URL')).toContain(
    'ok It is reachable from here, and leads to an instance on this database.',
  );
  expect(of(findings, 'clock')[0]).toContain('Agrees with the database');
  // The server of the tests runs without what protects from a crash.
  expect(findings.filter(({ status }) => status === 'fail').map(({ message }) => message)).toEqual([
    expect.stringContaining('fsync and full_page_writes off'),
  ]);
});

test('says what --full leaves out', async () => {
  expect(of(await runDoctor({}, true), 'integrity')[0]).toContain('warn --full checks data folders');
});

test.each([
  ['an unknown host', { hostname: 'nowhere.invalid' }, 'The name nowhere.invalid is not known'],
  ['a port without a server', { port: String(freePort()) }, 'Nothing accepts connections at'],
  ['a database that is not there', { pathname: '/nothing' }, 'There is no such database.'],
  ['a role that is not there', { username: 'nobody' }, 'The database refuses the sign-in'],
  ['a server without TLS', { search: 'sslmode=require' }, 'offers no TLS.'],
] as const)('%s fails with its own remedy', async (_, changes, words) => {
  const findings = await runDoctor({ GATEHOUSE_DATABASE_URL: urlWith(changes) });
  const own = findings.filter(({ check }) => check === 'database');
  expect(own.map(({ status, message }) => [status, message.includes(words)])).toEqual([['fail', true]]);
  expect(own[0]?.remedy).toMatch(/^[A-Z].+/);
});

test('a key that is missing or another’s fails with its own remedy, and the rest is checked', async () => {
  const missing = await runDoctor({ GATEHOUSE_INSTANCE_KEY: '' });
  expect(of(missing, 'instance key')).toEqual(['fail This database has an instance key.']);
  const others = await runDoctor({ GATEHOUSE_INSTANCE_KEY: Buffer.alloc(32, 8).toString('base64') });
  expect(of(others, 'instance key')).toEqual(['fail The instance key is not the one of this database.']);
  expect(of(others, 'base URL').at(-1)).toContain('fail Another instance answers at');
  expect(of(others, 'instances')[0]).toContain('ok 1 instance');
});

test('pgbouncer=true without PgBouncer is a warning', async () => {
  const findings = await runDoctor({ GATEHOUSE_DATABASE_URL: urlWith({ search: 'pgbouncer=true' }) });
  expect(of(findings, 'database')[0]).toContain('warn pgbouncer=true is set, but no PgBouncer is between');
});

test('tables of another owner fail, as a restore leaves them, with the command', async () => {
  await superuser.unsafe('ALTER TABLE backup_runs OWNER TO postgres');
  const findings = await runDoctor();
  await superuser.unsafe('ALTER TABLE backup_runs OWNER TO gatehouse');
  const found = findings.find(({ message }) => message.includes('do not belong to'));
  expect(found).toMatchObject({ status: 'fail', remedy: expect.stringContaining('OWNER TO gatehouse') });
});

test('an empty database and the tables of another program are told apart', async () => {
  const empty = await databases.create();
  const findings = await runDoctor({ GATEHOUSE_DATABASE_URL: empty.url });
  expect(of(findings, 'schema')[0]).toContain('warn gatehouse may create the tables; there are none yet.');
  await empty.client().unsafe('CREATE TABLE invoices (id bigint)');
  expect(of(await runDoctor({ GATEHOUSE_DATABASE_URL: empty.url }), 'schema')[0]).toContain(
    'fail The database has tables of something else (invoices).',
  );
});
