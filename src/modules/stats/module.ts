/** Daily statistics of applications: counted from commits, and read by management. */
import { SECOND } from '../../core/clock.ts';
import { ALL_WRITTEN } from '../../core/last-batches.ts';
import { AUDIT_RECORDED } from '../../store/audit.ts';
import { DELIVERY_ATTEMPTED } from '../../store/deliveries.ts';
import { MEMBER_SEEN } from '../../store/members.ts';
import { SESSION_SEEN } from '../../store/sessions.ts';
import { LIMIT_REACHED } from '../../store/stats.ts';
import { type Module, onCommit, type ModuleContext } from '../module.ts';
import { type Counts, dailyCounter } from './counts.ts';
import { statsRoutes } from './routes.ts';
import { statsService } from './service.ts';

export function statsModule(context: ModuleContext): Module & { readonly counts: Counts } {
  const counts = dailyCounter(context);
  return {
    counts,
    operations: statsRoutes(statsService(context)),
    jobs: [{ name: 'daily counts', everyMs: 5 * SECOND, runOnce: () => counts.flush() }],
    listeners: [
      onCommit(AUDIT_RECORDED, (records) => records.forEach(counts.recorded)),
      onCommit(MEMBER_SEEN, (seen) => seen.forEach(counts.memberSeen)),
      onCommit(SESSION_SEEN, (seen) => seen.forEach(counts.sessionSeen)),
      onCommit(DELIVERY_ATTEMPTED, (attempts) => attempts.forEach(counts.attempted)),
      onCommit(LIMIT_REACHED, (reached) => reached.forEach(counts.limitReached)),
    ],
    flush: {
      of: 'daily counts',
      async run() {
        await counts.flush();
        return ALL_WRITTEN;
      },
    },
  };
}
