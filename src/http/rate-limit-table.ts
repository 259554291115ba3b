/**
 * Counters of one limit in one window. If there are too many, the least used are evicted first, then the oldest, and
 * exhausted counters last. To evict a well-used counter, a flood must use as many others as often, which costs more
 * than it gains.
 */
import { BigMap } from '../core/big-map.ts';
import { type Linked, LinkedList } from '../core/linked-list.ts';

/** Linked in its level's list: a `Set` would move all its entries whenever it grows. */
export interface Counter extends Linked<Counter> {
  readonly subject: string;
  count: number;
  /** Eviction level: the power of two in its count. */
  level: number;
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
  const levels = Array.from({ length: SPENT + 1 }, () => new LinkedList<Counter>());
  const levelAt = (level: number) => levels[level] as LinkedList<Counter>;

  function enter(counter: Counter, level: number): void {
    counter.level = level;
    levelAt(level).add(counter);
  }

  /** Moves a counter to the level of its count. */
  function settle(counter: Counter, limit: number): void {
    const level = counter.count < limit ? levelOf(counter.count) : SPENT;
    if (level === counter.level) return;
    levelAt(counter.level).remove(counter);
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
        level.remove(first);
        bySubject.delete(first.subject);
        changed.delete(first);
      }
    },
  };
}

function levelOf(count: number): number {
  return count === 0 ? 0 : 31 - Math.clz32(count);
}
