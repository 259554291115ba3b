/** Brings a database to the schema this binary was built for: embedded migrations, one transaction, a copy taken first. */
import { constants, Database as SqliteDatabase } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import foundation from '../../migrations/0001_foundation.sql' with { type: 'text' };
import management from '../../migrations/0002_management.sql' with { type: 'text' };
import webhooks from '../../migrations/0003_webhooks.sql' with { type: 'text' };
import signInMethods from '../../migrations/0004_sign_in_methods.sql' with { type: 'text' };
import account from '../../migrations/0005_account.sql' with { type: 'text' };
import longWork from '../../migrations/0006_long_work.sql' with { type: 'text' };
import trust from '../../migrations/0007_trust.sql' with { type: 'text' };
import trial from '../../migrations/0008_trial.sql' with { type: 'text' };
import consoleTables from '../../migrations/0009_console.sql' with { type: 'text' };
import { StartupError } from '../core/startup-error.ts';
import type { Reader } from './database.ts';
import { raw } from './statements.ts';

/** In order; a migration's number is its position, and it is never edited after a release. */
const MIGRATIONS: readonly string[] = [
  foundation,
  management,
  webhooks,
  signInMethods,
  account,
  longWork,
  trust,
  trial,
  consoleTables,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

const READ_ONLY_URI = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;

/** Every Gatehouse has had these from its first schema on. */
const OWN_TABLES = ['workspaces', 'applications', 'application_users'];

/**
 * Refuses a database that is not one of Gatehouse's, or was written by a newer binary, without changing it: it is read through
 * a connection that cannot write.
 *
 * @returns whether there is an instance in it; false where there is no file, or one in which nothing was made yet.
 * @throws {StartupError}
 */
export function refuseForeignDatabase(path: string): boolean {
  if (!existsSync(path)) return false;
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  const length = readSync(file, header, 0, header.length, 0);
  closeSync(file);
  if (length === 0) return false;
  if (length < header.length || header.toString('latin1', 0, 15) !== 'SQLite format 3')
    throw new StartupError(`${path} is not a SQLite database; point --data at a Gatehouse folder or an empty one.`);
  const { version, tables } = readAsItIs(path);
  const isOwn = OWN_TABLES.every((table) => tables.includes(table));
  if (!isOwn && tables.length > 0)
    throw new StartupError(
      `${path} is the database of something else than Gatehouse; point --data at a Gatehouse folder or an empty one. ` +
        'Nothing was changed.',
    );
  refuseNewer(version, path);
  return isOwn;
}

/** The log may hold a later version than the file; reading it makes an index beside it, which is taken away again. */
function readAsItIs(path: string): { version: number; tables: string[] } {
  const isLogLeft = existsSync(`${path}-wal`);
  const index = `${path}-shm`;
  const hadIndex = existsSync(index);
  // Without a log the file is all there is, and SQLite is told so: it makes no file beside it then.
  const sqlite = isLogLeft
    ? new SqliteDatabase(path, { readonly: true })
    : new SqliteDatabase(`${pathToFileURL(path).href}?immutable=1`, READ_ONLY_URI);
  try {
    const tables = sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return { version: schemaVersion(sqlite), tables: tables.map(({ name }) => name) };
  } finally {
    sqlite.close();
    if (!hadIndex) rmSync(index, { force: true });
  }
}

function refuseNewer(version: number, path: string): void {
  if (version > SCHEMA_VERSION)
    throw new StartupError(
      `${path} has schema ${version}, this binary knows ${SCHEMA_VERSION}. ` +
        'Start the newer binary that wrote it, or restore the copy made before that upgrade. Nothing was changed.',
    );
}

/**
 * Runs what is pending, all or nothing.
 *
 * @returns the version found and, when an existing database was upgraded, the path of the copy made before.
 * @throws {StartupError} when the database is newer than this binary.
 */
export function migrate(sqlite: SqliteDatabase, path: string): { from: number; copy: string | null } {
  const from = schemaVersion(sqlite);
  refuseNewer(from, path);
  if (from === SCHEMA_VERSION) return { from, copy: null };
  const copy = from > 0 ? `${path}.schema-${from}` : null;
  if (copy) copyTo(copy, sqlite, from);
  sqlite.transaction(() => {
    for (const sql of MIGRATIONS.slice(from)) sqlite.run(sql);
    sqlite.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  })();
  return { from, copy };
}

/**
 * Copies a database as it is. A copy has its name only once it is whole: it is made under another, read through, flushed and
 * then renamed, so that neither a kill nor a full disk leaves one that could be taken for good.
 *
 * @throws {StartupError} when it cannot be made; nothing is changed then.
 */
function copyTo(copy: string, sqlite: SqliteDatabase, version: number): void {
  const unfinished = `${copy}.unfinished`;
  try {
    rmSync(unfinished, { force: true, recursive: true });
    sqlite.prepare('VACUUM INTO ?').run(unfinished);
    const made = new SqliteDatabase(unfinished, { readonly: true });
    const [problem] = made.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all();
    const found = schemaVersion(made);
    made.close();
    if (problem?.integrity_check !== 'ok' || found !== version)
      throw new Error(problem?.integrity_check ?? 'the copy has another schema');
    chmodSync(unfinished, 0o600);
    flush(unfinished);
    renameSync(unfinished, copy);
    flush(dirname(copy));
  } catch (cause) {
    rmSync(unfinished, { force: true, recursive: true });
    throw new StartupError(
      `No copy could be made before the upgrade, so nothing was upgraded: ${(cause as Error).message}. ` +
        `Make room for a second database at ${dirname(resolve(copy))}, then start again.`,
      { cause },
    );
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

/** How many migrations the file has had; 0 for a new one. */
export function schemaVersion(sqlite: SqliteDatabase): number {
  return (sqlite.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

const presentVersion = raw<{ user_version: number }>('PRAGMA user_version');

/** Whether the database has the schema that this binary was built for, as of now. */
export async function isSchemaCurrent(reader: Reader): Promise<boolean> {
  const [row] = await presentVersion(reader);
  return row?.user_version === SCHEMA_VERSION;
}
