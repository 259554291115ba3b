/** Deadlines that the steps of a stop share, measured on a clock that never goes back. */

export interface Deadline {
  /** Milliseconds left; 0 once it has passed. */
  remainingMs(): number;
}

export const NO_DEADLINE: Deadline = { remainingMs: () => Infinity };

export function deadlineIn(ms: number): Deadline {
  const endsAt = performance.now() + ms;
  return { remainingMs: () => Math.max(0, endsAt - performance.now()) };
}

/** Returns a deadline that leaves `reserveMs` of another one to later steps. */
export function before(deadline: Deadline, reserveMs: number): Deadline {
  return { remainingMs: () => Math.max(0, deadline.remainingMs() - reserveMs) };
}

export function earlier(left: Deadline, right: Deadline): Deadline {
  return { remainingMs: () => Math.min(left.remainingMs(), right.remainingMs()) };
}

/** Waits for work until the deadline; late work continues. @returns whether it was in time. @throws its error in time. */
export async function waitUntil({ remainingMs }: Deadline, work: Promise<unknown>): Promise<boolean> {
  const ms = remainingMs();
  if (ms === Infinity) return work.then(() => true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // A timer left running would keep the process of a command alive.
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
