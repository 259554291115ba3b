/** Makes and records one backup at a time. Makes up a missed one after the start; retries with exponential backoff. */
import type { Logger } from 'pino';
import { BACKUP_COMMANDS } from '../../backup/database-tools.ts';
import { backupName } from '../../backup/names.ts';
import type { BackupOrder, MadeBackup } from '../../backup/make.ts';
import { placeIn, placeText } from '../../backup/place.ts';
import { accessOf, type BackupSettings, isEncryptionSet, locksOf } from '../../backup/plan.ts';
import { type BackupRun, BackupRunningError, startBackup } from '../../backup/run.ts';
import { nextRun } from '../../backup/schedule.ts';
import { type Actor, SYSTEM_ACTOR } from '../../core/actor.ts';
import { DAY, HOUR, MINUTE, type WorldClock } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { Database, Unit } from '../../db/database.ts';
import { isOutage } from '../../db/errors.ts';
import type { HeldLease, WorkLeases } from '../../jobs/work-leases.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  type BackupCause,
  endBackupRun,
  findLastGoodBackup,
  purgeBackupRuns,
  insertBackupRun,
  interruptBackupRuns,
  listBackupRuns,
  listJudgedBackupRuns,
  type StoredBackupRun,
} from '../../store/backup-runs.ts';
import type { BackupStanding } from '../health/warnings.ts';
import type { NotifyOwners } from './owners.ts';

export interface BackupServiceDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly leases: Pick<WorkLeases, 'begin'>;
  readonly log: Logger;
  readonly settings: BackupSettings;
  readonly version: string;
  /** The instance key's mark, part of the backup's name. */
  readonly mark: number;
  readonly tellOwners: NotifyOwners;
}

const FIRST_RETRY_MS = 15 * MINUTE;
const LONGEST_RETRY_MS = 6 * HOUR;
/** Further failures in a row no longer change the backoff. */
const MOST_COUNTED = 6;
const KEPT_MS = 100 * DAY;
const LATE_MS = HOUR;
const RECORD_RETRY_MS = 5000;
/** Held by the instance that makes a backup. */
const LEASE = 'backups';

export type Backups = ReturnType<typeof backupService>;

export function backupService(dependencies: BackupServiceDependencies) {
  const { db, clock, leases, log, settings, version, mark, tellOwners } = dependencies;
  let current: { readonly run: BackupRun; readonly ended: Promise<void> } | null = null;
  let isBeginning = false;
  let isStopped = false;

  /** Commands that make the backups in place of this server. */
  const commands = BACKUP_COMMANDS[db.engine];
  const placeSet = () => settings.backupTo !== null && commands === null;

  function orderFor(now: number): BackupOrder {
    const { dataFolder, backupKeep: keep } = settings;
    const target = placeOf(now);
    const locks = locksOf(settings);
    // The name contains the second and the instance, so nothing else can have it.
    return { dataFolder, target, isReplacing: true, access: accessOf(settings), locks, now, version, keep };
  }

  /** Writes a run's outcome, retried until the database works: a full disk may have failed both. */
  async function record(work: (unit: Unit) => Promise<unknown>): Promise<void> {
    while (!isStopped) {
      try {
        await db.write(SYSTEM_ACTOR, work);
        return;
      } catch (error) {
        if (!isOutage(error))
          log.error({ err: error }, 'the result of a backup could not be recorded; it is tried again');
        if (!(error instanceof AppError)) return;
        await Bun.sleep(RECORD_RETRY_MS);
      }
    }
  }

  async function succeeded(id: string, made: MadeBackup): Promise<void> {
    const { bytes, sha256, contents, place, durationMs, removed, keepProblem } = made;
    log.info({ place, bytes, durationMs, rows: contents.rowCount, removed: removed.length }, 'backup finished');
    if (keepProblem !== null) log.error({ place, reason: keepProblem }, 'old backups could not be removed');
    if (contents.danglingRows > 0)
      log.error({ rows: contents.danglingRows }, 'rows of the database refer to rows that are not there');
    await record(async (unit) => {
      const [before] = await listJudgedBackupRuns(unit, 1);
      const error = keepProblem === null ? null : `Old backups could not be removed: ${keepProblem}`;
      await endBackupRun(unit, id, { status: 'succeeded', bytes, sha256, rowCount: contents.rowCount, error });
      await purgeBackupRuns(unit, unit.now - KEPT_MS);
      if (before?.status === 'failed') await tellOwners(unit, { kind: 'works', place });
    });
  }

  async function failed(id: string, place: string, error: unknown): Promise<void> {
    if (isStopped) return;
    const reason = error instanceof StartupError ? error.message : 'A fault in the server kept it; see its log.';
    log.error({ place, reason, ...(!(error instanceof StartupError) && { err: error }) }, 'a backup failed');
    await record(async (unit) => {
      const [before] = await listJudgedBackupRuns(unit, 1);
      const lastGood = await findLastGoodBackup(unit);
      await endBackupRun(unit, id, { status: 'failed', error: reason });
      if (before?.status !== 'failed')
        await tellOwners(unit, { kind: 'failed', place, reason, lastGoodAt: lastGood?.startedAt ?? null });
    });
  }

  /** @throws {AppError} invalid_state if a backup is running or no target is set. */
  async function begin(cause: BackupCause, actor: Actor, workspaceId: string | null): Promise<StoredBackupRun> {
    if (commands !== null) throw new AppError('invalid_state', { hint: 'backup_by_database' });
    if (!placeSet()) throw new AppError('invalid_state', { hint: 'backup_place_unset' });
    if (current !== null || isBeginning) throw new AppError('invalid_state', { hint: 'backup_running' });
    isBeginning = true;
    let lease: HeldLease | null = null;
    try {
      lease = await leases.begin(LEASE);
      if (!lease) throw new AppError('invalid_state', { hint: 'backup_running' });
      const startedAt = clock.now();
      const isEncrypted = isEncryptionSet(settings);
      const place = placeText(placeOf(startedAt));
      // A refused start is recorded as a failed run, except when another backup is running.
      let run: BackupRun | null = null;
      let refusal: unknown;
      try {
        run = startBackup(orderFor(startedAt));
      } catch (error) {
        if (error instanceof BackupRunningError) throw new AppError('invalid_state', { hint: 'backup_running' });
        refusal = error;
      }
      const row = await db
        .write(actor, async (unit) => {
          if (workspaceId !== null)
            await recordAudit(unit, { kind: 'workspace.backup_started', workspaceId, detail: { place } });
          return insertBackupRun(unit, { cause, place, isEncrypted, startedAt });
        })
        .catch((error: unknown) => {
          run?.cancel();
          throw error;
        });
      if (run === null) await failed(row.id, place, refusal);
      else {
        const held = lease;
        const ended = run.done
          .then(
            (made) => succeeded(row.id, made),
            (error: unknown) => failed(row.id, place, error),
          )
          .finally(() => {
            current = null;
            return held.end();
          });
        current = { run, ended };
      }
      return row;
    } finally {
      isBeginning = false;
      if (current === null) await lease?.end();
    }
  }

  function placeOf(now: number) {
    if (settings.backupTo === null) throw new AppError('invalid_state', { hint: 'backup_place_unset' });
    return placeIn(settings.backupTo, backupName(mark, now, isEncryptionSet(settings)));
  }

  /** Returns when the next backup is due: in the past when overdue, null when no target is set. */
  async function nextAt(): Promise<number | null> {
    if (!placeSet()) return null;
    const now = clock.now();
    // A clock set back must neither delay backups for years nor repeat them endlessly.
    const runs = await listBackupRuns(db.reader, MOST_COUNTED, now + DAY);
    const [last] = runs;
    if (!last) return now;
    const planned = nextRun(settings.backupSchedule, Math.min(last.startedAt, now));
    if (last.status === 'succeeded' || last.status === 'running') return planned;
    const good = runs.findIndex(({ status }) => status === 'succeeded');
    const failures = good < 0 ? runs.length : good;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    return Math.min(planned, (last.endedAt ?? last.startedAt) + wait);
  }

  return {
    begin,
    nextAt,
    settings,
    commands,
    list: (limit: number) => listBackupRuns(db.reader, limit),
    lastGood: () => findLastGoodBackup(db.reader),
    isRunning: () => current !== null,

    /** Makes the backup if one is due, and returns when it has ended. Called by the scheduler. */
    async runOnce(): Promise<void> {
      if (!placeSet() || isStopped) return;
      const due = await nextAt();
      if (due === null || due > clock.now() || current !== null) return;
      try {
        await begin('schedule', SYSTEM_ACTOR, null);
      } catch (error) {
        // A backup was started by hand; the scheduler retries later.
        if (error instanceof AppError && error.hint === 'backup_running') return;
        throw error;
      }
      await (current as { ended: Promise<void> } | null)?.ended;
    },

    /** Returns what the operators are warned of; null when no target is set. */
    async standing(): Promise<BackupStanding | null> {
      if (!placeSet()) return null;
      const [lastGood, [judged]] = await Promise.all([
        findLastGoodBackup(db.reader),
        listJudgedBackupRuns(db.reader, 1),
      ]);
      const { backupSchedule } = settings;
      const isLate =
        lastGood !== undefined &&
        clock.now() > nextRun(backupSchedule, nextRun(backupSchedule, lastGood.startedAt)) + LATE_MS;
      return {
        lastGoodAt: lastGood?.startedAt ?? null,
        isLate,
        error: judged?.status === 'failed' ? judged.error : null,
      };
    },

    /** @throws {StartupError} if two settings contradict each other. */
    async start(): Promise<void> {
      if (settings.backupRecipients !== null && settings.backupPassphraseFile !== null) locksOf(settings);
      const runs = await listBackupRuns(db.reader, MOST_COUNTED);
      if (runs.every(({ status }) => status !== 'running')) return;
      // Another instance that makes one holds the lease.
      const lease = await leases.begin(LEASE);
      if (!lease) return;
      await db.write(SYSTEM_ACTOR, (unit) => interruptBackupRuns(unit, 'The server ended while it was made.'));
      await lease.end();
    },

    async stop(): Promise<void> {
      isStopped = true;
      if (current === null) return;
      const { run, ended } = current;
      run.cancel();
      await ended;
      await db.write(SYSTEM_ACTOR, (unit) => interruptBackupRuns(unit, 'The server was stopped while it was made.'));
    },
  };
}
