/** Pseudo-random values that are the same at every run, so that two demos show the same. */

export interface Chance {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns a whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** Returns true in `share` of a hundred cases. */
  percent(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Returns a random subset, each item once. */
  some<Item>(items: readonly Item[], count: number): Item[];
}

/** Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function chance(seed: number): Chance {
  let state = seed;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    whole,
    percent: (share) => next() * 100 < share,
    pick: (items) => items[whole(0, items.length - 1)]!,
    some(items, count) {
      const rest = [...items];
      return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(whole(0, rest.length - 1), 1)[0]!);
    },
  };
}
