/** The data folder that an instance is moved into: a database prepared in a folder of its own, which kills survive. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InstanceKey } from '../../core/instance-key.ts';
import { StartupError } from '../../core/startup-error.ts';
import { columnList, quotedName, removeSql } from '../move/sql.ts';
import type { MoveTarget, MovedRow, MovedTable } from '../move/tables.ts';
import { commitRestore, finishRestore, isFolderEmpty, MOVE_STAGING } from './atomic-restore.ts';
import { openDataFolder, pathsIn, PRIVATE_FILE, quoted } from './data-folder.ts';
import { lockDataFolder } from './locks.ts';
import { migrate, SCHEMA_VERSION } from './migrate.ts';
import { sqliteMoveDialect, sqliteRows, sqliteSchema } from './move-rows.ts';
import { openWriter } from './pragmas.ts';

export interface FolderTargetOptions {
  readonly isMoved: (table: string) => boolean;
  readonly key: InstanceKey;
  readonly keyBytes: Uint8Array;
}

/** Pages kept in memory while rows and indexes are written, in KiB. */
const CACHE_KIB = 131_072;

/** @throws {StartupError} where the folder holds something else than an unfinished move of the same instance. */
export function openFolderTarget(path: string, { isMoved, key, keyBytes }: FolderTargetOptions): MoveTarget {
  const folder = openDataFolder(path);
  const lock = lockDataFolder(folder.path);
  try {
    // A move that was killed as it put the files in place has ended.
    finishRestore(folder.path);
    const staging = openStaging(folder.path, key.mark);
    const writer = openWriter(staging.databasePath, { isDurable: false });
    // Rows come table by table; foreign keys are checked in the end.
    writer.run('PRAGMA foreign_keys = OFF');
    writer.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    migrate(writer, staging.databasePath);
    dropIndexes(writer);
    return {
      ...sqliteRows(writer),
      schema: sqliteSchema(writer, isMoved),
      insert: async (table, rows) => insertRows(writer, table, rows),
      async remove(table, keys) {
        const { sql, values } = removeSql(sqliteMoveDialect, table, keys);
        writer.run(sql, [...values]);
      },
      createIndexes: async () => createIndexes(writer),
      complete: async () => requireForeignKeys(writer),
      async activate() {
        writer.run(`PRAGMA application_id = ${key.mark}`);
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)');
        writer.close();
        const text = Buffer.from(keyBytes).toString('base64url');
        writeFileSync(staging.instanceKeyPath, `${text}\n`, { mode: PRIVATE_FILE, flush: true });
        commitRestore(folder.path, 'before-move', MOVE_STAGING);
      },
      async close() {
        writer.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Note of the instance whose move was begun. */
const NOTE = 'move.json';

function openStaging(folder: string, instance: number) {
  const path = join(folder, MOVE_STAGING);
  const note = join(path, NOTE);
  const begun = JSON.stringify({ instance, schema: SCHEMA_VERSION });
  if (existsSync(note)) {
    if (readFileSync(note, 'utf8') === begun) return pathsIn(path);
    throw new StartupError(
      `${path} holds an unfinished move of another instance or version. Remove it: rm -r ${quoted(path)}`,
    );
  }
  if (!isFolderEmpty(folder)) {
    const found = readdirSync(folder).slice(0, 3).join(', ');
    throw new StartupError(`${folder} is not empty: it holds ${found}. Name an empty folder with --to.`);
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(note, begun, { mode: PRIVATE_FILE, flush: true });
  return pathsIn(path);
}

function insertRows(writer: SqliteDatabase, table: MovedTable, rows: readonly MovedRow[]): void {
  const values = table.columns.map((column, at) => sqliteMoveDialect.value(at + 1, column));
  using statement = writer.prepare<unknown, (string | null)[]>(
    `INSERT INTO ${quotedName(table.name)} (${columnList(table.columns)}) VALUES (${values.join(', ')})`,
  );
  writer.transaction(() => {
    for (const row of rows) statement.run(...row);
  })();
}

interface Index {
  readonly name: string;
  readonly sql: string;
}

/** Indexes other than those of constraints, which belong to their table. */
function indexesOf(sqlite: SqliteDatabase): Index[] {
  using statement = sqlite.prepare<Index, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  );
  return statement.all();
}

/** Built at the end from sorted entries, an index takes a fraction of the time. */
function dropIndexes(writer: SqliteDatabase): void {
  for (const { name } of indexesOf(writer)) writer.run(`DROP INDEX ${quotedName(name)}`);
}

function createIndexes(writer: SqliteDatabase): void {
  using model = new SqliteDatabase(':memory:');
  migrate(model, ':memory:');
  const present = new Set(indexesOf(writer).map(({ name }) => name));
  for (const { name, sql } of indexesOf(model)) if (!present.has(name)) writer.run(sql);
}

function requireForeignKeys(writer: SqliteDatabase): void {
  using statement = writer.prepare<{ table: string; parent: string }, []>(
    'SELECT DISTINCT "table", parent FROM pragma_foreign_key_check',
  );
  const [broken] = statement.all();
  if (broken) throw new Error(`rows of ${broken.table} refer to missing rows of ${broken.parent}`);
}
