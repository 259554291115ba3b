/** Migrates the database to this binary's schema in one transaction, and refuses databases that are not its own. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import foundation from '../../../migrations/0001_foundation.sql' with { type: 'text' };
import management from '../../../migrations/0002_management.sql' with { type: 'text' };
import webhooks from '../../../migrations/0003_webhooks.sql' with { type: 'text' };
import signInMethods from '../../../migrations/0004_sign_in_methods.sql' with { type: 'text' };
import account from '../../../migrations/0005_account.sql' with { type: 'text' };
import longWork from '../../../migrations/0006_long_work.sql' with { type: 'text' };
import trust from '../../../migrations/0007_trust.sql' with { type: 'text' };
import trial from '../../../migrations/0008_trial.sql' with { type: 'text' };
import consoleTables from '../../../migrations/0009_console.sql' with { type: 'text' };
import retention from '../../../migrations/0010_retention.sql' with { type: 'text' };
import backups from '../../../migrations/0011_backups.sql' with { type: 'text' };
import whoseAccount from '../../../migrations/0012_whose_account.sql' with { type: 'text' };
import leaseHolders from '../../../migrations/0013_lease_holders.sql' with { type: 'text' };
import { StartupError } from '../../core/startup-error.ts';
import { openReadOnly } from './read-only.ts';
import { quoted } from './data-folder.ts';
import type { Reader } from '../database.ts';
import { raw } from '../statements.ts';
import { copyToGoBackTo } from './upgrade-copies.ts';

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
  retention,
  backups,
  whoseAccount,
  leaseHolders,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Tables of every Gatehouse since its first schema. */
const OWN_TABLES = ['workspaces', 'applications', 'application_users'];

/** An instance in a database file, its log included. */
export interface FoundInstance {
  /** Number of migrations applied. */
  readonly schema: number;
  /** The mark of its instance key; 0 until a start has bound the two. */
  readonly mark: number;
}

/**
 * Finds the instance by a read-only connection. @returns null where there is no file, or nothing was made in it yet.
 *
 * @throws {StartupError} where it is not Gatehouse's, or was written by a newer binary.
 */
export function findInstance(path: string): FoundInstance | null {
  if (!existsSync(path)) return null;
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  const length = readSync(file, header, 0, header.length, 0);
  closeSync(file);
  if (length === 0) return null;
  if (length < header.length || header.toString('latin1', 0, 15) !== 'SQLite format 3')
    throw new StartupError(`${path} is not a SQLite database; point --data at a Gatehouse folder or an empty one.`);
  return readAsItIs(path, (sqlite) => instanceIn(sqlite, path));
}

/**
 * Finds the instance through an open connection, as a server must: closing a second descriptor of its database drops
 * SQLite's locks on it (https://www.sqlite.org/howtocorrupt.html, section 2.2). @throws {StartupError}
 */
export function instanceIn(sqlite: SqliteDatabase, path: string): FoundInstance | null {
  const names = sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const tables = names.map(({ name }) => name);
  const isOwn = OWN_TABLES.every((table) => tables.includes(table));
  if (!isOwn && tables.length > 0)
    throw new StartupError(
      `${path} is the database of something else than Gatehouse; point --data at a Gatehouse folder or an empty one. ` +
        'Nothing was changed.',
    );
  const schema = schemaVersion(sqlite);
  refuseNewer(schema, path);
  const { application_id: mark } = sqlite.query('PRAGMA application_id').get() as { application_id: number };
  return isOwn ? { schema, mark } : null;
}

/** Returns the number of migrations a Gatehouse file has had, its log included. Changes nothing. */
export function schemaVersionOf(path: string): number {
  return readAsItIs(path, schemaVersion);
}

function readAsItIs<Result>(path: string, read: (sqlite: SqliteDatabase) => Result): Result {
  const { sqlite, close } = openReadOnly(path);
  try {
    return read(sqlite);
  } finally {
    close();
  }
}

function refuseNewer(version: number, path: string): void {
  if (version <= SCHEMA_VERSION) return;
  const copy = copyToGoBackTo(path, SCHEMA_VERSION);
  throw new StartupError(
    `${path} has schema ${version}, this binary knows ${SCHEMA_VERSION}. ` +
      'Start the newer binary that wrote it; or, to go back to how it was before that upgrade and give up what came later, ' +
      (copy === null
        ? 'restore a backup or the copy made then by "gatehouse restore". Nothing was changed.'
        : `restore the copy made then: gatehouse restore ${quoted(copy)} --force --data ${quoted(dirname(copy))}. Nothing was changed.`),
  );
}

/**
 * Runs pending migrations, all or nothing, after `upgradeData` has made the copy. @returns the version found.
 *
 * @param begin called before each step, from 1.
 * @throws {StartupError} when the database is newer than this binary.
 */
export function migrate(
  sqlite: SqliteDatabase,
  path: string,
  begin: (step: number, steps: number) => void = () => {},
): number {
  const from = schemaVersion(sqlite);
  refuseNewer(from, path);
  if (from === SCHEMA_VERSION) return from;
  const pending = MIGRATIONS.slice(from);
  sqlite
    .transaction(() => {
      for (const [at, sql] of pending.entries()) {
        begin(at + 1, pending.length);
        sqlite.run(sql);
      }
      sqlite.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    })
    .immediate();
  return from;
}

/** Returns the number of migrations applied; 0 for a new file. */
export function schemaVersion(sqlite: SqliteDatabase): number {
  // Unfinalized, it keeps a closed connection open, and the server would share its deleted shared-memory file.
  using statement = sqlite.prepare<{ user_version: number }, []>('PRAGMA user_version');
  return statement.get()?.user_version ?? 0;
}

const presentVersion = raw<{ user_version: number }>('PRAGMA user_version');

export async function isSchemaCurrent(reader: Reader): Promise<boolean> {
  const [row] = await presentVersion(reader);
  return row?.user_version === SCHEMA_VERSION;
}
