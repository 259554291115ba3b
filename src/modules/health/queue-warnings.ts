/** Warnings about work that is due and does not advance. */
import { HOUR, MINUTE } from '../../core/clock.ts';
import type { MailPriority } from '../../store/mails.ts';
import type { Waiting } from '../../store/queues.ts';

export interface Queues {
  readonly mails: Readonly<Record<MailPriority, Waiting>>;
  readonly deliveries: { readonly queued: Waiting; readonly held: Waiting };
  readonly longWork: Waiting;
}

export const QUEUE_WARNING_CODES = ['mail_waits', 'deliveries_wait', 'long_work_waits'] as const;

export interface QueueWarning {
  readonly code: (typeof QUEUE_WARNING_CODES)[number];
  readonly message: string;
  readonly remedy: string;
}

/** How long due work may wait. Bulk mails get longer, since sending many takes time. */
const PATIENCE_MS: Record<MailPriority | 'delivery' | 'longWork', number> = {
  code: 10 * MINUTE,
  notice: 10 * MINUTE,
  bulk: 2 * HOUR,
  delivery: 15 * MINUTE,
  longWork: 15 * MINUTE,
};

export function queueWarnings({ mails, deliveries, longWork }: Queues, now: number): QueueWarning[] {
  const isDue = ({ dueAt }: Waiting, kind: keyof typeof PATIENCE_MS) =>
    dueAt !== null && now - dueAt > PATIENCE_MS[kind];
  const found: (QueueWarning | false)[] = [
    (['code', 'notice', 'bulk'] as const).some((lane) => isDue(mails[lane], lane)) && {
      code: 'mail_waits',
      message: 'Mails that are due have not been sent for a while.',
      remedy: 'Send a test mail to see what the mail server says, and look at the outbox.',
    },
    isDue(deliveries.queued, 'delivery') && {
      code: 'deliveries_wait',
      message: 'Webhook deliveries that are due have not been sent for a while.',
      remedy: 'Look for endpoints that answer slowly or not at all, and at the log.',
    },
    isDue(longWork, 'longWork') && {
      code: 'long_work_waits',
      message: 'What follows a large change has not come on for a while.',
      remedy: 'Check the log; it continues after a restart.',
    },
  ];
  return found.filter((warning) => warning !== false);
}
