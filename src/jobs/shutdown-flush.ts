/** The last flush of a stop: writes counts from memory until a deadline, and logs once which were not written. */
import type { Logger } from 'pino';
import { before, type Deadline, waitUntil } from '../core/deadline.ts';
import type { Unwritten } from '../core/last-batches.ts';

export interface ShutdownFlush {
  /** Name of the counted items for the log, in the plural. */
  readonly of: string;
  /** @returns items not written by the deadline. @throws where the flush failed as a whole. */
  run(deadline: Deadline): Promise<Unwritten>;
}

/** Time reserved for each later flush. */
const RESERVE_MS = 150;

/** Runs the flushes one after the other. Never throws. */
export async function flushOnShutdown(
  flushes: readonly ShutdownFlush[],
  deadline: Deadline,
  log: Logger,
): Promise<void> {
  const unwritten: string[] = [];
  const reasons = new Set<string>();
  for (const [index, { of, run }] of flushes.entries()) {
    const own = before(deadline, (flushes.length - 1 - index) * RESERVE_MS);
    let left: Unwritten | null = null;
    let cause: unknown = null;
    try {
      // Ends a little early, so that its count arrives in time.
      await waitUntil(
        own,
        run(before(own, RESERVE_MS)).then((seen) => void (left = seen)),
      );
    } catch (error) {
      cause = error;
    }
    const { count, ...known } = left ?? { count: null, cause };
    if (count === 0) continue;
    unwritten.push(count === null ? of : `${count} ${of}`);
    reasons.add(known.cause === null ? 'timed out' : messageOf(known.cause));
  }
  if (unwritten.length === 0) return;
  log.warn({ unwritten, reason: [...reasons].join('; ') }, 'the stop could not write everything it had counted');
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
