/** Opening a PostgreSQL database: each refusal with its remedy, nothing changed by it, and starts at the same time. */
import { afterAll, describe, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import { join } from 'node:path';
import { loadConfig } from '@/config.ts';
import { systemClock } from '@/core/clock.ts';
import { systemRandom } from '@/core/random.ts';
import { StartupError } from '@/core/startup-error.ts';
import type { OpenedData } from '@/db/opened-data.ts';
import type { PostgresSettings } from '@/db/postgres/address.ts';
import { openPostgres, type PostgresOpenOptions } from '@/db/postgres/open.ts';
import { POSTGRES_MIGRATIONS } from '@/db/postgres/migrations.ts';
import { POSTGRES_SCHEMA_VERSION } from '@/db/postgres/schema-version.ts';
import { accessLog } from '@/http/access-log.ts';
import { createLog } from '@/log.ts';
import { startServer } from '@/server.ts';
import { type EmptyDatabase, emptyDatabases } from '../../support/empty-postgres.ts';

const databases = await emptyDatabases();
const GUEST = `open_test_guest_${process.pid}`;

afterAll(async () => {
  await databases.drop();
  await databases.admin.unsafe(`DROP ROLE IF EXISTS ${GUEST}`);
});

const rowsOf = async (sql: SQL, text: string) => [...((await sql.unsafe(text)) as object[])];
const tablesIn = ({ client }: EmptyDatabase) =>
  rowsOf(client(), "SELECT relname FROM pg_class WHERE relnamespace = CAST('public' AS regnamespace)");

const newKey = () => Buffer.from(systemRandom.bytes(32)).toString('base64');

function settingsOf(url: string, key: string | null = newKey()): PostgresSettings {
  const { database } = loadConfig({
    GATEHOUSE_DATABASE_URL: url,
    GATEHOUSE_DATABASE_POOL: '4',
    ...(key !== null && { GATEHOUSE_INSTANCE_KEY: key }),
  });
  return database!;
}

const QUIET = { onWaiting() {}, onMigration() {}, onOutage() {}, onSilence() {} };

function open(settings: PostgresSettings, given: Partial<PostgresOpenOptions> = {}): Promise<OpenedData> {
  const options = { clock: systemClock, random: systemRandom, version: 'test', isServer: true, events: QUIET };
  return openPostgres(settings, { ...options, ...given });
}

async function refusalOf(settings: PostgresSettings, given: Partial<PostgresOpenOptions> = {}): Promise<string> {
  try {
    await (await open(settings, given)).close();
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    const { message } = error as StartupError;
    for (const url of settings.address.urls) expect(message).not.toContain(new URL(url).password);
    return message;
  }
}

describe('the first start', () => {
  test('makes the schema and binds the key, with which every later start opens it', async () => {
    const settings = settingsOf((await databases.create()).url);
    const steps: number[][] = [];
    const first = await open(settings, { events: { ...QUIET, onMigration: (...step) => void steps.push(step) } });
    expect(steps).toEqual(POSTGRES_MIGRATIONS.map((_, index) => [index + 1, POSTGRES_MIGRATIONS.length]));
    expect([first.db.engine, first.db.schemaVersion]).toEqual(['postgres', POSTGRES_SCHEMA_VERSION]);
    expect(await first.db.isSchemaCurrent()).toBe(true);
    const second = await open(settings);
    expect(second.instanceKey.mark).toBe(first.instanceKey.mark);
    expect(second.leaseHolder).not.toBe(first.leaseHolder);
    const command = await open(settings, { isServer: false });
    await Promise.all([first, second, command].map((data) => data.close()));
  });

  test('of two instances at once makes one workspace, one console and one owner', async () => {
    const database = await databases.create();
    const { url } = database;
    const config = loadConfig({
      GATEHOUSE_DATABASE_URL: url,
      GATEHOUSE_INSTANCE_KEY: newKey(),
      GATEHOUSE_OWNER_EMAIL: 'ada@example.com',
      GATEHOUSE_PORT: '0',
      // Three starts at once take their time on a busy machine.
      GATEHOUSE_SLOW_STATEMENT_MS: '600000',
    });
    const lines: string[] = [];
    const log = createLog('warn', { write: (line: string) => void lines.push(line) });
    const start = () => startServer(config, { log, accessLog: accessLog(null) });
    const servers = await Promise.all([start(), start(), start()]);
    const ready = await Promise.all(servers.map(async ({ localUrl }) => (await fetch(`${localUrl}/readyz`)).status));
    expect(ready).toEqual([200, 200, 200]);
    const counts = `SELECT (SELECT count(*) FROM workspaces) AS workspaces, (SELECT count(*) FROM applications) AS applications,
      (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM workspace_members) AS owners,
      (SELECT count(*) FROM audit_records) AS records`;
    const one = 1n;
    expect(await rowsOf(database.client(), counts)).toEqual([
      { workspaces: one, applications: one, users: one, owners: one, records: 3n },
    ]);
    await Promise.all(servers.map((each) => each.stop()));
    expect(lines).toEqual([]);
  });

  test('of many at once with one key succeeds in each', async () => {
    const settings = settingsOf((await databases.create()).url);
    const refusals = await Promise.all(Array.from({ length: 12 }, () => refusalOf(settings)));
    expect(refusals.filter((message) => message !== '')).toEqual([]);
  });

  test('finds the primary among several servers, and keeps its connections', async () => {
    const database = await databases.create();
    const { url } = database;
    const data = await open(settingsOf(url.replace('@', '@127.0.0.1:1,')));
    for (const _ of [1, 2, 3]) {
      expect([await data.db.isSchemaCurrent(), data.db.status().outage]).toEqual([true, null]);
    }
    await data.close();
  });

  test('of two instances with different keys is that of one key only', async () => {
    const database = await databases.create();
    const { url } = database;
    const refusals = await Promise.all([refusalOf(settingsOf(url)), refusalOf(settingsOf(url))]);
    expect(refusals.filter((message) => message === '')).toHaveLength(1);
    expect(refusals.join('')).toStartWith('The instance key is not the one of this database.');
  });

  test('without a key is refused with the command that makes one, and changes nothing', async () => {
    const database = await databases.create();
    const { url } = database;
    expect(await refusalOf(settingsOf(url, null))).toContain('Run: openssl rand -base64 32 > instance.key;');
    expect(await tablesIn(database)).toEqual([]);
  });

  test('waits for a server that is away, and says so once', async () => {
    const database = await databases.create();
    const url = new URL(database.url);
    const { hostname, port } = url;
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const away = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(listener.port) }).href;
    listener.stop(true);
    const reasons: string[] = [];
    let forwarder: { stop(): void } | undefined;
    const data = await open(settingsOf(away), {
      events: {
        ...QUIET,
        onWaiting(reason) {
          reasons.push(reason);
          forwarder = forward(listener.port, { hostname, port: Number(port) });
        },
      },
    });
    expect(reasons).toEqual(['Failed to connect']);
    await data.close();
    forwarder?.stop();
  });
});

/** Forwards connections of a port to another server. */
function forward(port: number, to: { hostname: string; port: number }) {
  const listener = Bun.listen<{ write(bytes: Uint8Array): void; end(): void } | undefined>({
    hostname: '127.0.0.1',
    port,
    socket: {
      async open(near) {
        const early: Uint8Array[] = [];
        near.data = { write: (bytes) => void early.push(Buffer.from(bytes)), end() {} };
        const far = await Bun.connect({
          ...to,
          socket: { data: (_, bytes) => void near.write(bytes), close: () => void near.end() },
        });
        near.data = { write: (bytes) => void far.write(bytes), end: () => void far.end() };
        for (const bytes of early) far.write(bytes);
      },
      data: (near, bytes) => near.data?.write(bytes),
      close: (near) => near.data?.end(),
    },
  });
  return { stop: () => listener.stop(true) };
}

describe('a start is refused', () => {
  test('with another key, or none, for a database that has an instance', async () => {
    const database = await databases.create();
    const { url } = database;
    await (await open(settingsOf(url))).close();
    expect(await refusalOf(settingsOf(url))).toStartWith('The instance key is not the one of this database.');
    expect(await refusalOf(settingsOf(url, null))).toStartWith('This database has an instance key.');
    expect(await refusalOf(settingsOf(url), { isServer: false })).toStartWith('The instance key is not the one');
  });

  test('where no server answers in time, or only a standby', async () => {
    const database = await databases.create();
    const { url } = database;
    const nowhere = Object.assign(new URL(url), { port: '1' });
    expect(await refusalOf(settingsOf(nowhere.href), { waitMs: 0 })).toBe(
      `The database at ${nowhere.host}${nowhere.pathname} is away: Failed to connect. Start it, or correct GATEHOUSE_DATABASE_URL.`,
    );
    await rowsOf(
      database.client(),
      `ALTER DATABASE ${nowhere.pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    expect(await refusalOf(settingsOf(url), { waitMs: 0 })).toContain('the server is a standby, or takes no changes');
  });

  test('at once by a server that does not know the database or the user, or offers no TLS', async () => {
    const database = await databases.create();
    const { url } = database;
    const missing = Object.assign(new URL(url), { pathname: 'missing' }).href;
    expect(await refusalOf(settingsOf(missing))).toEndWith('createdb --encoding UTF8 --template template0 missing');
    const wrong = Object.assign(new URL(url), { password: 'wrong' }).href;
    expect(await refusalOf(settingsOf(wrong))).toStartWith('The database refuses the sign-in: ');
    expect(await refusalOf(settingsOf(`${url}?sslmode=require`))).toContain('offers no TLS.');
    const unread = `${url}?sslmode=verify-full&sslrootcert=${join(import.meta.dir, 'missing.pem')}`;
    expect(await refusalOf(settingsOf(unread))).toContain('missing.pem cannot be read (ENOENT).');
  });

  test('for a database in another encoding', async () => {
    const database = await databases.create("ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const { url } = database;
    expect(await refusalOf(settingsOf(url))).toStartWith("The database's encoding is SQL_ASCII.");
    expect(await tablesIn(database)).toEqual([]);
  });

  test('for tables of another program, which stay as they are', async () => {
    const database = await databases.create();
    const { url } = database;
    await rowsOf(database.client(), 'CREATE TABLE orders (id int)');
    expect(await refusalOf(settingsOf(url))).toBe(
      'The database has tables of something else (orders). Give Gatehouse one of its own.',
    );
    expect(await tablesIn(database)).toEqual([{ relname: 'orders' }]);
  });

  test('without the right to create tables, which two commands give', async () => {
    const database = await databases.create();
    const url = new URL(database.url);
    await databases.admin.unsafe(`CREATE ROLE ${GUEST} LOGIN PASSWORD '${url.password}'`);
    const guest = settingsOf(Object.assign(new URL(url), { username: GUEST }).href);
    const message = await refusalOf(guest);
    expect(message).toStartWith(`${GUEST} may not create tables. Run: CREATE SCHEMA `);
    await rowsOf(database.client('superuser'), message.slice(message.indexOf('CREATE')));
    expect(await refusalOf(guest)).toBe('');
    expect(await tablesIn(database)).toEqual([]);
  });

  test('on a schema that this binary cannot read, but not on one that a newer binary has expanded', async () => {
    const database = await databases.create();
    const { url } = database;
    const settings = settingsOf(url);
    await (await open(settings)).close();
    const newer = POSTGRES_SCHEMA_VERSION + 7;
    await rowsOf(
      database.client(),
      `INSERT INTO gatehouse_schema VALUES (${newer}, ${POSTGRES_SCHEMA_VERSION}, 'newer')`,
    );
    for (const isServer of [true, false]) expect(await refusalOf(settings, { isServer })).toBe('');
    await rowsOf(database.client(), `UPDATE gatehouse_schema SET readable_from = ${newer} WHERE version = ${newer}`);
    for (const isServer of [true, false])
      expect(await refusalOf(settings, { isServer })).toContain(
        `The database has schema ${newer}, this binary knows ${POSTGRES_SCHEMA_VERSION}.`,
      );
  });

  test('of a command on an empty database, which stays empty', async () => {
    const database = await databases.create();
    const { url } = database;
    expect(await refusalOf(settingsOf(url), { isServer: false })).toStartWith(
      'There is no Gatehouse in this database.',
    );
    expect(await tablesIn(database)).toEqual([]);
  });
});
