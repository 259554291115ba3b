/** Checks the database over a read-only connection: schema, integrity, queues and recent failures. */
import { existsSync } from 'node:fs';
import { DAY } from '../../core/clock.ts';
import { bytesText, counted, lasting } from '../../core/quantities.ts';
import { StartupError } from '../../core/startup-error.ts';
import { folderError } from '../../db/sqlite/folder-error.ts';
import { findInstance } from '../../db/sqlite/find-instance.ts';
import { SCHEMA_VERSION } from '../../db/sqlite/migrate.ts';
import { type ReadOnlyDatabase, openReadOnlyDatabase } from '../../db/sqlite/read-only.ts';
import type { Reader } from '../../db/database.ts';
import { countQueues } from '../../modules/health/queue-counts.ts';
import { type Observed, warningsOf } from '../../modules/health/warnings.ts';
import { SETTINGS } from '../../settings.ts';
import { findLastGoodBackup, listJudgedBackupRuns } from '../../store/backup-runs.ts';
import { countRestingEndpoints, listLimitsReached } from '../../store/operation-metrics.ts';
import { queuesText } from '../queues-text.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ServerAnswer, DoctorContext } from './context.ts';

/** Time limit of the integrity check unless `isFull`. */
const CHECK_MS = 60_000;
const LONG_LOG_BYTES = 64 * 2 ** 20;
const OLD_BACKUP_MS = 2 * DAY;
const MOST_LIMITS = 4;

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
    ...(await pendingFindings(context, reader)),
    ...(await webhookFindings(reader)),
    ...(await limitFindings(context, reader, local)),
    ...(await backupFindings(context, reader)),
  ];
}

/** Passing values for the checks that other files make. */
const PASSING = {
  facts: {
    mode: 'normal',
    isBaseUrlSet: false,
    mail: { transport: 'smtp', server: null, from: null },
    untrustedProxyHeader: () => null,
    certificateExpiresAt: () => null,
  },
  baseUrl: 'https://localhost',
  database: {
    queued: 0,
    logBytes: 0,
    outage: null,
    damage: null,
    bytes: 0,
    reusableBytes: 0,
    freeBytes: null,
  },
  backups: null,
} as const satisfies Omit<Observed, 'now' | 'queues'>;
const WAITING: readonly string[] = ['mail_waits', 'deliveries_wait', 'long_work_waits'];

async function pendingFindings({ now, server }: DoctorContext, reader: Reader): Promise<Finding[]> {
  const { ok, warn } = findingsOf('pending');
  const queues = await countQueues(reader);
  const lag = (dueAt: number | null) =>
    dueAt !== null && now() > dueAt + 1000 ? ` (due for ${lasting(now() - dueAt)})` : '';
  const text = queuesText(queues, lag);
  if (text === null) return ok('No work is waiting.');
  const what = `Waiting: ${text}.`;
  // Without a server a backlog is expected.
  const late =
    server === null ? [] : warningsOf({ ...PASSING, now: now(), queues }).filter(({ code }) => WAITING.includes(code));
  if (late.length === 0) return ok(what);
  return late.flatMap(({ message, remedy }, index) => warn(index === 0 ? `${what} ${message}` : message, remedy));
}

async function webhookFindings(reader: Reader): Promise<Finding[]> {
  const { ok, warn } = findingsOf('webhooks');
  const { quarantined, disabled } = await countRestingEndpoints(reader);
  const off = disabled > 0 ? ` ${counted(disabled, 'endpoint')} disabled by their owners.` : '';
  if (quarantined === 0) return ok(`No endpoint is in quarantine.${off}`);
  return warn(
    `${counted(quarantined, 'endpoint')} in quarantine after failing for long: their deliveries are held.${off}`,
    'Their owners see the reason under Webhooks in the console, fix the receiver, and release them there.',
  );
}

async function limitFindings({ now }: DoctorContext, reader: Reader, local: ServerAnswer | null): Promise<Finding[]> {
  const { ok, warn } = findingsOf('limits');
  const today = now() - (now() % DAY);
  const reached = await listLimitsReached(reader, today - DAY);
  const told = (list: readonly { readonly limit: string; readonly count: number }[]) =>
    list
      .toSorted((left, right) => right.count - left.count)
      .slice(0, MOST_LIMITS)
      .map(({ limit, count }) => `${limit} ${count.toLocaleString('en')} times`)
      .join(', ');
  const refusals = local?.facts?.refusals ?? [];
  if (reached.length === 0 && refusals.length === 0) return ok('No limit was exceeded since yesterday.');
  const parts = [
    reached.length > 0 && `Limits exceeded since yesterday: ${told(reached)}.`,
    refusals.length > 0 && `Since the server’s start: ${told(refusals)}.`,
  ].filter((part) => part !== false);
  return warn(
    parts.join(' '),
    'If the callers were legitimate, raise the limit (GATEHOUSE_LIMIT_…, or the key’s own); see gatehouse help serve.',
  );
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
