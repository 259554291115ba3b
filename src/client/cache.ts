/** A bounded in-memory cache with a time to live; evicts the oldest entries first. */

const MOST = 10_000;

export interface Cache<Value> {
  /** Returns a copy, so that callers cannot change the cached value. */
  get(key: string): Value | undefined;
  /** @param endsAt time at which the entry expires in any case. */
  set(key: string, value: Value, endsAt: string | null): void;
}

/** @param forMs time to live in milliseconds; 0 disables the cache. */
export function cache<Value>(forMs: number, now: () => number): Cache<Value> {
  const kept = new Map<string, { readonly value: Value; readonly from: number; readonly until: number }>();
  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      // An entry from the future means the clock was set back: it expires too, so that nothing lasts longer.
      if (now() >= entry.from && now() < entry.until) return structuredClone(entry.value);
      kept.delete(key);
      return undefined;
    },
    set(key, value, endsAt) {
      if (!(forMs > 0)) return;
      const from = now();
      const until = Math.min(from + forMs, endsAt === null ? Infinity : Date.parse(endsAt));
      kept.delete(key);
      for (const oldest of kept.keys()) if (kept.size < MOST || !kept.delete(oldest)) break;
      kept.set(key, { value: structuredClone(value), from, until });
    },
  };
}
