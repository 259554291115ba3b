import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@/core/startup-error.ts';
import { migrate, refuseForeignDatabase, SCHEMA_VERSION, schemaVersion } from '@/db/migrate.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-migrate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.db`);

/** By its tables, one of Gatehouse's. */
function gatehouseAt(path: string, version: number): void {
  const sqlite = new SqliteDatabase(path, { create: true, strict: true });
  for (const table of ['workspaces', 'applications', 'application_users', 'sessions'])
    sqlite.run(`CREATE TABLE ${table} (id TEXT) STRICT`);
  sqlite.run(`PRAGMA user_version = ${version}`);
  sqlite.close();
}

function databaseAt(path: string, version: number): void {
  const sqlite = new SqliteDatabase(path, { create: true, strict: true });
  sqlite.run('CREATE TABLE kept (text TEXT) STRICT');
  sqlite.run("INSERT INTO kept VALUES ('kept')");
  sqlite.run(`PRAGMA user_version = ${version}`);
  sqlite.close();
}

const schemaOf = (sqlite: SqliteDatabase) =>
  sqlite.query('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();

describe('migrate', () => {
  test('brings an empty database to the newest schema without making a copy', () => {
    const sqlite = new SqliteDatabase(':memory:', { strict: true });
    expect(migrate(sqlite, ':memory:')).toBe(0);
    expect(schemaVersion(sqlite)).toBe(SCHEMA_VERSION);
    expect(schemaOf(sqlite).length).toBeGreaterThan(20);
  });

  test('changes nothing when run again', () => {
    const path = newPath();
    const sqlite = new SqliteDatabase(path, { create: true, strict: true });
    migrate(sqlite, path);
    sqlite.run("INSERT INTO workspaces (id, name, created_at) VALUES ('wsp_1', 'W', 1)");
    const before = schemaOf(sqlite);
    expect(migrate(sqlite, path)).toBe(SCHEMA_VERSION);
    expect(schemaOf(sqlite)).toEqual(before);
    expect(sqlite.query('SELECT id FROM workspaces').all()).toEqual([{ id: 'wsp_1' }]);
    expect(readdirSync(folder).filter((name) => name.includes('.schema-'))).toEqual([]);
    sqlite.close();
  });

  test('refuses a newer database and leaves it as it is', () => {
    const path = newPath();
    databaseAt(path, SCHEMA_VERSION + 1);
    const before = readFileSync(path);
    const sqlite = new SqliteDatabase(path, { readwrite: true, strict: true });
    expect(() => migrate(sqlite, path)).toThrow(StartupError);
    expect(() => migrate(sqlite, path)).toThrow(`schema ${SCHEMA_VERSION + 1}, this binary knows ${SCHEMA_VERSION}`);
    sqlite.close();
    expect(readFileSync(path)).toEqual(before);
  });

  test('leaves nothing behind when a migration fails', () => {
    const sqlite = new SqliteDatabase(':memory:', { strict: true });
    sqlite.run('CREATE TABLE mails (id TEXT) STRICT');
    expect(() => migrate(sqlite, ':memory:')).toThrow('mails already exists');
    expect(schemaOf(sqlite).map((entry) => (entry as { name: string }).name)).toEqual(['mails']);
    expect(schemaVersion(sqlite)).toBe(0);
  });
});

describe('refuseForeignDatabase', () => {
  test('lets a missing, an empty and a known database pass, and makes none', () => {
    const missing = newPath();
    expect(refuseForeignDatabase(missing)).toBe(false);
    expect(existsSync(missing)).toBe(false);
    const empty = newPath();
    writeFileSync(empty, '');
    expect(refuseForeignDatabase(empty)).toBe(false);
    const known = newPath();
    gatehouseAt(known, SCHEMA_VERSION);
    expect(refuseForeignDatabase(known)).toBe(true);
  });

  test('refuses a newer database not a byte, not a file beside it, is touched', () => {
    const path = newPath();
    gatehouseAt(path, SCHEMA_VERSION + 7);
    const before = readFileSync(path);
    const filesBefore = readdirSync(folder);
    expect(() => refuseForeignDatabase(path)).toThrow(StartupError);
    expect(() => refuseForeignDatabase(path)).toThrow(/Nothing was changed\.$/);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(filesBefore);
  });

  test.each([0, 1, 7, 4000])('refuses another product’s database of version %d untouched', (version) => {
    const path = newPath();
    databaseAt(path, version);
    const before = readFileSync(path);
    const filesBefore = readdirSync(folder);
    expect(() => refuseForeignDatabase(path)).toThrow(
      /is the database of something else than Gatehouse; point --data at/,
    );
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(filesBefore);
  });

  test.each([
    ['short', 'SQLite'],
    ['of another kind', '%PDF-1.7'.padEnd(4096, ' ')],
  ])('refuses a file that is %s and says what to do', (_, content) => {
    const path = newPath();
    writeFileSync(path, content);
    expect(() => refuseForeignDatabase(path)).toThrow(/is not a SQLite database; point --data at/);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});

test('identities at providers from before are the instance’s, and nobody’s where an application has had a client', async () => {
  const path = newPath();
  const sqlite = new SqliteDatabase(path, { create: true, strict: true });
  const before = ['0001_foundation', '0002_management', '0003_webhooks', '0004_sign_in_methods', '0005_account'];
  for (const name of [...before, '0006_long_work'])
    sqlite.run(await Bun.file(join(import.meta.dir, `../../migrations/${name}.sql`)).text());
  sqlite.run(`PRAGMA user_version = ${before.length + 1}`);
  const identity = (id: string, issuer: string, workspaceId: string | null) =>
    sqlite.run('INSERT INTO provider_identities VALUES (?, ?, ?, ?, ?, NULL, 1, 1)', [
      id,
      id,
      workspaceId,
      issuer,
      's',
    ]);
  identity('operator', 'https://id.example.com', null);
  identity('linked', 'https://id.example.com', 'wsp_1');
  identity('own', 'https://shop.example.com', 'wsp_1');
  identity('tried', 'https://tried.example.com', null);
  sqlite.run("INSERT INTO provider_clients VALUES ('app_1', 'https://shop.example.com', 'shop', 'x', NULL, 1, 1)");
  sqlite.run(
    `INSERT INTO audit_records (id, kind, ok, actor_type, detail, created_at)
     VALUES ('aud_1', 'provider.configured', 1, 'system', '{"issuer":"https://tried.example.com","clientId":"c"}', 1),
       ('aud_2', 'signin.succeeded', 1, 'system', NULL, 1)`,
  );
  migrate(sqlite, path);
  const clientOf = new Map(
    (sqlite.query('SELECT id, client_id FROM provider_identities').values() as [string, string | null][]).values(),
  );
  expect(Object.fromEntries(clientOf)).toEqual({ operator: '', linked: '', own: null, tried: null });
  // The same subject under two clients of one issuer is two identities; under one, it is one in each place.
  const insert = (id: string, clientId: string) =>
    sqlite.run(
      `INSERT INTO provider_identities (id, user_id, issuer, client_id, subject, created_at, last_used_at)
       VALUES (?, ?, 'https://id.example.com', ?, 's', 1, 1)`,
      [id, id, clientId],
    );
  insert('first', 'a');
  insert('second', 'b');
  expect(() => insert('third', 'b')).toThrow(/UNIQUE/);
  sqlite.close();
});
