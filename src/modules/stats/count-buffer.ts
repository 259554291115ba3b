/** Sums increments in memory until they are written in batches. Counting never delays the caller. */

const BATCH_ROWS = 250;
/** Maximum number of unwritten counters, some 15 MB; events that would need another one are not counted. */
const MAX_WAITING = 50_000;

type Counted<Counter> = Counter & { count: number };

export interface CountBuffer<Counter> {
  /** @param key identifies the counter; `counter` is kept for a new one. */
  add(key: string, counter: Counter, count?: number): void;
  /** Writes everything counted before the call. What a failed batch holds waits for the next call. */
  flush(): Promise<void>;
}

/** @param write adds to stored counters, each named once. */
export function countBuffer<Counter extends object>(
  write: (counts: readonly Counted<Counter>[]) => Promise<void>,
): CountBuffer<Counter> {
  const waiting = new Map<string, Counted<Counter>>();
  let writing = Promise.resolve();

  /** Keeps what is counted during the write, and every count of a failed batch, for the next one. */
  async function writeAll(): Promise<void> {
    const keys = [...waiting.keys()];
    for (let from = 0; from < keys.length; from += BATCH_ROWS) {
      const batch = keys.slice(from, from + BATCH_ROWS).flatMap((key) => {
        const counter = waiting.get(key);
        return counter ? [{ key, counter, written: { ...counter } }] : [];
      });
      await write(batch.map(({ written }) => written));
      for (const { key, counter, written } of batch) {
        counter.count -= written.count;
        if (counter.count === 0) waiting.delete(key);
      }
    }
  }

  return {
    add(key, counter, count = 1) {
      const known = waiting.get(key);
      if (known) known.count += count;
      else if (waiting.size < MAX_WAITING) waiting.set(key, { ...counter, count });
    },
    flush() {
      writing = writing.catch(() => {}).then(writeAll);
      return writing;
    },
  };
}
