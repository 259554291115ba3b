/** Runs of the server's own backups and their results, shown to operators. */
import { desc, eq, inArray, lte } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { change, orm, prepared } from '../db/statements.ts';
import { insertOne, updateOne } from './one-row.ts';
import { backupRuns } from './schema/backups.ts';

export type StoredBackupRun = typeof backupRuns.$inferSelect;
export type BackupStatus = StoredBackupRun['status'];
export type BackupCause = StoredBackupRun['cause'];

export type BackupEnd = Partial<Pick<StoredBackupRun, 'bytes' | 'rowCount' | 'sha256' | 'error'>> & {
  readonly status: Exclude<BackupStatus, 'running'>;
};

export function insertBackupRun(
  unit: Unit,
  run: Pick<StoredBackupRun, 'cause' | 'place' | 'isEncrypted' | 'startedAt'>,
): Promise<StoredBackupRun> {
  return insertOne(unit, backupRuns, { id: newId('backup', unit.now), status: 'running', ...run });
}

export function endBackupRun(unit: Unit, id: string, end: BackupEnd): Promise<StoredBackupRun> {
  return updateOne(unit, backupRuns, id, { ...end, endedAt: unit.now });
}

/** Marks the runs that a stop or crash cut off as interrupted. */
export async function interruptBackupRuns(unit: Unit, error: string): Promise<void> {
  await orm(unit)
    .update(backupRuns)
    .set({ status: 'interrupted', endedAt: unit.now, error })
    .where(eq(backupRuns.status, 'running'));
}

/** Returns runs, newest first. @param until excludes runs that began later, for when the clock went back. */
export function listBackupRuns(reader: Reader, limit: number, until?: number): Promise<StoredBackupRun[]> {
  return orm(reader)
    .select()
    .from(backupRuns)
    .where(until === undefined ? undefined : lte(backupRuns.startedAt, until))
    .orderBy(desc(backupRuns.startedAt), desc(backupRuns.id))
    .limit(limit);
}

const lastSuccess = prepared((db) =>
  db
    .select()
    .from(backupRuns)
    .where(eq(backupRuns.status, 'succeeded'))
    .orderBy(desc(backupRuns.startedAt), desc(backupRuns.id))
    .limit(1)
    .prepare(),
);

export async function findLastGoodBackup(reader: Reader): Promise<StoredBackupRun | undefined> {
  const [run] = await lastSuccess(reader);
  return run;
}

/** Returns the newest succeeded or failed runs, newest first. */
export function listJudgedBackupRuns(reader: Reader, limit: number): Promise<StoredBackupRun[]> {
  return orm(reader)
    .select()
    .from(backupRuns)
    .where(inArray(backupRuns.status, ['succeeded', 'failed']))
    .orderBy(desc(backupRuns.startedAt), desc(backupRuns.id))
    .limit(limit);
}

/** Deletes the runs that began before a time in epoch milliseconds, except the last success. */
export const purgeBackupRuns = change<number>(
  `DELETE FROM backup_runs WHERE started_at < :before AND id <> coalesce(
     (SELECT id FROM backup_runs WHERE status = 'succeeded' ORDER BY started_at DESC, id DESC LIMIT 1), '')`,
);
