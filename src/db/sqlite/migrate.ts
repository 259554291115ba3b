/** Migrates a database to this binary's schema in one transaction. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
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
import instances from '../../../migrations/0014_instances.sql' with { type: 'text' };
import pages from '../../../migrations/0015_pages.sql' with { type: 'text' };
import addressSearch from '../../../migrations/0016_address_search.sql' with { type: 'text' };
import openid from '../../../migrations/0017_openid.sql' with { type: 'text' };
import keyDays from '../../../migrations/0018_key_days.sql' with { type: 'text' };
import assertions from '../../../migrations/0019_assertions.sql' with { type: 'text' };
import { StartupError } from '../../core/startup-error.ts';
import { quoted } from './data-folder.ts';
import type { Connection } from '../connection.ts';
import { CONNECTION } from '../database.ts';
import { query } from '../statements.ts';
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
  instances,
  pages,
  addressSearch,
  openid,
  keyDays,
  assertions,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** @throws {StartupError} where a newer binary wrote the database, naming the copy that leads back. */
export function refuseNewer(version: number, path: string): void {
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

const presentVersion = query.aggregate<number>('PRAGMA user_version');

export async function isSchemaCurrent(connection: Connection): Promise<boolean> {
  return (await presentVersion({ [CONNECTION]: connection })) === SCHEMA_VERSION;
}
