/** Activity of applications and workspaces: lists and live streams. */
import { SECOND } from '../../core/clock.ts';
import { AUDIT_RECORDED } from '../../store/audit.ts';
import { findBudget } from '../../store/budgets.ts';
import { type Module, onCommit, type World } from '../module.ts';
import { activityFollowers, type Followers } from './followers.ts';
import { activityRoutes } from './routes.ts';
import { activityService } from './service.ts';

export function activityModule({ db, keepOpen }: World): Module & { readonly followers: Followers } {
  const followers = activityFollowers(db.reader);
  return {
    followers,
    operations: activityRoutes({
      activity: activityService(db),
      followers,
      budgetOf: (workspaceId) => findBudget(db.reader, workspaceId),
      keepOpen,
    }),
    jobs: [{ name: 'activity streams', everyMs: 15 * SECOND, runOnce: () => followers.heartbeat() }],
    listeners: [onCommit(AUDIT_RECORDED, (records) => followers.publish(records))],
  };
}
