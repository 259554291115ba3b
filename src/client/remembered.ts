/** Values that are good for a while: a bounded memory, from which the oldest go first. */

const MOST = 10_000;

export interface Remembered<Value> {
  /** A copy, so that nobody changes what others are given. */
  get(key: string): Value | undefined;
  /** @param endsAt when it is good no longer in any case. */
  set(key: string, value: Value, endsAt: string | null): void;
}

/** @param forMs 0 remembers nothing. */
export function rememberer<Value>(forMs: number, now: () => number): Remembered<Value> {
  const kept = new Map<string, { readonly value: Value; readonly from: number; readonly until: number }>();
  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      // A clock that was set back makes nothing last longer.
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
