import { SECOND } from '../../core/clock.ts';
import { firstIdAt } from '../../core/id.ts';
import { lateCommitMs } from '../../db/late-commits.ts';
import { POLL_MS, streamTail } from '../../http/stream-tail.ts';
import { KEYS_CHANGED } from '../../store/api-keys.ts';
import { findBudget } from '../../store/budgets.ts';
import { EVENT_EMITTED, EVENT_NOTICED, type EventNotice, listEventNotices } from '../../store/events.ts';
import { SESSIONS_ENDED } from '../../store/sessions.ts';
import { type Module, onCommit, type ModuleContext, onNewsMissed } from '../module.ts';
import type { Verification } from '../verification/service.ts';
import { type Hub, hub } from './hub.ts';
import { liveRoutes } from './routes.ts';

export function liveModule(
  { db, clock }: ModuleContext,
  { verification }: { verification: Verification },
): Module & { readonly hub: Hub } {
  const open = hub(verification.envelopeOf, (workspaceId) => findBudget(db.reader, workspaceId));
  const lateMs = lateCommitMs(db);
  const tail = streamTail<EventNotice>({
    kind: 'event',
    clock,
    lateMs,
    async list(from, limit) {
      const applicationIds = open.applicationIds();
      if (applicationIds.length === 0) return [];
      const notices = await listEventNotices(db.reader, { applicationIds, after: firstIdAt('event', from), limit });
      return notices.filter(open.isFollowed);
    },
    isFollowed: open.isFollowed,
    publish: open.refresh,
    wakeAll: open.refreshAll,
  });
  return {
    hub: open,
    operations: liveRoutes({ hub: open, verification }),
    jobs: [
      { name: 'event streams', everyMs: 15 * SECOND, runOnce: () => open.heartbeat() },
      ...(lateMs === 0 ? [] : [{ name: 'missed news of event streams', everyMs: POLL_MS, runOnce: tail.poll }]),
    ],
    listeners: [
      // In order, events can be sent as they are.
      lateMs === 0
        ? onCommit(EVENT_EMITTED, (events) => open.publish(events))
        : onCommit(EVENT_NOTICED, (notices) => tail.hear(notices)),
      onCommit(KEYS_CHANGED, (keyIds) => open.recheckKeys(keyIds)),
      onCommit(SESSIONS_ENDED, (ended) => open.recheck(ended)),
      onNewsMissed(tail.poll),
    ],
  };
}
