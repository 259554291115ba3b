/** Activity of applications and workspaces: lists and live streams. */
import { SECOND } from '../../core/clock.ts';
import { AUDIT_RECORDED } from '../../store/audit.ts';
import { findBudget } from '../../store/budgets.ts';
import { type Module, onCommit, type ModuleContext } from '../module.ts';
import { activityRoutes } from './routes.ts';
import { activityService } from './service.ts';
import { activityStreams, type ActivityStreams } from './streams.ts';

export function activityModule({ db, clock }: ModuleContext): Module & { readonly streams: ActivityStreams } {
  const streams = activityStreams(db.reader, clock);
  return {
    streams,
    operations: activityRoutes({
      activity: activityService(db),
      streams,
      budgetOf: (workspaceId) => findBudget(db.reader, workspaceId),
    }),
    jobs: [{ name: 'activity streams', everyMs: 15 * SECOND, runOnce: () => streams.heartbeat() }],
    listeners: [onCommit(AUDIT_RECORDED, (records) => streams.publish(records))],
  };
}
