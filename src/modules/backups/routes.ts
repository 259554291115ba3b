import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Principal } from '../../core/principal.ts';
import { placeText } from '../../backup/place.ts';
import { isEncryptionSet } from '../../backup/plan.ts';
import type { Reader } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { StoredBackupRun } from '../../store/backup-runs.ts';
import { isOperator } from '../health/operator.ts';
import { type BackupRunRecord, BackupRunSchema, type BackupsRecord, BackupsSchema } from './model.ts';
import type { Backups } from './service.ts';

const SHOWN = 50;

export function backupRoutes(backups: Backups, reader: Reader): Operation[] {
  const common = {
    tag: 'Workspace',
    scope: 'workspace',
    consoleRole: 'owner',
    limit: 'key',
    path: '/api/workspace/backups',
  } as const;

  /** @throws {AppError} forbidden */
  async function requireOperator(principal: Principal): Promise<void> {
    if (!(await isOperator(reader, principal))) throw new AppError('forbidden', { hint: 'operator_needed' });
  }

  return [
    operation({
      ...common,
      id: 'listBackups',
      method: 'GET',
      summary: 'Read the settings and results of scheduled backups, as an owner of the first workspace',
      description: 'Backups made by "gatehouse backup" are not listed.',
      access: 'read',
      data: BackupsSchema,
      async handle({ principal }) {
        await requireOperator(principal);
        return presentAll(backups);
      },
    }),
    operation({
      ...common,
      id: 'startBackup',
      method: 'POST',
      summary: 'Start a backup now, as an owner of the first workspace',
      description: 'Answers once it has started; the list shows the result.',
      access: 'full',
      data: BackupRunSchema,
      errors: ['invalid_state'],
      async handle({ actor, principal, workspaceId }) {
        await requireOperator(principal);
        return present(await backups.begin('manual', actor, workspaceId));
      },
    }),
  ];
}

async function presentAll(backups: Backups): Promise<BackupsRecord> {
  const { settings } = backups;
  const [runs, nextAt, lastGood] = await Promise.all([backups.list(SHOWN), backups.nextAt(), backups.lastGood()]);
  return {
    place: settings.backupTo && placeText(settings.backupTo),
    commands: backups.commands && { ...backups.commands },
    schedule: settings.backupSchedule.text,
    keep: { ...settings.backupKeep },
    isEncrypted: isEncryptionSet(settings),
    isRunning: backups.isRunning(),
    nextAt: isoTime(nextAt),
    lastGoodAt: isoTime(lastGood?.startedAt ?? null),
    runs: runs.map(present),
  };
}

function present(run: StoredBackupRun): BackupRunRecord {
  const { id, cause, status, place, isEncrypted, startedAt, endedAt, bytes, rowCount: rows, sha256, error } = run;
  const ended = { endedAt: isoTime(endedAt), bytes, rows, sha256, error };
  return { id, cause, status, place, isEncrypted, startedAt: isoTime(startedAt), ...ended };
}
