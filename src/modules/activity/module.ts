/** Activity of applications and workspaces: lists and live streams. */
import { SECOND } from '../../core/clock.ts';
import { POLL_MS } from '../../http/stream-tail.ts';
import { AUDIT_NOTICED } from '../../store/audit.ts';
import { lateCommitMs } from '../../db/late-commits.ts';
import { findBudget } from '../../store/budgets.ts';
import { type Module, onCommit, type ModuleContext, onNewsMissed } from '../module.ts';
import { activityRoutes } from './routes.ts';
import { addressIndexJob, enterAddressesTask } from './search-index.ts';
import { activityService } from './service.ts';
import { activityStreams, type ActivityStreams } from './streams.ts';

export function activityModule({ db, clock }: ModuleContext): Module & { readonly streams: ActivityStreams } {
  const lateMs = lateCommitMs(db);
  const streams = activityStreams(db.reader, clock, lateMs);
  return {
    streams,
    operations: activityRoutes({
      activity: activityService(db),
      streams,
      budgetOf: (workspaceId) => findBudget(db.reader, workspaceId),
    }),
    tasks: [enterAddressesTask],
    jobs: [
      addressIndexJob(db),
      { name: 'activity streams', everyMs: 15 * SECOND, runOnce: () => streams.heartbeat() },
      ...(lateMs === 0 ? [] : [{ name: 'missed news of activity', everyMs: POLL_MS, runOnce: streams.poll }]),
    ],
    listeners: [onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices)), onNewsMissed(streams.poll)],
  };
}
