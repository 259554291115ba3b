import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@/core/startup-error.ts';
import { migrationNames, migrationText } from '../../fixtures/schemas.ts';
import { findInstance } from '@/db/sqlite/find-instance.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from '@/db/sqlite/migrate.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-migrate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newPath = () => join(folder, `${(files += 1)}.db`);

/** A database with Gatehouse's tables. */
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
  test('brings an empty database to the newest schema without a copy', () => {
    const sqlite = new SqliteDatabase(':memory:', { strict: true });
    expect(migrate(sqlite, ':memory:')).toBe(0);
    expect(schemaVersion(sqlite)).toBe(SCHEMA_VERSION);
    expect(schemaOf(sqlite).length).toBeGreaterThan(20);
  });

  test('changes nothing if it is run again', () => {
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

  test('refuses a newer database and leaves it unchanged', () => {
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

describe('findInstance', () => {
  test('accepts a missing, an empty and a known database, and creates none', () => {
    const missing = newPath();
    expect(findInstance(missing)).toBeNull();
    expect(existsSync(missing)).toBe(false);
    const empty = newPath();
    writeFileSync(empty, '');
    expect(findInstance(empty)).toBeNull();
    const known = newPath();
    gatehouseAt(known, SCHEMA_VERSION);
    expect(findInstance(known)).toMatchObject({ schema: SCHEMA_VERSION });
  });

  test('refuses a newer database without touching it or its folder', () => {
    const path = newPath();
    gatehouseAt(path, SCHEMA_VERSION + 7);
    const before = readFileSync(path);
    const filesBefore = readdirSync(folder);
    expect(() => findInstance(path)).toThrow(StartupError);
    expect(() => findInstance(path)).toThrow(/Nothing was changed\.$/);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(filesBefore);
  });

  test.each([0, 1, 7, 4000])('refuses another product’s database of version %d untouched', (version) => {
    const path = newPath();
    databaseAt(path, version);
    const before = readFileSync(path);
    const filesBefore = readdirSync(folder);
    expect(() => findInstance(path)).toThrow(/is the database of something else than Gatehouse; point --data at/);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(filesBefore);
  });

  test.each([
    ['short', 'SQLite'],
    ['of another kind', '%PDF-1.7'.padEnd(4096, ' ')],
  ])('refuses a file that is %s with advice', (_, content) => {
    const path = newPath();
    writeFileSync(path, content);
    expect(() => findInstance(path)).toThrow(/is not a SQLite database; point --data at/);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});

test('older provider identities get the instance’s client, or none if an application has had its own', async () => {
  const path = newPath();
  const sqlite = new SqliteDatabase(path, { create: true, strict: true });
  const before = ['0001_foundation', '0002_management', '0003_webhooks', '0004_sign_in_methods', '0005_account'];
  for (const name of [...before, '0006_long_work'])
    sqlite.run(await Bun.file(join(import.meta.dir, `../../../migrations/${name}.sql`)).text());
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
  // The same subject under two clients of one issuer is two identities; under one client it is unique in each
  // workspace.
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

test('unproved accounts made by a workspace’s provider keep their profile in that workspace only', async () => {
  const path = newPath();
  const sqlite = new SqliteDatabase(path, { create: true, strict: true });
  sqlite.run('PRAGMA foreign_keys = ON');
  const names = migrationNames().slice(0, 11);
  for (const name of names) sqlite.run(migrationText(name));
  sqlite.run(`PRAGMA user_version = ${names.length}`);
  const insert = (table: string, row: Record<string, string | number | null>) =>
    sqlite
      .prepare(
        `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join()})`,
      )
      .run(...Object.values(row));
  const times = { created_at: 1, updated_at: 1 };
  insert('workspaces', { id: 'wsp_1', name: 'W', created_at: 1 });
  for (const [id, workspace_id] of [
    ['app_console', null],
    ['app_1', 'wsp_1'],
  ] as const)
    insert('applications', {
      ...{ id, workspace_id, client_id: id, slug: id, name: id, stage: 'live', signin_gate: 'public' },
      ...{ beta_request_policy: 'manual', session_ttl_seconds: 300, return_urls: '[]', ...times },
    });
  const person = (name: string, email_verified_at: number | null, applicationIds: readonly string[]) => {
    const id = `usr_0123456789abcdefghij${name}`;
    insert('users', { id, kind: 'person', email: `${name}@x.test`, full_name: name, email_verified_at, ...times });
    insert('user_languages', { user_id: id, code: 'nb', level: 'NATIVE' });
    insert('provider_identities', {
      ...{ id: `idp_${name}`, user_id: id, workspace_id: 'wsp_1', issuer: 'https://i', client_id: 'c', subject: name },
      ...{ created_at: 1, last_used_at: 1 },
    });
    for (const application_id of applicationIds)
      insert('application_users', {
        ...{ id: `apu_${name}_${application_id}`, application_id, user_id: id, status: 'active', last_seen_at: 5 },
        ...{ roles_updated_at: 1, scopes_updated_at: 1, memberships_updated_at: 1, ...times },
      });
    return id;
  };
  const claimed = person('claim1', null, ['app_1']);
  person('proved', 7, ['app_1']);
  person('owner1', null, ['app_1', 'app_console']);
  // The identity was removed, and a passkey is left.
  const disconnected = person('claim2', null, ['app_1']);
  sqlite.run('DELETE FROM provider_identities WHERE user_id = ?', [disconnected]);
  sqlite.run(
    `INSERT INTO passkeys (id, user_id, workspace_id, credential_id, public_key, counter, transports, aaguid, is_backed_up, name, created_at)
     VALUES ('psk_1', ?, 'wsp_1', x'01', x'01', 0, '[]', '', 0, 'n', 1)`,
    [disconnected],
  );
  migrate(sqlite, path);
  const shown = sqlite
    .query(
      `SELECT m.id, m.user_id, m.reserved_email, p.id = m.user_id AS is_own, p.full_name, l.code
       FROM application_users m JOIN users p ON p.id = coalesce(m.profile_user_id, m.user_id)
         LEFT JOIN user_languages l ON l.user_id = p.id ORDER BY m.id`,
    )
    .all();
  expect(shown).toMatchObject([
    { user_id: claimed, reserved_email: 'claim1@x.test', is_own: 0, full_name: 'claim1', code: 'nb' },
    { user_id: disconnected, reserved_email: 'claim2@x.test', is_own: 0, full_name: 'claim2', code: 'nb' },
    { reserved_email: null, is_own: 1, full_name: 'owner1', code: 'nb' },
    { reserved_email: null, is_own: 1, full_name: 'owner1', code: 'nb' },
    { reserved_email: null, is_own: 1, full_name: 'proved', code: 'nb' },
  ]);
  const [profile] = sqlite.query('SELECT id, email FROM users WHERE email LIKE ?').all(`${claimed}.%@unproved.invalid`);
  expect(profile).toEqual({
    id: expect.stringMatching(/^usr_[0-7][0-9a-z]{25}$/),
    email: `${claimed}.wsp_1@unproved.invalid`,
  });
  expect(sqlite.query('SELECT full_name FROM users WHERE id = ?').get(claimed)).toEqual({ full_name: null });
  sqlite.close();
});
