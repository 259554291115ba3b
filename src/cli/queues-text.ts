/** What waits to be sent or done, in words: at a start after a crash, and for the doctor. */
import { counted } from '../core/quantities.ts';
import type { Queues } from '../modules/health/warnings.ts';

/** @param since says more of what has been due from a time on; null where nothing is. */
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
    { ...longWork, noun: 'long work' },
  ];
  const waiting = parts.filter(({ count }) => count > 0);
  if (waiting.length === 0) return null;
  return waiting.map(({ count, dueAt, noun, plural }) => `${counted(count, noun, plural)}${since(dueAt)}`).join(', ');
}
