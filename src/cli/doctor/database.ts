/** Checks the database over a read-only connection: schema, integrity, queues and recent failures. */
import { existsSync } from 'node:fs';
import { DAY } from '../../core/clock.ts';
import { bytesText, lasting } from '../../core/quantities.ts';
import { StartupError } from '../../core/startup-error.ts';
import { folderError } from '../../db/sqlite/folder-error.ts';
import { findInstance } from '../../db/sqlite/find-instance.ts';
import { SCHEMA_VERSION } from '../../db/sqlite/migrate.ts';
import { type ReadOnlyDatabase, openReadOnlyDatabase } from '../../db/sqlite/read-only.ts';
import type { Reader } from '../../db/database.ts';
import { SETTINGS } from '../../settings.ts';
import { findLastGoodBackup, listJudgedBackupRuns } from '../../store/backup-runs.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ServerAnswer, DoctorContext } from './context.ts';
import { workFindings } from './work.ts';

/** Time limit of the integrity check unless `isFull`. */
const CHECK_MS = 60_000;
const LONG_LOG_BYTES = 64 * 2 ** 20;
const OLD_BACKUP_MS = 2 * DAY;

export interface DatabaseOptions {
  readonly isFull: boolean;
  readonly checkMs?: number;
  readonly step: (what: string) => void;
}

export async function databaseFindings(
  context: DoctorContext,
  local: ServerAnswer | null,
  options: DatabaseOptions,
): Promise<Finding[]> {
  const { databasePath: path } = context;
  const { fail } = findingsOf('database');
  if (!existsSync(path))
    return fail(`There is no database in ${context.folder}.`, 'Name the folder of the server with --data.');
  let database: ReadOnlyDatabase | undefined;
  try {
    const instance = findInstance(path);
    if (instance === null)
      return fail(`${path} is empty.`, 'Start a server on the folder, or name another with --data.');
    const { isCurrent, findings } = schemaFindings(context, instance.schema);
    database = openReadOnlyDatabase(path);
    return [
      ...findings,
      ...lostPageFindings(context),
      ...integrityFindings(database, options),
      ...logFindings(database),
      ...(isCurrent ? await contentFindings(context, database.reader, local) : []),
    ];
  } catch (error) {
    const trouble = error instanceof StartupError ? error : folderError(error, path);
    if (trouble === null) throw error;
    return fail(trouble.message, 'If it is damaged, restore a good backup: gatehouse restore FILE.');
  } finally {
    database?.close();
  }
}

function schemaFindings({ server }: DoctorContext, version: number): { isCurrent: boolean; findings: Finding[] } {
  const { ok, warn } = findingsOf('schema');
  if (version === SCHEMA_VERSION) return { isCurrent: true, findings: ok(`${version}, that of this binary.`) };
  const remedy =
    server === null
      ? 'Start the server once with this binary: it makes a copy, then upgrades the database.'
      : 'Restart the running server with this binary: it makes a copy, then upgrades the database.';
  const message = `The database has schema ${version}, this binary knows ${SCHEMA_VERSION}: its contents were not checked.`;
  return { isCurrent: false, findings: warn(message, remedy) };
}

function integrityFindings(
  database: ReadOnlyDatabase,
  { isFull, checkMs = CHECK_MS, step }: DatabaseOptions,
): Finding[] {
  const { ok, warn, fail } = findingsOf('integrity');
  const withinMs = isFull ? Infinity : checkMs;
  const check = database.check({ withinMs, isThorough: isFull });
  let next = check.next();
  while (!next.done) {
    step(`checking ${next.value.table} (${next.value.done + 1} of ${next.value.all})`);
    next = check.next();
  }
  const { problems, checked, leftOut } = next.value;
  if (problems.length > 0)
    return fail(
      `The database is damaged: ${problems.join('; ')}.`,
      'Stop the server, keep a copy of the folder, and restore a good backup: gatehouse restore FILE.',
    );
  if (leftOut.length > 0)
    return warn(
      `${checked} tables are intact; ${leftOut.join(', ')} would have taken longer than ${lasting(checkMs)}.`,
      'To check everything without a time limit: gatehouse doctor --full',
    );
  return ok(`${checked} tables (${bytesText(database.bytes)}) are intact${isFull ? ', their indexes too' : ''}.`);
}

function lostPageFindings({ logLoss: loss }: DoctorContext): Finding[] {
  if (loss === null) return [];
  const { fail, warn } = findingsOf('log');
  const { committed, readable, isMachineRestarted } = loss;
  const message = `${committed - readable} of ${committed} pages of the write-ahead log cannot be read`;
  if (isMachineRestarted)
    return warn(
      `${message}. The machine was restarted since: after a power failure only unacknowledged changes are missing.`,
      'If there was no power failure, compare with a good backup.',
    );
  return fail(
    `${message}: it is damaged or truncated, and acknowledged changes are lost.`,
    'Keep a copy of the folder, and compare with a good backup: gatehouse restore FILE.',
  );
}

function logFindings({ logBytes }: ReadOnlyDatabase): Finding[] {
  const { ok, warn } = findingsOf('log');
  if (logBytes <= LONG_LOG_BYTES) return ok(`The write-ahead log has ${bytesText(logBytes)}.`);
  return warn(
    `The write-ahead log has ${bytesText(logBytes)}: something blocks its checkpoint.`,
    'Stop long-running readers of the database file, such as a backup tool that hangs.',
  );
}

async function contentFindings(context: DoctorContext, reader: Reader, local: ServerAnswer | null): Promise<Finding[]> {
  return [
    ...(await workFindings({ now: context.now, isServed: context.server !== null }, reader, local)),
    ...(await backupFindings(context, reader)),
  ];
}

async function backupFindings({ given, now }: DoctorContext, reader: Reader): Promise<Finding[]> {
  const { ok, warn, fail } = findingsOf('backups');
  const [last] = await listJudgedBackupRuns(reader, 1);
  const good = await findLastGoodBackup(reader);
  const when = good
    ? `the last good one is ${lasting(now() - good.startedAt)} old (${good.place})`
    : 'there is no good one';
  if (given(SETTINGS.backupTo.env) === null)
    return warn(
      `The server makes none automatically${good ? `; ${when}` : ''}.`,
      'Set GATEHOUSE_BACKUP_TO to a folder of another disk or to s3://bucket; or let cron run gatehouse backup FILE.',
    );
  if (last?.status === 'failed')
    return fail(
      `The last one failed, and ${when}: ${last.error ?? 'reason unknown'}.`,
      'Fix the cause; the server tries again.',
    );
  if (!good) return warn('None has been made yet.', 'Make one in the console under Backups, or wait for the schedule.');
  if (now() - good.startedAt > OLD_BACKUP_MS)
    return warn(`None recently: ${when}.`, 'Check that the server runs, and check its log.');
  return ok(`${when.charAt(0).toUpperCase()}${when.slice(1)}.`);
}
