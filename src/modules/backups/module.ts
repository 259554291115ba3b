import { SECOND } from '../../core/clock.ts';
import type { Module, ModuleContext } from '../module.ts';
import { notifyOwners } from './owners.ts';
import { backupRoutes } from './routes.ts';
import { type Backups, backupService } from './service.ts';

const LOOK_EVERY_MS = 20 * SECOND;

export function backupsModule(context: ModuleContext): Module & { readonly service: Backups } {
  const { db, instance, instanceKey, backups: settings, baseUrl, metrics } = context;
  const { version } = instance;
  const service = backupService({
    ...context,
    settings,
    version,
    mark: instanceKey.mark,
    tellOwners: notifyOwners(baseUrl),
  });
  metrics.gauge('gatehouse_backup_last_success_timestamp_seconds', 'When the last good backup was begun.', async () => {
    const run = await service.lastGood();
    return run ? run.startedAt / SECOND : null;
  });
  metrics.gauge('gatehouse_backup_last_success_bytes', 'Size of the last good backup.', async () => {
    const run = await service.lastGood();
    return run?.bytes ?? null;
  });
  metrics.gauge('gatehouse_backup_failed', 'Whether the last backup that was tried failed.', async () => {
    const standing = await service.standing();
    return standing && Number(standing.error !== null);
  });
  return {
    service,
    operations: backupRoutes(service, db.reader),
    jobs: [{ name: 'backups', everyMs: LOOK_EVERY_MS, runOnce: () => service.runOnce() }],
    start: () => service.start(),
    stop: () => service.stop(),
  };
}
