import { SECOND } from '../../core/clock.ts';
import { workspaceMail } from '../../mail/workspace-mail.ts';
import { findBudget } from '../../store/budgets.ts';
import { DELIVERY_QUEUED } from '../../store/deliveries.ts';
import { EVENT_EMITTED } from '../../store/events.ts';
import { type Module, onCommit, type ModuleContext } from '../module.ts';
import { type Dispatcher, dispatcher } from './dispatcher.ts';
import { type EventStreams, eventStreams } from './event-streams.ts';
import { DROP_HELD, heldEventsJob } from './held-retention.ts';
import { DELETE_WEBHOOK } from './deletion.ts';
import { webhookRoutes } from './routes.ts';
import { type Webhooks, webhookService } from './service.ts';

export function webhooksModule(
  context: ModuleContext,
): Module & { readonly service: Webhooks; readonly deliveries: Dispatcher; readonly streams: EventStreams } {
  const mails = workspaceMail(context.limits.mailsPerWorkspace);
  const deliveries = dispatcher({ ...context, mails });
  const streams = eventStreams(context.db.reader);
  const service = webhookService({ ...context, wake: deliveries.wake });
  return {
    service,
    deliveries,
    streams,
    operations: webhookRoutes(service, {
      streams,
      budgetOf: (workspaceId) => findBudget(context.db.reader, workspaceId),
    }),
    // Commits wake the dispatcher; the job finds deliveries due by time, and those of a dead instance.
    jobs: [
      { name: 'deliveries', everyMs: SECOND, runOnce: () => deliveries.wake() },
      { name: 'delivery leases', everyMs: 2 * SECOND, runOnce: () => deliveries.renewLeases() },
      heldEventsJob({ ...context, mails }),
      { name: 'streams of events', everyMs: 15 * SECOND, runOnce: () => streams.heartbeat() },
    ],
    listeners: [
      onCommit(DELIVERY_QUEUED, (webhookIds) => deliveries.wake(webhookIds)),
      onCommit(EVENT_EMITTED, (events) => streams.publish(new Set(events.map(({ applicationId }) => applicationId)))),
    ],
    tasks: [DELETE_WEBHOOK, DROP_HELD],
    start: () => deliveries.start(),
    stop: () => deliveries.stop(),
  };
}
