/**
 * Sends an endpoint's failed events again, as a background task. An event that has a later delivery is left out, so that
 * replays that overlap, are repeated or are resumed send nothing twice.
 */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { firstIdAt } from '../../core/id.ts';
import type { Database, Reader } from '../../db/database.ts';
import { type BackgroundTask, beginTask } from '../../jobs/background-tasks.ts';
import type { Application } from '../../store/applications.ts';
import { amendAudit, recordAudit } from '../../store/audit.ts';
import { insertDelivery } from '../../store/deliveries.ts';
import { listLongWorksOf } from '../../store/long-works.ts';
import { countFailed, countReplayable, listFailedDeliveries, roomForDeliveries } from '../../store/replays.ts';
import { findWebhook } from '../../store/webhooks.ts';
import type { Replay } from './model.ts';

/** Highest count that is shown. */
export const MOST_COUNTED = 10_000;
/** Maximum number of an endpoint's pending deliveries while a replay adds some: new events wait behind them. */
const MOST_PENDING = 1000;

interface ReplayData {
  readonly webhookId: string;
  readonly since: number;
  /** The time of the request: what fails later is not part of it. */
  readonly until: number;
  readonly recordId: string;
}

const rangeOf = ({ webhookId, since, until }: Omit<ReplayData, 'recordId'>, cursor: string | null = null) => ({
  webhookId,
  after: cursor ?? firstIdAt('delivery', since),
  until: firstIdAt('delivery', until),
});

/** Cursor: the number of events that are sent again, and the last delivery read. */
function positionOf(cursor: string | null): { readonly sent: number; readonly last: string | null } {
  const [sent = '0', last = null] = cursor?.split(' ') ?? [];
  return { sent: Number(sent), last };
}

/** Adds deliveries oldest first, while few are pending. Waits while the endpoint is disabled; quarantine holds them. */
export const REPLAY: BackgroundTask<ReplayData, string> = {
  name: 'replay_deliveries',
  async step(unit, { applicationId, data, cursor }, limit) {
    const { webhookId, since, recordId } = data;
    const webhook = await findWebhook(unit, applicationId, webhookId);
    if (!webhook) return { done: 0, cursor, isFinished: true };
    const { sent, last } = positionOf(cursor);
    const room = webhook.status === 'disabled' ? 0 : await roomForDeliveries(unit, webhookId, MOST_PENDING);
    const size = Math.max(0, Math.min(limit, room));
    const found = await listFailedDeliveries(unit, { ...rangeOf(data, last), limit: size + 1 });
    const isFinished = found.length <= size;
    if (!isFinished && size === 0) return { done: 0, cursor, isFinished, isWaiting: true };
    const failed = found.slice(0, size);
    const rest = failed.filter(({ isSentAgain }) => !isSentAgain);
    for (const { eventId, eventType } of rest) await insertDelivery(unit, { webhookId, eventId, eventType });
    const replayed = sent + rest.length;
    if (rest.length > 0) await amendAudit(unit, recordId, { since: isoTime(since), replayed });
    return { done: failed.length, cursor: `${replayed} ${failed.at(-1)?.id ?? last ?? ''}`, isFinished };
  },
  count: (reader, { data, cursor }) => countFailed(reader, rangeOf(data, positionOf(cursor).last)),
};

/** @throws {AppError} not_found */
async function find(reader: Reader, application: Application, id: string) {
  const webhook = await findWebhook(reader, application.id, id);
  if (!webhook) throw new AppError('not_found');
  return webhook;
}

/** Returns the progress of the endpoint's replay; null if none runs. */
async function runningOf(reader: Reader, application: Application, id: string): Promise<Replay['running']> {
  const works = await listLongWorksOf(reader, REPLAY.name, [application.id]);
  const own = works.find(({ data }) => (data as ReplayData).webhookId === id);
  return own ? { done: own.done, total: own.total } : null;
}

/** @throws {AppError} invalid_request */
function timeOf(since: string, now: number): number {
  const at = Date.parse(since);
  if (Number.isNaN(at) || at > now) throw invalidField('since', 'Give an ISO 8601 time in the past, with a zone.');
  return at;
}

export type Replays = ReturnType<typeof replayService>;

export function replayService({ db, now }: { readonly db: Database; readonly now: () => number }) {
  async function replayable(webhookId: string, since: number): Promise<number> {
    return countReplayable(db.reader, { ...rangeOf({ webhookId, since, until: now() }), limit: MOST_COUNTED });
  }

  return {
    /** Returns how many events a replay would send now. @throws {AppError} not_found, invalid_request */
    async read(application: Application, id: string, { since }: { readonly since?: string }): Promise<Replay> {
      await find(db.reader, application, id);
      const events = since === undefined ? null : await replayable(id, timeOf(since, now()));
      return { events, running: await runningOf(db.reader, application, id) };
    },

    /** Begins a replay. @throws {AppError} not_found, invalid_request; invalid_state if it is disabled or one runs. */
    async start(actor: Actor, application: Application, id: string, since: string): Promise<Replay> {
      await find(db.reader, application, id);
      const at = timeOf(since, now());
      const events = await replayable(id, at);
      return db.write(actor, async (unit) => {
        const webhook = await find(unit, application, id);
        if (webhook.status === 'disabled') throw new AppError('invalid_state', { hint: 'webhook_disabled' });
        if ((await runningOf(unit, application, id)) !== null)
          throw new AppError('invalid_state', { hint: 'replay_running' });
        const recordId = await recordAudit(unit, {
          kind: 'webhook.replayed',
          applicationId: application.id,
          workspaceId: application.workspaceId,
          targetId: id,
          detail: { since: isoTime(at), replayed: 0 },
        });
        const data = { webhookId: id, since: at, until: unit.now, recordId };
        await beginTask(unit, REPLAY, { applicationId: application.id, data });
        return { events, running: await runningOf(unit, application, id) };
      });
    },
  };
}
