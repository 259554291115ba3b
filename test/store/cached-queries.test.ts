/** Each cached query declares every table that SQLite reads for it: a change to another one would leave a stale entry. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTION, type Reader } from '@/db/database.ts';
import type { SqliteConnection } from '@/db/sqlite/connection.ts';
import { sqliteLookups } from '@/db/sqlite/lookups.ts';
import type { CachedQuery } from '@/db/lookup-queries.ts';
import { findKeyCredential, findKeySubject, findSessionSubject } from '@/store/verification.ts';
import { openTestDatabase } from '../support/database.ts';

test('the queries of a verification declare exactly the tables that SQLite opens for them', async () => {
  const { db, sqlite } = await openTestDatabase({ now: () => 1 });
  const queries = new Set<CachedQuery<never>>();
  const connection = db.reader[CONNECTION] as SqliteConnection;
  const cache = {
    entriesOf(query: CachedQuery<never>) {
      for (const each of [query, ...(query.dependents ?? []).map((dependent) => dependent.query)]) queries.add(each);
      return { get: () => undefined, row: () => undefined, made() {}, set() {} };
    },
    invalidate() {},
    invalidateAll() {},
    invalidateIfChangedElsewhere() {},
  };
  const lookups = sqliteLookups(() => ({ ...connection.forLookups, cache }));
  const reader: Reader = { [CONNECTION]: { ...connection, lookups } };
  const hash = new Uint8Array(32);
  await findSessionSubject(reader, hash, () => ({}));
  await findKeySubject(reader, hash, () => ({}));
  await findKeyCredential(reader, hash, () => ({}));

  const roots = sqlite.query<{ rootpage: number; tbl_name: string }, []>(
    'SELECT rootpage, tbl_name FROM sqlite_schema',
  );
  const tableAt = new Map(roots.all().map(({ rootpage, tbl_name }) => [rootpage, tbl_name]));
  /** https://www.sqlite.org/opcode.html#OpenRead */
  const opened = (sql: string) =>
    sqlite
      .query<{ opcode: string; p2: number }, []>(`EXPLAIN ${sql}`)
      .all()
      .flatMap(({ opcode, p2 }) => (opcode === 'OpenRead' ? [tableAt.get(p2)!] : []));
  const declared = [...queries].map(({ rowTables, listTables = [] }) => [...rowTables, ...listTables].sort());
  expect(declared).toEqual([...queries].map(({ sql }) => [...new Set(opened(sql))].sort()));
  expect(queries.size).toBe(7);
  await db.close();
});

const STORE = join(import.meta.dir, '../../src/store');
const TABLES =
  'users|sessions|api_keys|applications|application_user_?\\w*|workspace_members|roles|scopes|membership_groups';
/** A builder that names no rows, and one statement of `change` without a scope. */
const UNNAMED = [
  /\borm\(unit\)\s*\.(?:update|delete)\((?:users|sessions|apiKeys|applications|applicationUser\w*|workspaceMembers|table|holders)\)/g,
  new RegExp(
    `\\b(?:change|pipelinedChange)(?:\\.\\w+)?<[^>]*>\\(\\s*[\`'](?:UPDATE|DELETE FROM) (?:${TABLES})\\b[^\`']*[\`'],?\\s*\\)`,
    'g',
  ),
];

test('each change of a table that a verification reads names its rows, so that no other answer is read again', async () => {
  const found: string[] = [];
  for await (const name of new Bun.Glob('*.ts').scan(STORE)) {
    const source = readFileSync(join(STORE, name), 'utf8');
    for (const pattern of UNNAMED) for (const [text] of source.matchAll(pattern)) found.push(`${name}: ${text}`);
  }
  expect(found).toEqual([]);
});
