/**
 * Counters of one limit in one window. If there are too many, the least used are evicted first, then the oldest, and
 * exhausted counters last. To evict a well-used counter, a flood must use as many others as often, which costs more
 * than it gains.
 */
import { BigMap } from '../core/big-map.ts';

export interface Counter {
  readonly subject: string;
  count: number;
  /** Eviction level: the power of two in its count. */
  level: number;
  /** Neighbours in the level's list: a `Set` would move all its entries whenever it grows. */
  before: Counter | null;
  behind: Counter | null;
}

/** List in order of arrival. */
interface Level {
  first: Counter | null;
  last: Counter | null;
}

export interface CounterTable {
  readonly windowMs: number;
  readonly windowEndsAt: number;
  /** Whether to store it only at a clean stop; taken from the bucket at each use. */
  isBrief: boolean;
  readonly size: () => number;
  get(subject: string): Counter | undefined;
  all(): Iterable<Counter>;
  /** Adds a counter. @param count as stored before. */
  add(subject: string, count?: number): Counter;
  /** Counts one use unless the limit is reached. @returns whether it was counted. */
  use(counter: Counter, limit: number): boolean;
  /** Takes back one use. */
  giveBack(counter: Counter, limit: number): void;
  readonly changed: Set<Counter>;
  /** Evicts up to 250 counters. */
  makeRoom(): void;
}

/** Level of counters that have reached their limit. */
const SPENT = 31;
/** Counters evicted at a time, in a tenth of a millisecond. */
const ROOM = 250;

export function counterTable({
  windowMs,
  windowEndsAt,
}: Pick<CounterTable, 'windowMs' | 'windowEndsAt'>): CounterTable {
  const bySubject = new BigMap<Counter>();
  const changed = new Set<Counter>();
  const levels = Array.from({ length: SPENT + 1 }, (): Level => ({ first: null, last: null }));

  function leave(counter: Counter): void {
    const { before, behind } = counter;
    const level = levels[counter.level] as Level;
    if (before) before.behind = behind;
    else level.first = behind;
    if (behind) behind.before = before;
    else level.last = before;
  }

  function enter(counter: Counter, at: number): void {
    const level = levels[at] as Level;
    counter.level = at;
    counter.before = level.last;
    counter.behind = null;
    if (level.last) level.last.behind = counter;
    else level.first = counter;
    level.last = counter;
  }

  /** Moves a counter to the level of its count. */
  function settle(counter: Counter, limit: number): void {
    const level = counter.count < limit ? levelOf(counter.count) : SPENT;
    if (level === counter.level) return;
    leave(counter);
    enter(counter, level);
  }

  return {
    windowMs,
    windowEndsAt,
    isBrief: false,
    size: () => bySubject.size,
    get: (subject) => bySubject.get(subject),
    all: () => bySubject.values(),
    add(subject, count = 0) {
      const counter: Counter = { subject, count, level: 0, before: null, behind: null };
      bySubject.set(subject, counter);
      enter(counter, levelOf(count));
      return counter;
    },
    use(counter, limit) {
      const isAllowed = counter.count < limit;
      if (isAllowed) counter.count += 1;
      settle(counter, limit);
      return isAllowed;
    },
    giveBack(counter, limit) {
      counter.count = Math.max(0, counter.count - 1);
      settle(counter, limit);
    },
    changed,
    makeRoom() {
      const level = levels.find(({ first }) => first !== null);
      for (let left = ROOM; level?.first && left > 0; left -= 1) {
        const { first } = level;
        leave(first);
        bySubject.delete(first.subject);
        changed.delete(first);
      }
    },
  };
}

function levelOf(count: number): number {
  return count === 0 ? 0 : 31 - Math.clz32(count);
}
