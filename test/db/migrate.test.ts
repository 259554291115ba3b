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
    expect(migrate(sqlite, ':memory:')).toEqual({ from: 0, copy: null });
    expect(schemaVersion(sqlite)).toBe(SCHEMA_VERSION);
    expect(schemaOf(sqlite).length).toBeGreaterThan(20);
  });

  test('changes nothing when run again', () => {
    const path = newPath();
    const sqlite = new SqliteDatabase(path, { create: true, strict: true });
    migrate(sqlite, path);
    sqlite.run("INSERT INTO workspaces VALUES ('wsp_1', 'W', 1)");
    const before = schemaOf(sqlite);
    expect(migrate(sqlite, path)).toEqual({ from: SCHEMA_VERSION, copy: null });
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
    refuseForeignDatabase(missing);
    expect(existsSync(missing)).toBe(false);
    const empty = newPath();
    writeFileSync(empty, '');
    refuseForeignDatabase(empty);
    const known = newPath();
    databaseAt(known, SCHEMA_VERSION);
    refuseForeignDatabase(known);
  });

  test('refuses a newer database by its header alone: not a byte, not a file beside it, is touched', () => {
    const path = newPath();
    databaseAt(path, SCHEMA_VERSION + 7);
    const before = readFileSync(path);
    const filesBefore = readdirSync(folder);
    expect(() => refuseForeignDatabase(path)).toThrow(StartupError);
    expect(() => refuseForeignDatabase(path)).toThrow(/Nothing was changed\.$/);
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
