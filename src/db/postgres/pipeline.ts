/** Statements of one transaction: which are still running, and those that travel with the next one. */
import type { Run } from './driver.ts';
import { isAborted } from './errors.ts';

export type Pipeline = ReturnType<typeof pipelineOn>;

/** @param run sends a statement now; the server runs them in that order. */
export function pipelineOn(run: Run) {
  let running = 0;
  let isPipelined = false;
  /** The first failure of a pipelined statement. */
  let failure: unknown = null;
  /** The first failure of any statement. */
  let first: unknown = null;

  /** Returns why a statement failed. Of those after a failed one the server says only that the transaction was aborted. */
  function reasonOf(error: unknown): unknown {
    first ??= error;
    return isAborted(error) ? first : error;
  }

  function keepFailure(error: unknown): never {
    failure ??= reasonOf(error);
    throw error;
  }

  const counted: Run = async (...statement) => {
    // Kept here and not by the caller: a builder passes a failure on later than a plain statement that follows it.
    if (isPipelined) return run(...statement).catch(keepFailure);
    running += 1;
    try {
      return await run(...statement);
    } catch (error) {
      const reason = reasonOf(error);
      throw failure ?? reason;
    } finally {
      running -= 1;
    }
  };

  return {
    run: counted,
    /** Sends the first statement of `work` and returns. Its failure fails the next statement, or the commit. */
    async pipelined(work: () => Promise<unknown>): Promise<void> {
      isPipelined = true;
      try {
        void work()
          .catch(keepFailure)
          .catch(() => {});
      } finally {
        isPipelined = false;
      }
    },
    /** Runs a part whose failure leaves the transaction as it was before. */
    async savepoint<Result>(part: () => Promise<Result>): Promise<Result> {
      await counted('SAVEPOINT part', []);
      try {
        const result = await part();
        await counted('RELEASE SAVEPOINT part', []);
        return result;
      } catch (error) {
        await run('ROLLBACK TO SAVEPOINT part', []);
        failure = first = null;
        throw error;
      }
    },
    isIdle: () => running === 0,
    /** The first failure of a pipelined statement; null without one. */
    failure: () => failure,
  };
}
