/** Webhooks: the endpoints of applications, and the deliveries of events to them. */
import { SECOND } from '../../core/clock.ts';
import { workspaceMail } from '../../mail/workspace-mail.ts';
import { DELIVERY_QUEUED } from '../../store/deliveries.ts';
import { type Module, onCommit, type World } from '../module.ts';
import { type Dispatcher, dispatcher } from './dispatcher.ts';
import { DELETE_WEBHOOK } from './removal.ts';
import { webhookRoutes } from './routes.ts';
import { webhookService } from './service.ts';

export function webhooksModule(world: World): Module & { readonly deliveries: Dispatcher } {
  const mails = workspaceMail(world.limits.mailsPerWorkspace);
  const deliveries = dispatcher({ ...world, mails });
  const service = webhookService({ ...world, wake: deliveries.wake });
  return {
    deliveries,
    operations: webhookRoutes(service),
    // Commits wake the dispatcher; the job finds what has become due by time.
    jobs: [{ name: 'deliveries', everyMs: SECOND, runOnce: () => deliveries.wake() }],
    listeners: [onCommit(DELIVERY_QUEUED, (webhookIds) => deliveries.wake(webhookIds))],
    kinds: [DELETE_WEBHOOK],
    start: () => deliveries.start(),
    stop: () => deliveries.stop(),
  };
}
