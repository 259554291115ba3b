/** Migrations of PostgreSQL: all or nothing, once for any number of instances, and beside instances of other versions. */
import type { SQL } from 'bun';
import { afterEach, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { migratePostgres } from '@/db/postgres/migrate.ts';
import { POSTGRES_MIGRATIONS, type PostgresMigration } from '@/db/postgres/migrations.ts';
import { compatibility, POSTGRES_SCHEMA_VERSION } from '@/db/postgres/schema-version.ts';
import { type EmptyDatabases, emptyDatabases } from '../../support/empty-postgres.ts';
import { eventually } from '../../support/eventually.ts';

const binaryVersion = '1.2.3';
const present = POSTGRES_SCHEMA_VERSION;

let databases: EmptyDatabases;

beforeAll(async () => {
  databases = await emptyDatabases();
});

afterEach(() => databases.drop());

const relations = async (sql: SQL): Promise<string[]> =>
  (await sql.unsafe("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace")).map(
    ({ relname }: { relname: string }) => relname,
  );

const readableFrom = POSTGRES_MIGRATIONS.at(-1)?.readableFrom ?? 0;

/** A later release, with one more migration. */
const released = (sql: string, since = readableFrom): PostgresMigration[] => [
  ...POSTGRES_MIGRATIONS,
  { version: present + 1, sql, readableFrom: since },
];

const EXPANSION = released('ALTER TABLE users ADD COLUMN later bigint');
const CONTRACTION = released('ALTER TABLE users DROP COLUMN locale', present + 1);

test('instances that start at once on an empty database migrate it once', async () => {
  const { client } = await databases.create();
  const clients = [client(), client(), client(), client()];
  const steps: number[] = [];
  const begin = (step: number) => steps.push(step);
  const found = await Promise.all(clients.map((sql) => migratePostgres(sql, { binaryVersion, begin })));
  expect(found.toSorted((a, b) => a - b)).toEqual([0, ...Array<number>(3).fill(present)]);
  expect(steps).toEqual(POSTGRES_MIGRATIONS.map((_, at) => at + 1));
  const rows = await client().unsafe('SELECT version::int, binary_version FROM gatehouse_schema ORDER BY version');
  expect([...rows]).toEqual(POSTGRES_MIGRATIONS.map(({ version }) => ({ version, binary_version: binaryVersion })));
});

test('a migration that is killed leaves nothing, and the next start migrates', async () => {
  const { url, name, client } = await databases.create();
  const script = Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { migratePostgres } from ${JSON.stringify(join(import.meta.dir, '../../../src/db/postgres/migrate.ts'))};
       import { POSTGRES_MIGRATIONS as all } from ${JSON.stringify(join(import.meta.dir, '../../../src/db/postgres/migrations.ts'))};
       const migrations = [...all, { version: 99, sql: 'SELECT pg_sleep(300)', readableFrom: 99 }];
       await migratePostgres(new Bun.SQL(${JSON.stringify(url)}), { binaryVersion: '9', migrations });`,
    ],
    { stdout: 'ignore' },
  );
  await eventually('the migration is in its last step', async () => {
    const asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = $1";
    return (await databases.admin.unsafe(asleep, [name])).length > 0;
  });
  script.kill('SIGKILL');
  const sql = client();
  expect(await relations(sql)).toEqual([]);
  expect(await migratePostgres(sql, { binaryVersion })).toBe(0);
  expect(await compatibility(sql)).toEqual({ version: present, readableFrom, isReadable: true });
});

test('a step that fails undoes the steps before it', async () => {
  const { client } = await databases.create();
  const sql = client();
  const broken = released('ALTER TABLE users ADD COLUMN more bigint; SELECT 1 / 0');
  await expect(migratePostgres(sql, { binaryVersion, migrations: broken })).rejects.toThrow('division by zero');
  expect(await relations(sql)).toEqual([]);
});

test('a migration neither waits for a long read nor makes others wait for it', async () => {
  const { client } = await databases.create();
  const [migrator, reader, other] = [client(), client(), client()];
  await migratePostgres(migrator, { binaryVersion });
  const read = await reader.reserve();
  await read.unsafe('BEGIN; SELECT count(*) FROM users');
  const options = { binaryVersion, migrations: EXPANSION };
  const times = { turnMs: 1000, lockMs: 20, statementMs: 1000, attempts: 2, pauseMs: 1 };
  await expect(migratePostgres(migrator, { ...options, times })).rejects.toThrow(/keeps a table locked/);
  expect(await other.unsafe('SELECT id FROM users')).toHaveLength(0);
  const migrated = migratePostgres(migrator, { ...options, times: { ...times, attempts: 10_000 } });
  await read.unsafe('COMMIT');
  read.release();
  expect(await migrated).toBe(present);
});

test('an older instance keeps serving and starting beside an expanded schema', async () => {
  const { client } = await databases.create();
  const [older, newer] = [client(), client()];
  await migratePostgres(older, { binaryVersion });
  await migratePostgres(newer, { binaryVersion: '2.0.0', migrations: EXPANSION });
  expect(await compatibility(older)).toEqual({ version: present + 1, readableFrom, isReadable: true });
  expect(await migratePostgres(older, { binaryVersion })).toBe(present + 1);
  const newest = await newer.unsafe(
    'SELECT max(version)::int AS version, count(*)::int AS count FROM gatehouse_schema',
  );
  expect([...newest]).toEqual([{ version: present + 1, count: POSTGRES_MIGRATIONS.length + 1 }]);
});

test('an older instance stops serving and refuses to start once the schema is contracted', async () => {
  const { client } = await databases.create();
  const [older, newer] = [client(), client()];
  await migratePostgres(older, { binaryVersion });
  await migratePostgres(newer, { binaryVersion: '2.0.0', migrations: CONTRACTION });
  expect((await compatibility(older)).isReadable).toBe(false);
  expect((await compatibility(newer, present + 1)).isReadable).toBe(true);
  await expect(migratePostgres(older, { binaryVersion })).rejects.toThrow(
    `The database has schema ${present + 1}, this binary knows ${present}.`,
  );
});

test('a binary does not run on a schema older than its own, such as a backup restored under it', async () => {
  const { client } = await databases.create();
  const sql = client();
  expect((await compatibility(sql)).isReadable).toBe(false);
  await migratePostgres(sql, { binaryVersion });
  expect((await compatibility(sql, present + 1)).isReadable).toBe(false);
});

test('a database of something else, without rights or in another encoding is refused with the remedy, and not changed', async () => {
  const { client } = await databases.create();
  await client().unsafe('CREATE TABLE users (id bigint)');
  await expect(migratePostgres(client(), { binaryVersion })).rejects.toThrow(/a database of its own/);
  expect(await relations(client())).toEqual(['users']);

  const latin = await databases.create("ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
  await expect(migratePostgres(latin.client(), { binaryVersion })).rejects.toThrow('createdb --encoding UTF8');
  expect(await relations(latin.client())).toEqual([]);

  const foreign = await databases.create();
  await databases.admin.unsafe(`ALTER DATABASE ${foreign.name} OWNER TO postgres`);
  await expect(migratePostgres(foreign.client(), { binaryVersion })).rejects.toThrow(/may not create tables/);
});

test('texts sort and fold as in SQLite in a database of any locale', async () => {
  const { client } = await databases.create("LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' TEMPLATE template0");
  const sql = client();
  await migratePostgres(sql, { binaryVersion });
  for (const name of ['b', 'B', 'a', 'É', 'é', '_', 'I', 'İ'])
    await sql.unsafe('INSERT INTO workspaces (id, name, created_at) VALUES ($1, $1, 0)', [name]);
  const rows: string[][] = await sql.unsafe('SELECT name, lower(name) FROM workspaces ORDER BY name').values();
  expect([...rows]).toEqual([
    ['B', 'b'],
    ['I', 'i'],
    ['_', '_'],
    ['a', 'a'],
    ['b', 'b'],
    ['É', 'É'],
    ['é', 'é'],
    ['İ', 'İ'],
  ]);
});
