/** Describes the queues in words, for a start after a crash and for the doctor. */
import { counted } from '../core/quantities.ts';
import type { Queues } from '../modules/health/queue-warnings.ts';

/** @param since describes how long the oldest item has been due; receives null when none is. */
export function queuesText(
  { mails, deliveries, longWork }: Queues,
  since: (dueAt: number | null) => string = () => '',
): string | null {
  const lanes = [mails.code, mails.notice, mails.bulk];
  const mailsDueAt = lanes.flatMap((lane) => lane.dueAt ?? []);
  const parts: readonly {
    readonly count: number;
    readonly dueAt: number | null;
    readonly noun: string;
    readonly plural?: string;
  }[] = [
    {
      count: lanes.reduce((sum, lane) => sum + lane.count, 0),
      dueAt: mailsDueAt.length > 0 ? Math.min(...mailsDueAt) : null,
      noun: 'mail',
    },
    { ...deliveries.queued, noun: 'webhook delivery', plural: 'webhook deliveries' },
    { ...longWork, noun: 'background task' },
  ];
  const waiting = parts.filter(({ count }) => count > 0);
  if (waiting.length === 0) return null;
  return waiting.map(({ count, dueAt, noun, plural }) => `${counted(count, noun, plural)}${since(dueAt)}`).join(', ');
}
