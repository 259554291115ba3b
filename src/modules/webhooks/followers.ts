/**
 * Open streams of an application's events, for whoever develops a receiver of webhooks: each is told what is emitted, in
 * order and with the bytes of a delivery, and after a break what it missed. Nothing is registered and nothing is held:
 * a stream reads on from the last event it told.
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
/** Of all callers in the workspaces of one budget. */
const MAX_PER_BUDGET = 200;
const MAX_IN_ALL = 2000;
const EVENTS_READ = 100;
const EVENT_ID = /^evt_[0-9a-z]{26}$/;

/** Who follows which application. */
export interface FollowingEvents {
  readonly applicationId: string;
  /** The budget that the stream counts for. */
  readonly budgetId: string;
  /** The person, or the principal of the key. */
  readonly userId: string;
  /** The last event that the caller has, from a stream before; null for one who begins now. */
  readonly after: string | null;
  /** Throws where the caller may not read it any more. */
  readonly confirm: (reader: Reader) => Promise<void>;
}

interface Follower extends FollowingEvents {
  /** Something may be there to tell, or the stream is to end. */
  wake: () => void;
  isQuiet: boolean;
  isClosed: boolean;
}

export type EventFollowers = ReturnType<typeof eventFollowers>;

/** @param reader through which events are read and callers are judged again. */
export function eventFollowers(reader: Reader) {
  const open = new Set<Follower>();
  const shares = streamShares<Follower>(MAX_IN_ALL, close);

  function close(follower: Follower): void {
    open.delete(follower);
    shares.remove(follower);
    follower.isClosed = true;
    follower.wake();
  }

  /** Judges the caller each time before anything is told. */
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
      const events = await listEventsAfter(reader, applicationId, { after: last, limit: EVENTS_READ });
      for (const event of events) {
        last = event.id;
        // That is meant for one endpoint alone.
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
    /** A stream that begins with `ready`. @throws {AppError} rate_limited, unavailable */
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
          // A slow reader is read for as slowly.
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

    /** Something was emitted in these applications. */
    note(applicationIds: ReadonlySet<string>): void {
      for (const follower of open) {
        if (!applicationIds.has(follower.applicationId)) continue;
        follower.isQuiet = false;
        follower.wake();
      }
    },

    /** Judges every caller again: a right that ends by time leaves no record. */
    heartbeat(): void {
      for (const follower of open) follower.wake();
    },

    closeAll(): void {
      for (const follower of [...open]) close(follower);
    },

    count: () => open.size,
  };
}
