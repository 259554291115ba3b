/**
 * Streams an application's events to developers of webhook receivers, in order and byte for byte as deliveries.
 * Registers nothing: a stream reads on from the last event that the client has.
 */
import { TEST_EVENT_TYPE } from '../../core/event.ts';
import type { Reader } from '../../db/database.ts';
import { eventMessage, textMessage } from '../../http/event-stream.ts';
import { LOG_BATCH, logReader } from '../../http/log-stream.ts';
import { streamHub } from '../../http/stream-hub.ts';
import { findNewestEventId, listEventsAfter, type StoredEvent } from '../../store/events.ts';
import { deliveryBody } from './payload.ts';

/** `perBudget` is for all callers in the workspaces of one budget. */
const LIMITS = { total: 2000, perBudget: 200, perSubject: 20 };
const EVENT_ID = /^evt_[0-9a-z]{26}$/;

export interface EventStreamOptions {
  readonly applicationId: string;
  readonly budgetId: string;
  /** The person, or the principal of the key. */
  readonly userId: string;
  /** The last event received, from an earlier stream; null for a new one. */
  readonly after: string | null;
  /** Throws if the caller has lost access. */
  readonly confirm: (reader: Reader) => Promise<void>;
}

export type EventStreams = ReturnType<typeof eventStreams>;

/** @param reader reads events and authorizes callers again. */
export function eventStreams(reader: Reader) {
  const hub = streamHub(LIMITS);
  return {
    /** Opens a stream, which begins with `ready`. @throws {AppError} rate_limited, unavailable */
    open({ applicationId, budgetId, userId, after, confirm }: EventStreamOptions): ReadableStream<Uint8Array> {
      const read = logReader<StoredEvent, string>({
        async begin() {
          const isKnown = after !== null && EVENT_ID.test(after);
          const position = isKnown ? after : await findNewestEventId(reader, applicationId);
          return { position, messages: [eventMessage('ready', {})] };
        },
        list: (last) => listEventsAfter(reader, { applicationId, after: last, limit: LOG_BATCH }),
        positionOf: ({ id }) => id,
        // Test events are meant for one endpoint only.
        messageOf: (event) =>
          event.type === TEST_EVENT_TYPE ? null : textMessage('event', deliveryBody(event), event.id),
        confirm: () => confirm(reader),
      });
      return hub.open({ budgetId, subject: userId, topics: [applicationId], read });
    },

    publish(applicationIds: ReadonlySet<string>): void {
      for (const applicationId of applicationIds) hub.wake(hub.of(applicationId));
    },

    heartbeat: hub.heartbeat,
    closeAll: hub.closeAll,
    count: hub.count,
  };
}
