/**
 * Streams an application's events to developers of webhook receivers, in order and byte for byte as deliveries.
 * Registers nothing: a stream reads on from the last event that the client has.
 */
import type { Clock } from '../../core/clock.ts';
import { TEST_EVENT_TYPE } from '../../core/event.ts';
import { firstIdAt, timeOfId } from '../../core/id.ts';
import type { Reader } from '../../db/database.ts';
import { eventMessage, textMessage } from '../../http/event-stream.ts';
import { LOG_BATCH, type LogReader, logReader } from '../../http/log-stream.ts';
import { RECENT_READ } from '../../http/recent-ids.ts';
import { streamHub, type StreamSource } from '../../http/stream-hub.ts';
import { streamTail } from '../../http/stream-tail.ts';
import {
  type EventNotice,
  findEvents,
  findNewestEventId,
  listEventIdsAfter,
  listEventNotices,
  listEventsAfter,
  type StoredEvent,
} from '../../store/events.ts';
import { deliveryBody } from './payload.ts';

/** `perBudget` is for all callers in the workspaces of one budget. */
const LIMITS = { total: 2000, perBudget: 200, perSubject: 20 };
const EVENT_ID = /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export interface EventStreamOptions {
  readonly applicationId: string;
  readonly budgetId: string;
  /** The person, or the principal of the key. */
  readonly userId: string;
  /** The session or key of the caller. */
  readonly credentialId: string;
  /** The last event received, from an earlier stream; null for a new one. */
  readonly after: string | null;
  /** Throws if the caller has lost access. */
  readonly confirm: (reader: Reader) => Promise<unknown>;
}

export interface EventStreamParts {
  /** Reads events and authorizes callers again. */
  readonly reader: Reader;
  readonly clock: Clock;
  /** How long after the time in its id an event may become visible. */
  readonly lateMs: number;
}

interface EventStream extends StreamSource, Pick<LogReader, 'notice'> {
  readonly applicationId: string;
  readonly credentialId: string;
}

export type EventStreams = ReturnType<typeof eventStreams>;

export function eventStreams({ reader, clock, lateMs }: EventStreamParts) {
  const hub = streamHub<EventStream>(LIMITS);
  const tail = streamTail<EventNotice>({
    kind: 'event',
    clock,
    lateMs,
    async list(from, limit) {
      const applicationIds = [...new Set(hub.all().map(({ applicationId }) => applicationId))];
      if (applicationIds.length === 0) return [];
      return listEventNotices(reader, { applicationIds, after: firstIdAt('event', from), limit });
    },
    isFollowed: ({ applicationId }) => hub.has(applicationId),
    publish(notices) {
      for (const { id, applicationId } of notices) {
        const streams = hub.of(applicationId);
        for (const stream of streams) stream.notice(id);
        hub.wake(streams);
      }
    },
    wakeAll: () => hub.wake(hub.all()),
  });

  /** A resumed stream repeats what may have come late before its end, rather than lose an event. */
  async function begin(applicationId: string, after: string | null) {
    const messages = [eventMessage('ready', {})];
    if (after !== null && EVENT_ID.test(after)) {
      const position = tail.late === null ? after : firstIdAt('event', timeOfId(after) - lateMs);
      return { position, lastId: position, messages, recent: [] };
    }
    const recent = tail.late === null ? [] : await recentOf(applicationId, tail.late.settledUntil());
    // Read after these, so that an event in between is sent.
    const position = await findNewestEventId(reader, applicationId);
    return { position, lastId: position, messages, recent };
  }

  const recentOf = (applicationId: string, from: number) =>
    listEventIdsAfter(reader, { applicationId, after: firstIdAt('event', from), limit: RECENT_READ });

  return {
    /** Opens a stream, which begins with `ready`. @throws {AppError} rate_limited, unavailable */
    open({ applicationId, budgetId, userId, credentialId, after, confirm }: EventStreamOptions) {
      const { read, notice } = logReader<StoredEvent, string>({
        begin: () => begin(applicationId, after),
        list: (last) => listEventsAfter(reader, { applicationId, after: last, limit: LOG_BATCH }),
        find: (ids) => findEvents(reader, { ids }),
        positionOf: ({ id }) => id,
        // Test events are meant for one endpoint only.
        messageOf: (event) =>
          event.type === TEST_EVENT_TYPE ? null : textMessage('event', deliveryBody(event), event.id),
        confirm: () => confirm(reader),
        late: tail.late,
      });
      return hub.open({
        applicationId,
        credentialId,
        budgetId,
        subject: userId,
        topics: [applicationId, credentialId],
        read,
        notice,
      });
    },

    hear: tail.hear,
    poll: tail.poll,
    callers: () => hub.all().map(({ credentialId }) => credentialId),
    /** Has the streams of a session or key authorize their caller again. */
    recheckCaller: (credentialId: string) => hub.wake(hub.of(credentialId)),
    heartbeat: hub.heartbeat,
    closeAll: hub.closeAll,
    count: hub.count,
  };
}
