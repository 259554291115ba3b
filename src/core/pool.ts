/**
 * Concurrency limits shared fairly among keys, such as tenants: slots in all, slots of one key, and slots reserved for
 * keys that hold none, so that a few stalled tenants never take everything.
 */

export interface PoolOptions {
  /** Slots in all; unlimited by default. */
  readonly total?: number;
  /** Slots of one key; all by default. */
  readonly perKey?: number;
  /** Slots that only the first slot of a key may use. */
  readonly reserved?: number;
  /** Longest wait of `run` in milliseconds; unlimited by default. */
  readonly waitMs?: number;
  /** Calls of `run` that may wait for each key; unlimited by default. */
  readonly waitingPerKey?: number;
  /** Makes the error of `run` where no slot becomes free in time, or too many calls wait already. */
  readonly refusal?: () => Error;
}

/** Lets a key use a quarter of the slots, and reserves a quarter for the first slots of keys that hold none. */
export function fairShares(total: number): Pick<PoolOptions, 'total' | 'perKey' | 'reserved'> {
  const quarter = Math.ceil(total / 4);
  return { total, perKey: quarter, reserved: quarter };
}

/** Slots by key. Slots without a key count only in the total. */
export interface Pool {
  /** Returns how many more slots the key may take. */
  free(key?: string): number;
  /** Takes slots if they are free. @returns whether they were. */
  take(key?: string, count?: number): boolean;
  /** Takes slots even beyond the limits. */
  add(key?: string, count?: number): void;
  release(key?: string, count?: number): void;
  /** Returns how many slots the key holds. */
  of(key: string): number;
  readonly used: number;
  /** Calls of `run` that wait for a slot. */
  readonly waiting: number;
  /**
   * Does the work in a slot of the key; calls of a key wait in order. @param longestMs shortens the longest wait.
   * @throws `refusal`, without starting the work
   */
  run<Result>(key: string, work: () => Promise<Result>, longestMs?: number): Promise<Result>;
}

interface Waiter {
  readonly key: string;
  readonly begin: () => void;
}

export function pool({
  total = Infinity,
  perKey = total,
  reserved = 0,
  waitMs = Infinity,
  waitingPerKey = Infinity,
  refusal = () => new Error('no slot is free'),
}: PoolOptions): Pool {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let used = 0;

  const of = (key: string) => held.get(key) ?? 0;

  function free(key?: string): number {
    if (key === undefined) return Math.max(0, total - used);
    const own = of(key);
    const first = own === 0 ? 1 : 0;
    const beyondFirst = reserved === 0 ? total : Math.max(0, total - reserved - (used - held.size));
    return Math.max(0, Math.min(perKey - own, total - used, first + beyondFirst));
  }

  function add(key?: string, count = 1): void {
    if (key !== undefined) held.set(key, of(key) + count);
    used += count;
  }

  function take(key?: string, count = 1): boolean {
    if (free(key) < count) return false;
    add(key, count);
    return true;
  }

  function release(key?: string, count = 1): void {
    used -= count;
    if (key !== undefined) {
      const left = of(key) - count;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    }
    if (waiting.size === 0) return;
    for (const waiter of waiting) {
      if (!take(waiter.key)) continue;
      waiting.delete(waiter);
      waiter.begin();
    }
  }

  /** Waits for a slot behind the calls that wait for the same key. */
  async function wait(key: string, longestMs: number): Promise<void> {
    if ([...waiting].filter((waiter) => waiter.key === key).length >= waitingPerKey) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { key, begin: resolve };
    waiting.add(waiter);
    const giveUp = () => {
      waiting.delete(waiter);
      reject(refusal());
    };
    const timer = longestMs === Infinity ? undefined : setTimeout(giveUp, longestMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    free,
    take,
    add,
    release,
    of,
    get used() {
      return used;
    },
    get waiting() {
      return waiting.size;
    },
    async run(key, work, longestMs = waitMs) {
      if (!take(key)) await wait(key, Math.min(waitMs, longestMs));
      try {
        return await work();
      } finally {
        release(key);
      }
    },
  };
}
