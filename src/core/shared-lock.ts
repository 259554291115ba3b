/** Lock in shared memory, for sections of a microsecond that several threads enter. */

/** The word holds the number of the thread that is in a section. */
const FREE = 0;
/** Attempts before a thread sleeps: a section is usually over by then. */
const SPINS = 200;
/** Longest sleep between two attempts, while the holder's thread waits for a processor. */
const SLEEP_MS = 1;

export interface SharedLock {
  /** Runs a section that no other thread is in. It must not await. */
  run<Result>(section: () => Result): Result;
  /** Frees the lock of a thread that ended within the section. @returns whether it had held it. */
  freeOf(thread: number): boolean;
}

/**
 * @param words memory of one word, zero at first.
 * @param thread number of the calling thread, from 1.
 */
export function sharedLock(words: Int32Array, thread: number): SharedLock {
  function enter(): void {
    for (let spins = 0; ; spins += 1) {
      const holder = Atomics.compareExchange(words, 0, FREE, thread);
      if (holder === FREE) return;
      if (spins >= SPINS) Atomics.wait(words, 0, holder, SLEEP_MS);
    }
  }

  return {
    run(section) {
      enter();
      try {
        return section();
      } finally {
        Atomics.store(words, 0, FREE);
      }
    },
    freeOf: (ended) => Atomics.compareExchange(words, 0, ended, FREE) === ended,
  };
}
