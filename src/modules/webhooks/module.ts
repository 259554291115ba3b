import { SECOND } from '../../core/clock.ts';
import { lateCommitMs } from '../../db/late-commits.ts';
import { POLL_MS } from '../../http/stream-tail.ts';
import { workspaceMail } from '../../mail/workspace-mail.ts';
import { findBudget } from '../../store/budgets.ts';
import { DELIVERY_QUEUED } from '../../store/deliveries.ts';
import { EVENT_NOTICED } from '../../store/events.ts';
import { type Module, onCommit, type ModuleContext, onNewsMissed } from '../module.ts';
import type { AttemptDependencies } from './attempt.ts';
import { type Dispatcher, dispatcher } from './dispatcher.ts';
import { type EventStreams, eventStreams } from './event-streams.ts';
import { DROP_HELD, heldEventsJob } from './held-retention.ts';
import { DELETE_WEBHOOK } from './deletion.ts';
import { REPLAY, replayService } from './replay.ts';
import { webhookRoutes } from './routes.ts';
import { type Webhooks, webhookService } from './service.ts';

export type WebhooksModuleDependencies = Pick<AttemptDependencies, 'logoutToken'>;

export function webhooksModule(
  context: ModuleContext,
  { logoutToken }: WebhooksModuleDependencies,
): Module & { readonly service: Webhooks; readonly deliveries: Dispatcher; readonly streams: EventStreams } {
  const mails = workspaceMail(context.limits.mailsPerWorkspace);
  const { db, clock } = context;
  const deliveries = dispatcher({ ...context, mails, logoutToken });
  const lateMs = lateCommitMs(db);
  const streams = eventStreams({ reader: db.reader, clock, lateMs });
  const service = webhookService({ ...context, wake: deliveries.wake });
  return {
    service,
    deliveries,
    streams,
    operations: webhookRoutes(service, replayService({ db, now: clock.now }), {
      streams,
      budgetOf: (workspaceId) => findBudget(db.reader, workspaceId),
    }),
    // Commits wake the dispatcher; the job finds deliveries due by time, and those of a dead instance.
    jobs: [
      { name: 'deliveries', everyMs: SECOND, runOnce: () => deliveries.wake() },
      { name: 'delivery leases', everyMs: 2 * SECOND, runOnce: () => deliveries.renewLeases() },
      heldEventsJob({ ...context, mails }),
      { name: 'streams of events', everyMs: 15 * SECOND, runOnce: () => streams.heartbeat() },
      ...(lateMs === 0 ? [] : [{ name: 'missed news of events', everyMs: POLL_MS, runOnce: streams.poll }]),
    ],
    listeners: [
      onCommit(DELIVERY_QUEUED, (webhookIds) => deliveries.wake(webhookIds)),
      onCommit(EVENT_NOTICED, (notices) => streams.hear(notices)),
      onNewsMissed(streams.poll),
    ],
    tasks: [DELETE_WEBHOOK, DROP_HELD, REPLAY],
    start: () => deliveries.start(),
    stop: () => deliveries.stop(),
  };
}
