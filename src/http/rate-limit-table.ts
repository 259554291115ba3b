/**
 * The counters of one limit in one window, and who of them makes room where there are too many: whoever has used the least of
 * the limit, for the longest; those who have reached it only when nobody else is left. To be let off by a flood, one who has
 * used much of a limit needs as many others who have used as much, which costs more than it gives.
 */

/** What one subject has used. */
export interface Counter {
  readonly subject: string;
  count: number;
  /** Where it stands among those that make room: the power of two in its count. */
  level: number;
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
  const bySubject = new Map<string, Counter>();
  const changed = new Set<Counter>();
  /** Those who have come to a level first stand first in it. */
  const levels = Array.from({ length: SPENT + 1 }, () => new Set<Counter>());

  function stand(counter: Counter, level: number): void {
    if (counter.level === level) return;
    levels[counter.level]?.delete(counter);
    levels[level]?.add(counter);
    counter.level = level;
  }

  return {
    windowMs,
    windowEndsAt,
    isBrief: false,
    size: () => bySubject.size,
    get: (subject) => bySubject.get(subject),
    all: () => bySubject.values(),
    add(subject, count = 0) {
      const counter: Counter = { subject, count, level: -1 };
      bySubject.set(subject, counter);
      stand(counter, levelOf(count));
      return counter;
    },
    use(counter, limit) {
      const isAllowed = counter.count < limit;
      if (isAllowed) counter.count += 1;
      stand(counter, counter.count < limit ? levelOf(counter.count) : SPENT);
      return isAllowed;
    },
    changed,
    makeRoom() {
      const level = levels.find(({ size }) => size > 0);
      let left = ROOM;
      for (const counter of level ?? []) {
        level?.delete(counter);
        bySubject.delete(counter.subject);
        changed.delete(counter);
        if ((left -= 1) === 0) return;
      }
    },
  };
}

function levelOf(count: number): number {
  return count === 0 ? 0 : 31 - Math.clz32(count);
}
