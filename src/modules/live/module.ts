import { SECOND } from '../../core/clock.ts';
import { KEYS_CHANGED } from '../../store/api-keys.ts';
import { findBudget } from '../../store/budgets.ts';
import { EVENT_EMITTED } from '../../store/events.ts';
import { SESSIONS_ENDED } from '../../store/sessions.ts';
import { type Module, onCommit, type ModuleContext } from '../module.ts';
import type { Verification } from '../verification/service.ts';
import { type Hub, hub } from './hub.ts';
import { liveRoutes } from './routes.ts';

export function liveModule(
  { db }: ModuleContext,
  { verification }: { verification: Verification },
): Module & { readonly hub: Hub } {
  const open = hub(verification.envelopeOf, (workspaceId) => findBudget(db.reader, workspaceId));
  return {
    hub: open,
    operations: liveRoutes({ hub: open, verification }),
    jobs: [{ name: 'event streams', everyMs: 15 * SECOND, runOnce: () => open.heartbeat() }],
    listeners: [
      onCommit(EVENT_EMITTED, (events) => open.publish(events)),
      onCommit(KEYS_CHANGED, (keyIds) => open.recheckKeys(keyIds)),
      onCommit(SESSIONS_ENDED, (ended) => open.recheck(ended)),
    ],
  };
}
