/** Cached rows are never older than what is committed. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { systemClock } from '@/core/clock.ts';
import type { Database, Reader, Unit } from '@/db/database.ts';
import { openEngine } from '@/db/sqlite/engine.ts';
import { openWriter } from '@/db/sqlite/pragmas.ts';
import { queryCache, tablesChangedBy } from '@/db/query-cache.ts';
import { type CachedQuery, cachedRow } from '@/db/lookups.ts';
import { change, note } from '@/db/statements.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-query-cache-'));
const opened: Database[] = [];
afterAll(async () => {
  for (const db of opened) await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const hash = new Uint8Array([1, 2, 3]);
interface Row {
  readonly id: string;
  readonly person: string;
  readonly name: string;
  readonly seen: number;
}
const lookup = cachedRow<Row>({
  sql: `SELECT k.id, p.id AS person, p.name, k.seen, (SELECT count(*) FROM badges b WHERE b.person = p.id) AS badges
        FROM keys k JOIN people p ON p.id = k.person WHERE k.hash = :hash`,
  rowIds: ({ id, person }) => [id, person],
  rowTables: ['people', 'keys'],
  listTables: ['badges'],
});
const CLUB: CachedQuery<{ name: string }> = {
  sql: 'SELECT c.name FROM clubs c WHERE c.id = :id',
  rowIds: () => [],
  rowTables: ['clubs'],
};
const lookupWithClub = cachedRow<{ id: string }>({
  sql: 'SELECT k.id FROM keys k WHERE k.hash = :hash',
  rowIds: ({ id }) => [id],
  rowTables: ['keys'],
  dependents: [{ query: CLUB, ids: 'id' }],
});
const findClub = (reader: Reader) =>
  lookupWithClub(reader, hash, ({ id }, look) => ({ club: look(CLUB, id, ({ name }) => name) }));
const renameClubs = change<string>('UPDATE clubs SET name = :name');
const closeClubs = change('DELETE FROM clubs');
const openClub = change<string>("INSERT INTO clubs (id, name) VALUES (:id, 'Blue')");
const asItIs = (row: Row) => row;
const find = (reader: Reader, of = hash) => lookup(reader, of, asItIs);
/** Asks twice: a key is cached from its second request on. */
async function cached(db: Database): Promise<Row | undefined> {
  await find(db.reader);
  return find(db.reader);
}

const renameAll = change<string>('UPDATE people SET name = :name');
const renameOne = change<{ id: string; name: string }>('UPDATE people SET name = :name WHERE id = :id', {
  rowId: 'id',
});
const addOther = change<string>('INSERT INTO others (name) SELECT name FROM people WHERE id <> :id');
const addPerson = change<string>("INSERT INTO people (id, name) VALUES (:id, 'New')");
const addBadge = change<string>('INSERT INTO badges (person) VALUES (:person)');
const addBadgeOf = change<string>('INSERT INTO badges (person) VALUES (:person)  ', { rowId: 'person' });
const drop = change('DELETE FROM keys');
const noteSeen = note<number>('UPDATE keys SET seen = :seen');

describe.each([
  ['a server’s database', true],
  ['a database without threads', false],
])('a cached result in %s', (_, isServer) => {
  let db: Database;
  let path: string;
  let count = 0;

  beforeEach(async () => {
    path = join(folder, `${isServer}-${(count += 1)}.db`);
    const sqlite = openWriter(path, { isDurable: false });
    sqlite.run('CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT)');
    sqlite.run('CREATE TABLE keys (id TEXT PRIMARY KEY, hash BLOB UNIQUE, person TEXT, seen INTEGER)');
    sqlite.run('CREATE TABLE badges (person TEXT)');
    sqlite.run('CREATE TABLE others (name TEXT)');
    sqlite.run('CREATE TABLE clubs (id TEXT PRIMARY KEY, name TEXT)');
    sqlite.run("INSERT INTO clubs VALUES ('k1', 'Red')");
    sqlite.run("INSERT INTO people VALUES ('p1', 'Ada'), ('p2', 'Bob')");
    sqlite.run("INSERT INTO keys VALUES ('k1', x'010203', 'p1', 0)");
    db = await openEngine(sqlite, path, { clock: systemClock, isDurable: false, isServer });
    opened.push(db);
  });

  const write = (work: (unit: Unit) => Promise<unknown>) => db.write(SYSTEM_ACTOR, work);

  test('is the same object until its sources change', async () => {
    const first = await cached(db);
    expect(first).toMatchObject({ name: 'Ada', seen: 0 });
    await write((unit) => addOther(unit, 'p9'));
    await write((unit) => addPerson(unit, 'p3'));
    await write((unit) => renameOne(unit, { id: 'p2', name: 'Bert' }));
    await write((unit) => addBadgeOf(unit, 'p2'));
    expect(await find(db.reader)).toBe(first!);
  });

  test('is read again once its own row has changed', async () => {
    await cached(db);
    await write((unit) => renameOne(unit, { id: 'p1', name: 'Grace' }));
    expect(await find(db.reader)).toMatchObject({ name: 'Grace', badges: 0 });
    await write((unit) => addBadgeOf(unit, 'p1'));
    expect(await find(db.reader)).toMatchObject({ name: 'Grace', badges: 1 });
    const again = await find(db.reader);
    expect(await find(db.reader)).toBe(again!);
  });

  test('is read again once any of its tables has changed, including new rows it counts', async () => {
    await cached(db);
    await write((unit) => renameAll(unit, 'Grace'));
    expect(await find(db.reader)).toMatchObject({ name: 'Grace' });
    await write((unit) => addBadge(unit, 'p1'));
    expect(await find(db.reader)).toMatchObject({ badges: 1 });
    await write((unit) => drop(unit));
    expect(await find(db.reader)).toBeUndefined();
  });

  test('is read again once a row of a dependent lookup has changed', async () => {
    for (let time = 0; time < 3; time += 1) expect(await findClub(db.reader)).toEqual({ club: 'Red' });
    const first = await findClub(db.reader);
    await write((unit) => openClub(unit, 'k9'));
    expect(await findClub(db.reader)).toBe(first!);
    await write((unit) => renameClubs(unit, 'Green'));
    for (let time = 0; time < 3; time += 1) expect(await findClub(db.reader)).toEqual({ club: 'Green' });
    const inside = await write(async (unit) => {
      await renameClubs(unit, 'Black');
      return findClub(unit);
    });
    expect(inside).toEqual({ club: 'Black' });
    await write((unit) => closeClubs(unit));
    expect(await findClub(db.reader)).toEqual({ club: undefined });
  });

  test('is bypassed inside a change, which sees its own rows', async () => {
    await cached(db);
    const inside = await write(async (unit) => {
      await renameOne(unit, { id: 'p1', name: 'Grace' });
      return find(unit);
    });
    expect(inside).toMatchObject({ name: 'Grace' });
  });

  test('ignores a change in progress, and shows all of it from its commit on', async () => {
    const meanwhile: (Row | undefined)[] = [];
    await write(async (unit) => {
      await renameAll(unit, 'Grace');
      for (let time = 0; time < 3; time += 1) meanwhile.push(await find(db.reader));
    });
    expect(meanwhile.map((row) => row?.name)).toEqual(['Ada', 'Ada', 'Ada']);
    expect(await find(db.reader)).toMatchObject({ name: 'Grace' });
  });

  test('never comes from a rolled-back change', async () => {
    const failed = write(async (unit) => {
      await renameAll(unit, 'Grace');
      await find(unit);
      throw new Error('on purpose');
    });
    expect(failed).rejects.toThrow('on purpose');
    await failed.catch(() => {});
    expect(await cached(db)).toMatchObject({ name: 'Ada' });
  });

  test('survives a last-seen note', async () => {
    const first = await cached(db);
    await write((unit) => noteSeen(unit, 5));
    expect(await find(db.reader)).toBe(first!);
  });

  test('is read again after another process has changed anything', async () => {
    await cached(db);
    const other = new SqliteDatabase(path);
    other.run("UPDATE people SET name = 'Grace'");
    other.close();
    // The read snapshot ends with any change of this process, and by itself after a few milliseconds.
    await write((unit) => addOther(unit, 'x'));
    expect(await find(db.reader)).toMatchObject({ name: 'Grace' });
  });

  test('stays correct after more ids have changed than are tracked individually', async () => {
    const first = await cached(db);
    await write(async (unit) => {
      for (let index = 0; index < 10_001; index += 1) await renameOne(unit, { id: `nobody ${index}`, name: 'x' });
    });
    const second = await cached(db);
    expect(second).toEqual(first!);
    await write((unit) => renameOne(unit, { id: 'p1', name: 'Grace' }));
    expect(await find(db.reader)).toMatchObject({ name: 'Grace' });
  });
});

describe('after very many changed ids', () => {
  const query = { sql: 'SELECT 1', rowIds: ({ id }: { id: string }) => [id], rowTables: [] };
  const setUp = () => {
    const cache = queryCache(() => 1);
    const entries = cache.entriesOf(query as CachedQuery<never>);
    const add = (id: string) => [0, 1].forEach(() => entries.set(`key of ${id}`, { id }, { id }));
    const changeOthers = (count: number) =>
      cache.invalidate({ tables: new Set(), ids: new Set(Array.from({ length: count }, (_, at) => `${at}`)) });
    const isCached = (id: string) => entries.get(`key of ${id}`) !== undefined;
    return { cache, add, changeOthers, isCached };
  };

  test('a row that changed before them is not answered from the cache', () => {
    const { cache, add, changeOthers, isCached } = setUp();
    for (let times = 0; times < 6; times += 1) {
      add('changed');
      expect(isCached('changed')).toBe(true);
      cache.invalidate({ tables: new Set(), ids: new Set(['changed']) });
      for (let part = 0; part < times; part += 1) changeOthers(6000);
      expect(isCached('changed')).toBe(false);
    }
  });

  test('a row that is in use is still cached', () => {
    const { add, changeOthers, isCached } = setUp();
    add('used');
    for (let part = 0; part < 10; part += 1) {
      changeOthers(6000);
      expect(isCached('used')).toBe(true);
    }
  });
});

describe('a row whose result is not kept', () => {
  const query = { sql: 'SELECT 1', rowIds: ({ id }: { id: string }) => [id], rowTables: ['people'], noted: 'seen' };
  /** Nine rows, of which three have their results kept. */
  const setUp = () => {
    const cache = queryCache(() => 1, { maxEntries: 9 });
    const entries = cache.entriesOf(query as unknown as CachedQuery<never>);
    const names = Array.from({ length: 9 }, (_, index) => `p${index}`);
    for (const id of [...names, ...names]) {
      const row = { id, name: `Name of ${id}`, seen: 1 };
      if (entries.get(id) === undefined && entries.row(id) === undefined) entries.set(id, row, { ...row });
    }
    return { cache, entries, kept: names.slice(0, 3), packed: names.slice(3) };
  };

  test('is still answered without the database', () => {
    const { entries, kept, packed } = setUp();
    for (const id of kept) expect([entries.get(id), entries.row(id)]).toEqual([expect.anything(), undefined]);
    for (const id of packed)
      expect([entries.get(id), entries.row(id)]).toEqual([undefined, { id, name: `Name of ${id}`, seen: 1 }]);
  });

  test('is read again once it, or any row of its table, has changed', () => {
    const { cache, entries, packed } = setUp();
    cache.invalidate({ tables: new Set(), ids: new Set(['p4']) });
    expect(packed.filter((id) => entries.row(id) === undefined)).toEqual(['p4']);
    entries.set('p4', { id: 'p4', name: 'Grace', seen: 2 }, { seen: 2 });
    expect(entries.row('p4')).toEqual({ id: 'p4', name: 'Grace', seen: 2 });
    cache.invalidate({ tables: new Set(['people']), ids: new Set() });
    expect(packed.filter((id) => entries.row(id) !== undefined)).toEqual([]);
  });

  test('stays one of those when everything is read again, and the others keep theirs', () => {
    const { cache, entries, kept, packed } = setUp();
    cache.invalidateAll();
    const all = [...packed, ...kept];
    expect(all.filter((id) => entries.get(id) ?? entries.row(id))).toEqual([]);
    for (const id of all) entries.set(id, { id, name: 'Grace', seen: 1 }, { id, seen: 1 });
    expect(all.filter((id) => entries.get(id) !== undefined)).toEqual(kept);
  });

  test('has what results that were made of it have noted, also once another takes the place of its result', () => {
    const { entries, kept, packed } = setUp();
    const made = { ...entries.row('p5'), seen: 1 };
    entries.made('p5', entries.row('p5')!, made);
    made.seen = 7;
    expect(entries.row('p5')).toMatchObject({ seen: 7 });

    for (const id of kept) (entries.get(id) as { seen: number }).seen = 8;
    const others = packed.filter((id) => id !== 'p5');
    // One result in 17 takes the place of another.
    for (let turn = 0; turn < 400; turn += 1)
      for (const id of others) {
        const row = entries.row(id);
        if (row !== undefined) entries.made(id, row, { ...row });
      }
    const displaced = kept.filter((id) => entries.get(id) === undefined);
    expect(displaced).not.toEqual([]);
    for (const id of displaced) expect(entries.row(id)).toMatchObject({ seen: 8 });
  });
});

/** Returns a function that asks for the result of a key, and says whether it was cached. */
function asking(options = {}): (index: number) => boolean {
  const answers = queryCache(() => 1, options).entriesOf({ sql: 'SELECT 1', rowIds: () => [], rowTables: [] });
  return (index) => {
    const key = Bun.SHA256.hash(String(index)) as Uint8Array;
    if (answers.get(key) !== undefined) return true;
    const row = answers.row(key);
    if (row === undefined) answers.set(key, { index }, {});
    else answers.made(key, row, {});
    return row !== undefined;
  };
}

/** Asks for each key in turn, again and again. @returns the share that was cached in the last turn. */
function shareCached(ask: (index: number) => boolean, keys: readonly number[], turns: number): number {
  let found = 0;
  for (let turn = 0; turn < turns; turn += 1) found = keys.filter(ask).length;
  return found / keys.length;
}

test('keys in turn that outnumber the entries are answered from nearly all entries', () => {
  const keys = Array.from({ length: 3000 }, (_, index) => index);
  expect(shareCached(asking({ maxEntries: 1000 }), keys, 20)).toBeGreaterThan(0.25);
});

test('keys in use evict those no longer used', () => {
  const ask = asking({ maxEntries: 1000 });
  const keysFrom = (first: number) => Array.from({ length: 900 }, (_, index) => first + index);
  expect(shareCached(ask, keysFrom(0), 3)).toBe(1);
  expect(shareCached(ask, keysFrom(10_000), 60)).toBeGreaterThan(0.9);
});

test('repeated lookups stay cached during a flood of single ones', () => {
  const ask = asking();
  const regulars = Array.from({ length: 15_000 }, (_, index) => index);
  for (let round = 0; round < 3; round += 1) regulars.forEach(ask);
  for (let turn = 0; turn < 200_000; turn += 1) {
    ask(1_000_000 + turn);
    ask(turn % regulars.length);
  }
  expect(regulars.filter((index) => !ask(index)).length).toBeLessThan(1500);
});

test.each([
  ['insert into "users" ("id") values (?) returning "id"', ['+users']],
  ['INSERT OR IGNORE INTO grants (a) SELECT id FROM roles r JOIN scopes s ON 1', ['+grants']],
  ['UPDATE sessions SET updated_at = ? WHERE id IN (SELECT id FROM members)', ['sessions']],
  ['delete from "api_keys" where 1', ['api_keys']],
  ['INSERT INTO a (b) VALUES (1) ON CONFLICT DO UPDATE SET b = 2', ['a']],
  ['INSERT INTO a (b) VALUES (1) ON CONFLICT DO NOTHING', ['+a']],
  ['INSERT OR REPLACE INTO a (b) VALUES (1)', ['a']],
  ['WITH x AS (SELECT id FROM b) UPDATE OR IGNORE a SET c = 1 WHERE id IN x', ['a']],
  ['SELECT updated_at, deleted_at FROM users', null],
  ['PRAGMA data_version', null],
])('the tables changed by %p are %p', (sql, tables) => {
  expect(tablesChangedBy(sql)).toEqual(tables);
});
