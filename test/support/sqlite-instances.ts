/** Database files of SQLite for the instances of a test, copied from one that is migrated once per process. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openEngine } from '../../src/db/sqlite/engine.ts';
import { migrate } from '../../src/db/sqlite/migrate.ts';
import { openWriter } from '../../src/db/sqlite/pragmas.ts';
import { databasePool } from './database-pool.ts';
import { scratchFolder } from './scratch-folder.ts';

/** Files above this size are not used again: wiping them takes longer than a copy. */
const LARGE_BYTES = 16 * 2 ** 20;

let folder: string | undefined;
let migrated: Uint8Array | undefined;
let count = 0;

/** Returns a file with the current schema and no rows. */
export function freshDatabaseFile(): string {
  if (migrated === undefined) {
    const template = new SqliteDatabase(':memory:', { strict: true });
    migrate(template, ':memory:');
    migrated = template.serialize();
    template.close();
  }
  folder ??= scratchFolder('gatehouse-test');
  const path = join(folder, `${(count += 1)}.db`);
  writeFileSync(path, migrated);
  return path;
}

export const sqliteDatabases = databasePool<SqliteDatabase>(async () => {
  const path = freshDatabaseFile();
  const { ino } = statSync(path);
  // The engine's writer makes the log first.
  const writer = openWriter(path);
  const wiper = wiperOf(path);
  const isWhole = () => {
    const file = statSync(path, { throwIfNoEntry: false });
    return file?.ino === ino && file.size < LARGE_BYTES && !wiper.isChangedSchema();
  };
  let hasOpened = false;
  return {
    name: path,
    connect: () => connect(path),
    open(clock) {
      const own = hasOpened ? openWriter(path) : writer;
      hasOpened = true;
      return openEngine(own, path, { clock, isDurable: false, isServer: false });
    },
    wipe(rows, engines) {
      rows.close();
      return engines.length === 1 && engines.every(isSound) && isWhole() && wiper.wipe();
    },
    drop() {
      wiper.close();
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    },
  };
});

/** Opens a connection for one test, since an unfinished read of the last one would show rows of its time. */
function connect(path: string): SqliteDatabase {
  const rows = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  rows.run('PRAGMA busy_timeout = 1000');
  rows.run('PRAGMA synchronous = OFF');
  rows.run('PRAGMA foreign_keys = ON');
  return rows;
}

/** Deletes the rows of each test. */
function wiperOf(path: string) {
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  sqlite.run('PRAGMA synchronous = OFF');
  sqlite.run('PRAGMA secure_delete = ON');
  sqlite.run('PRAGMA foreign_keys = OFF');
  const versions = sqlite.prepare(
    'SELECT schema_version, user_version FROM pragma_schema_version, pragma_user_version',
  );
  const before = JSON.stringify(versions.get());
  const tables = sqlite
    .query<{ name: string; type: string }, []>(`SELECT name, type FROM pragma_table_list WHERE schema = 'main'`)
    .all()
    .filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'))
    .map(({ name }) => ({
      row: sqlite.prepare(`SELECT 1 FROM ${name} LIMIT 1`),
      empty: sqlite.prepare(`DELETE FROM ${name}`),
    }));
  const wipe = sqlite.transaction(() => {
    for (const { row, empty } of tables) if (row.get() !== null) empty.run();
  });
  return {
    isChangedSchema: () => JSON.stringify(versions.get()) !== before,
    /** @returns false where a test has left a lock. */
    wipe(): boolean {
      try {
        wipe.immediate();
        return true;
      } catch {
        return false;
      }
    },
    close: () => sqlite.close(),
  };
}

function isSound(db: Database): boolean {
  const { outage, damage } = db.status();
  return outage === null && damage === null;
}
