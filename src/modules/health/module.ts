import type { Module, ModuleContext } from '../module.ts';
import { instanceHealthService } from './instance.ts';
import { instanceHealthRoute } from './instance-route.ts';
import { type QueueCounts, queueCounter } from './queue-counts.ts';
import { doctorRoute } from './doctor-route.ts';
import { healthRoutes } from './routes.ts';
import type { BackupStanding } from './warnings.ts';

export function healthModule(
  context: ModuleContext,
  { backups }: { readonly backups: () => Promise<BackupStanding | null> },
): Module & { readonly queueCounts: QueueCounts } {
  const queueCounts = queueCounter(context);
  const health = instanceHealthService({ ...context, queueCounts, backups });
  return { queueCounts, operations: [...healthRoutes(context), instanceHealthRoute(health), doctorRoute(context)] };
}
