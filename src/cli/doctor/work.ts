/** Checks the work of an instance in its database: queues, webhooks in quarantine and limits that were exceeded. */
import { DAY } from '../../core/clock.ts';
import { counted, lasting } from '../../core/quantities.ts';
import type { Reader } from '../../db/database.ts';
import { countQueues } from '../../modules/health/queue-counts.ts';
import { queueWarnings } from '../../modules/health/queue-warnings.ts';
import { countRestingEndpoints, listLimitsReached } from '../../store/operation-metrics.ts';
import { queuesText } from '../queues-text.ts';
import type { DoctorContext, ServerAnswer } from './context.ts';
import { type Finding, findingsOf } from './finding.ts';

const MOST_LIMITS = 4;

export interface WorkOptions extends Pick<DoctorContext, 'now'> {
  /** Whether a server runs on the database; without one a backlog is expected. */
  readonly isServed: boolean;
}

/** @param answer of a server on the database, with what it refused. */
export async function workFindings(
  options: WorkOptions,
  reader: Reader,
  answer: ServerAnswer | null,
): Promise<Finding[]> {
  return [
    ...(await pendingFindings(options, reader)),
    ...(await webhookFindings(reader)),
    ...(await limitFindings(options, reader, answer)),
  ];
}

async function pendingFindings({ now, isServed }: WorkOptions, reader: Reader): Promise<Finding[]> {
  const { ok, warn } = findingsOf('pending');
  const queues = await countQueues(reader);
  const lag = (dueAt: number | null) =>
    dueAt !== null && now() > dueAt + 1000 ? ` (due for ${lasting(now() - dueAt)})` : '';
  const text = queuesText(queues, lag);
  if (text === null) return ok('No work is waiting.');
  const what = `Waiting: ${text}.`;
  const late = isServed ? queueWarnings(queues, now()) : [];
  if (late.length === 0) return ok(what);
  return late.flatMap(({ message, remedy }, index) => warn(index === 0 ? `${what} ${message}` : message, remedy));
}

async function webhookFindings(reader: Reader): Promise<Finding[]> {
  const { ok, warn } = findingsOf('webhooks');
  const { quarantined, disabled } = await countRestingEndpoints(reader);
  const off = disabled > 0 ? ` ${counted(disabled, 'endpoint')} disabled by their owners.` : '';
  if (quarantined === 0) return ok(`No endpoint is in quarantine.${off}`);
  return warn(
    `${counted(quarantined, 'endpoint')} in quarantine after failing for long: their deliveries are held.${off}`,
    'Their owners see the reason under Webhooks in the console, fix the receiver, and release them there.',
  );
}

async function limitFindings({ now }: WorkOptions, reader: Reader, answer: ServerAnswer | null): Promise<Finding[]> {
  const { ok, warn } = findingsOf('limits');
  const today = now() - (now() % DAY);
  const reached = await listLimitsReached(reader, today - DAY);
  const told = (list: readonly { readonly limit: string; readonly count: number }[]) =>
    list
      .toSorted((left, right) => right.count - left.count)
      .slice(0, MOST_LIMITS)
      .map(({ limit, count }) => `${limit} ${count.toLocaleString('en')} times`)
      .join(', ');
  const refusals = answer?.facts?.refusals ?? [];
  if (reached.length === 0 && refusals.length === 0) return ok('No limit was exceeded since yesterday.');
  const parts = [
    reached.length > 0 && `Limits exceeded since yesterday: ${told(reached)}.`,
    refusals.length > 0 && `Since the server’s start: ${told(refusals)}.`,
  ].filter((part) => part !== false);
  return warn(
    parts.join(' '),
    'If the callers were legitimate, raise the limit (GATEHOUSE_LIMIT_…, or the key’s own); see gatehouse help serve.',
  );
}
