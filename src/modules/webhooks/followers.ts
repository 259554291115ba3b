/**
 * Streams an application's events to developers of webhook receivers, in order and byte for byte as deliveries.
 * Registers and buffers nothing: a stream reads on from the last event that the client has.
 */
import { AppError } from '../../core/error.ts';
import { TEST_EVENT_TYPE } from '../../core/event.ts';
import { yieldIfLong } from '../../core/turn.ts';
import type { Reader } from '../../db/database.ts';
import { eventMessage, HEARTBEAT, textMessage } from '../../http/event-stream.ts';
import { streamShares } from '../../http/stream-shares.ts';
import { findNewestEventId, listEventsAfter } from '../../store/events.ts';
import { deliveryBody } from './payload.ts';

const MAX_PER_PRINCIPAL = 20;
/** For all callers in the workspaces of one budget. */
const MAX_PER_BUDGET = 200;
const MAX_IN_ALL = 2000;
const EVENTS_READ = 100;
const EVENT_ID = /^evt_[0-9a-z]{26}$/;

export interface FollowingEvents {
  readonly applicationId: string;
  readonly budgetId: string;
  /** The person, or the principal of the key. */
  readonly userId: string;
  /** The last event received, from an earlier stream; null for a new one. */
  readonly after: string | null;
  /** Throws if the caller has lost access. */
  readonly confirm: (reader: Reader) => Promise<void>;
}

interface Follower extends FollowingEvents {
  /** Called when there may be events to send, or the stream is to end. */
  wake: () => void;
  isQuiet: boolean;
  isClosed: boolean;
}

export type EventFollowers = ReturnType<typeof eventFollowers>;

/** @param reader reads events and checks callers again. */
export function eventFollowers(reader: Reader) {
  const open = new Set<Follower>();
  const shares = streamShares<Follower>(MAX_IN_ALL, close);

  function close(follower: Follower): void {
    open.delete(follower);
    shares.remove(follower);
    follower.isClosed = true;
    follower.wake();
  }

  /** Checks the caller's access before each batch of events. */
  async function* messages(follower: Follower): AsyncGenerator<Uint8Array, void, undefined> {
    const { applicationId, confirm } = follower;
    const { after } = follower;
    let last = after !== null && EVENT_ID.test(after) ? after : await findNewestEventId(reader, applicationId);
    yield eventMessage('ready', {});
    while (!follower.isClosed) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      follower.wake = resolve;
      try {
        await confirm(reader);
      } catch (error) {
        if (error instanceof AppError) yield eventMessage('ended', { error: error.code });
        return;
      }
      const events = await listEventsAfter(reader, { applicationId, after: last, limit: EVENTS_READ });
      for (const event of events) {
        last = event.id;
        // Test events are meant for one endpoint only.
        if (event.type !== TEST_EVENT_TYPE) yield textMessage('event', deliveryBody(event), event.id);
        const pause = yieldIfLong();
        if (pause) await pause;
      }
      if (events.length === EVENTS_READ || follower.isClosed) continue;
      follower.isQuiet = true;
      await woken;
      if (follower.isQuiet && !follower.isClosed) yield HEARTBEAT;
    }
  }

  return {
    /** Opens a stream, which begins with `ready`. @throws {AppError} rate_limited, unavailable */
    open(following: FollowingEvents): ReadableStream<Uint8Array> {
      const { budgetId, userId } = following;
      const own = [...open].filter((other) => other.userId === userId);
      if (own.length >= MAX_PER_PRINCIPAL || shares.of(budgetId) >= MAX_PER_BUDGET)
        throw new AppError('rate_limited', { hint: 'too_many_streams', retryAfterSeconds: 15 });
      const follower: Follower = { ...following, wake: () => {}, isQuiet: false, isClosed: false };
      shares.add(follower);
      open.add(follower);
      const told = messages(follower);
      return new ReadableStream<Uint8Array>(
        {
          // Backpressure: events are read only as fast as the client reads them.
          async pull(controller) {
            const { done, value } = await told.next().catch(() => ({ done: true as const, value: undefined }));
            try {
              if (!done) return controller.enqueue(value);
              controller.close();
            } catch {
              // The reader has gone already.
            }
            close(follower);
          },
          cancel: () => close(follower),
        },
        { highWaterMark: 0 },
      );
    },

    /** Wakes the streams of applications that emitted events. */
    note(applicationIds: ReadonlySet<string>): void {
      for (const follower of open) {
        if (!applicationIds.has(follower.applicationId)) continue;
        follower.isQuiet = false;
        follower.wake();
      }
    },

    /** Wakes every stream to check its caller again: no event announces access that expires by time. */
    heartbeat(): void {
      for (const follower of open) follower.wake();
    },

    closeAll(): void {
      for (const follower of [...open]) close(follower);
    },

    count: () => open.size,
  };
}
