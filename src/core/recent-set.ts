/** Set of the values added last. */

export interface RecentSet<Value> {
  has(value: Value): boolean;
  /** @returns whether the value is new. */
  add(value: Value): boolean;
}

/** @param limit the oldest values are dropped above it. */
export function recentSet<Value>(limit: number): RecentSet<Value> {
  const values = new Set<Value>();
  return {
    has: (value) => values.has(value),
    add(value) {
      if (values.has(value)) return false;
      values.add(value);
      if (values.size > limit) for (const oldest of values) return values.delete(oldest);
      return true;
    },
  };
}
