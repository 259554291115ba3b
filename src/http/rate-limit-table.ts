/**
 * The counters of one limit in one window, and who of them makes room where there are too many: whoever has used the least of
 * the limit, for the longest; those who have reached it only when nobody else is left. To be let off by a flood, one who has
 * used much of a limit needs as many others who have used as much, which costs more than it gives.
 */
import { BigMap } from '../core/big-map.ts';

/** What one subject has used. */
export interface Counter {
  readonly subject: string;
  count: number;
  /** Where it stands among those that make room: the power of two in its count. */
  level: number;
  /** Its neighbours there: a set of them would move all it has whenever it grows. */
  before: Counter | null;
  behind: Counter | null;
}

/** Those of one level: who has come to it first stands first. */
interface Level {
  first: Counter | null;
  last: Counter | null;
}

/** Counters of one window. */
export interface CounterTable {
  readonly windowMs: number;
  readonly windowEndsAt: number;
  /** As its uses say: worth a row at a clean stop only. */
  isBrief: boolean;
  readonly size: () => number;
  get(subject: string): Counter | undefined;
  all(): Iterable<Counter>;
  /** @param count as written down before. */
  add(subject: string, count?: number): Counter;
  /** Counts one use more, where the limit is not reached. @returns whether it was not. */
  use(counter: Counter, limit: number): boolean;
  /** To be written down. */
  readonly changed: Set<Counter>;
  /** Lets some hundred go. */
  makeRoom(): void;
}

/** Of those who have reached their limit. */
const SPENT = 31;
/** Let go at a time: a tenth of a millisecond. */
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
      const level = counter.count < limit ? levelOf(counter.count) : SPENT;
      if (level !== counter.level) {
        leave(counter);
        enter(counter, level);
      }
      return isAllowed;
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
