/** Counters of one limit that several threads share, so that the limit is exact across them. */
import { sharedLock } from '../core/shared-lock.ts';
import { type CounterPart, counterMemory, NO_SLOT } from './shared-counter-memory.ts';

export interface SharedUse {
  readonly isAllowed: boolean;
  readonly count: number;
}

export interface StoredCounter {
  readonly subject: string;
  readonly count: number;
}

export type SharedCounters = ReturnType<typeof sharedCounters>;

/**
 * Counts within one window; the first use of the next one drops all counters.
 *
 * @param thread number of the calling thread, from 1.
 */
export function sharedCounters(part: CounterPart, windowMs: number, thread: number) {
  const counters = counterMemory(part);
  const lock = sharedLock(counters.lockWords, thread);
  const findOpen = (subject: string, windowEndsAt: number): number =>
    counters.isOpen(windowEndsAt) ? counters.find(subject) : NO_SLOT;

  return {
    /** Counts one use unless the limit is reached. */
    use: (subject: string, limit: number, windowEndsAt: number): SharedUse =>
      lock.run(() => {
        counters.open(windowEndsAt, windowMs);
        const slot = counters.findOrAdd(subject, 0);
        const count = counters.countOf(slot);
        const isAllowed = count < limit;
        if (isAllowed) counters.setCount(slot, count + 1, limit);
        else counters.settle(slot, limit);
        return { isAllowed, count: isAllowed ? count + 1 : count };
      }),
    /** Takes back one use of the same window. @returns the uses that remain. */
    giveBack: (subject: string, limit: number, windowEndsAt: number): number =>
      lock.run(() => {
        const slot = findOpen(subject, windowEndsAt);
        if (slot === NO_SLOT) return 0;
        counters.setCount(slot, Math.max(0, counters.countOf(slot) - 1), limit);
        return counters.countOf(slot);
      }),
    countOf: (subject: string, windowEndsAt: number): number =>
      lock.run(() => {
        const slot = findOpen(subject, windowEndsAt);
        return slot === NO_SLOT ? 0 : counters.countOf(slot);
      }),
    /** Adds a counter as it was stored, unless it is there. */
    restore: ({ subject, count }: StoredCounter, windowEndsAt: number): void =>
      lock.run(() => {
        counters.open(windowEndsAt, windowMs);
        counters.findOrAdd(subject, count);
      }),
    /** Returns up to `most` counters that were changed since they were taken. */
    takeChanged: (windowEndsAt: number, atMost: number): readonly StoredCounter[] =>
      lock.run(() => {
        const taken: StoredCounter[] = [];
        if (!counters.isOpen(windowEndsAt)) return taken;
        for (const slot of counters.used()) {
          if (taken.length >= atMost) break;
          if (!counters.isChanged(slot)) continue;
          counters.setChanged(slot, false);
          taken.push({ subject: counters.subjectOf(slot), count: counters.countOf(slot) });
        }
        return taken;
      }),
    /** Marks counters that could not be stored. */
    markChanged: (subjects: readonly string[], windowEndsAt: number): void =>
      lock.run(() => {
        for (const subject of subjects) {
          const slot = findOpen(subject, windowEndsAt);
          if (slot !== NO_SLOT) counters.setChanged(slot, true);
        }
      }),
    /** Repairs what a thread left that ended in the middle of a call. */
    recover(ended: number): void {
      if (lock.freeOf(ended)) lock.run(counters.rebuild);
    },
  };
}
