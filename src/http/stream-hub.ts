/**
 * Open event streams of one kind. A stream reads on from its own position whenever it is woken, as fast as its client
 * reads: nothing is buffered here. Limits streams per subject and per budget; at the maximum of all, the largest budget
 * loses its oldest stream, which can be reopened.
 */
import { AppError } from '../core/error.ts';
import type { PlainHint } from '../core/error-hints.ts';
import { yieldIfLong } from '../core/event-loop.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import { HEARTBEAT } from './event-stream.ts';

const RETRY_AFTER_SECONDS = 15;

export interface StreamState {
  readonly isOpen: boolean;
  readonly wakes: number;
}

export interface StreamSource {
  readonly budgetId: string;
  /** Topic whose number of streams is limited, such as a session. */
  readonly subject: string;
  /** Further topics by which the stream is found. */
  readonly topics: readonly string[];
  /** Yields what is new, at each wake and once more after closing. Returning true or throwing ends the stream. */
  read(state: StreamState): AsyncGenerator<Uint8Array, boolean | void, undefined>;
}

export interface StreamHubLimits {
  readonly total: number;
  readonly perSubject: number;
  readonly perBudget?: number;
  /** Error text at the limit of a subject or budget. */
  readonly hint?: PlainHint;
}

export interface StreamHub<Source extends StreamSource> {
  /** Registers a stream, which reads nothing until its client does. @throws {AppError} rate_limited, unavailable */
  open(source: Source): ReadableStream<Uint8Array>;
  of(topic: string): readonly Source[];
  has(topic: string): boolean;
  all(): readonly Source[];
  /** Has streams read on shortly afterwards, a few in each turn of the event loop. */
  wake(sources: Iterable<Source>): void;
  /** Wakes every stream, and sends a heartbeat to each. */
  heartbeat(): Promise<void>;
  /** Ends a stream after what it still yields. Idempotent. */
  close(source: Source): void;
  /** Ends all streams for a stop. One that is opened later ends after its first read: requests may still arrive. */
  closeAll(): void;
  count(): number;
}

interface State {
  resume: () => void;
  isOpen: boolean;
  wakes: number;
  isHeartbeatDue: boolean;
}

export function streamHub<Source extends StreamSource>({
  total,
  perSubject,
  perBudget = Infinity,
  hint = 'too_many_streams',
}: StreamHubLimits): StreamHub<Source> {
  const states = new Map<Source, State>();
  const byTopic = groups<Source>();
  /** The oldest stream of each budget first. */
  const byBudget = groups<Source>();
  const due = new Set<Source>();
  let isStopping = false;
  const waking = wakeLoop(
    async () => {
      for (const source of due) {
        due.delete(source);
        states.get(source)?.resume();
        await yieldIfLong();
      }
      return false;
    },
    () => {},
  );

  function close(source: Source): void {
    const state = states.get(source);
    if (!state) return;
    states.delete(source);
    state.isOpen = false;
    byBudget.remove(source.budgetId, source);
    for (const topic of [source.subject, ...source.topics]) byTopic.remove(topic, source);
    state.resume();
  }

  /** Makes room for a budget's stream. @throws {AppError} unavailable if no budget would keep more than this one. */
  function evictFor(budgetId: string): void {
    let largest: ReadonlySet<Source> = new Set();
    for (const streams of byBudget.all()) if (streams.size > largest.size) largest = streams;
    const [oldest] = largest;
    if (!oldest || largest.size <= byBudget.of(budgetId).size + 1)
      throw new AppError('unavailable', { hint: 'too_many_streams' });
    close(oldest);
  }

  async function* messages(source: Source, state: State): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      state.resume = () => {
        state.wakes += 1;
        resolve();
      };
      const { isOpen } = state;
      if ((yield* source.read(state)) || !isOpen) return;
      await woken;
      if (state.isHeartbeatDue && state.isOpen) yield HEARTBEAT;
      state.isHeartbeatDue = false;
    }
  }

  return {
    open(source) {
      const { budgetId, subject, topics } = source;
      if (byTopic.of(subject).size >= perSubject || byBudget.of(budgetId).size >= perBudget)
        throw new AppError('rate_limited', { hint, retryAfterSeconds: RETRY_AFTER_SECONDS });
      if (states.size >= total) evictFor(budgetId);
      const state: State = { resume: () => {}, isOpen: true, wakes: 0, isHeartbeatDue: false };
      states.set(source, state);
      byBudget.add(budgetId, source);
      for (const topic of [subject, ...topics]) byTopic.add(topic, source);
      const sent = messages(source, state);
      if (isStopping) close(source);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { done, value } = await sent.next().catch(() => ({ done: true as const, value: undefined }));
            try {
              if (!done) return controller.enqueue(value);
              controller.close();
            } catch {
              // The client has gone already.
            }
            close(source);
          },
          cancel: () => close(source),
        },
        { highWaterMark: 0 },
      );
    },
    of: (topic) => [...byTopic.of(topic)],
    has: (topic) => byTopic.of(topic).size > 0,
    all: () => [...states.keys()],
    wake(sources) {
      for (const source of sources) due.add(source);
      if (due.size > 0) waking.wake();
    },
    async heartbeat() {
      for (const [source, state] of states) {
        state.isHeartbeatDue = true;
        due.add(source);
      }
      await waking.run();
    },
    close,
    closeAll() {
      isStopping = true;
      for (const source of [...states.keys()]) close(source);
    },
    count: () => states.size,
  };
}

const NONE: ReadonlySet<never> = new Set();

/** Keeps sets of items by key, in order of arrival. */
function groups<Item>() {
  const byKey = new Map<string, Set<Item>>();
  return {
    all: () => byKey.values(),
    of: (key: string): ReadonlySet<Item> => byKey.get(key) ?? NONE,
    add(key: string, item: Item): void {
      const items = byKey.get(key) ?? new Set();
      byKey.set(key, items.add(item));
    },
    remove(key: string, item: Item): void {
      const items = byKey.get(key);
      if (items?.delete(item) && items.size === 0) byKey.delete(key);
    },
  };
}
