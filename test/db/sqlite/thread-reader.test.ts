/** Cache entries of a verification thread end with changes of other processes, not with every commit of its server. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedRow } from '@/db/lookups.ts';
import { type ChangeLog, changeLog, changeLogMemory } from '@/db/sqlite/change-log.ts';
import { openWriter } from '@/db/sqlite/pragmas.ts';
import { openThreadReader, type ThreadReader } from '@/db/sqlite/thread-reader.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

interface Row {
  readonly id: string;
}

const lookup = cachedRow<Row>({
  sql: 'SELECT k.id FROM keys k WHERE k.hash = :hash',
  rowIds: ({ id }) => [id],
  rowTables: ['keys'],
});
const asItIs = (row: Row) => row;
const hashOf = (name: string) => new TextEncoder().encode(name);

const folder = scratchFolder('gatehouse-thread-reader');
const path = join(folder, 'gatehouse.db');
let writer: SqliteDatabase;
let log: ChangeLog;
let thread: ThreadReader;

beforeEach(() => {
  writer?.close();
  thread?.close();
  rmSync(path, { force: true });
  writer = openWriter(path);
  writer.run('CREATE TABLE keys (id TEXT PRIMARY KEY, hash BLOB)');
  insert('first');
  const memory = changeLogMemory();
  log = changeLog(memory);
  thread = openThreadReader(path, memory, 100);
});
afterAll(() => {
  writer.close();
  thread.close();
  rmSync(folder, { recursive: true });
});

const insert = (name: string) => writer.run('INSERT INTO keys VALUES (?, ?)', [name, hashOf(name)]);
const find = (name: string) => lookup(thread.reader, hashOf(name), asItIs) as Row | undefined;

/** Looks a row up until a snapshot has it. */
async function seen(name: string): Promise<void> {
  while (find(name) === undefined) await new Promise(setImmediate);
}

/** A key is cached from its second request on. */
function cached(name: string): Row | undefined {
  find(name);
  return find(name);
}

test('a commit that is announced and not yet published leaves the other rows cached', async () => {
  const before = cached('first');
  log.committing();
  // The second row comes in a snapshot that began after another one within the commit.
  for (const name of ['second', 'third']) {
    insert(name);
    await seen(name);
    expect(find('first')).toBe(before);
  }
  log.committed({ tables: new Set(), ids: new Set(['second', 'third']) });
  expect(find('first')).toBe(before);
});

test('a commit that nothing announces is of another process, and ends everything cached', async () => {
  const before = cached('first');
  insert('second');
  await seen('second');
  expect(find('first')).not.toBe(before);
});

test('a change of another process beside a commit of the server ends everything once the server has found it', async () => {
  const before = cached('first');
  log.committing();
  insert('second');
  await seen('second');
  expect(find('first')).toBe(before);
  log.everythingChanged();
  log.committed({ tables: new Set(), ids: new Set() });
  expect(find('first')).not.toBe(before);
});

test('after a commit that failed, a change of another process is noticed again', async () => {
  const before = cached('first');
  log.committing();
  log.failed();
  insert('second');
  await seen('second');
  // The first look after a commit takes a change for the server's own.
  insert('third');
  await seen('third');
  expect(find('first')).not.toBe(before);
});
