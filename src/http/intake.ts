/**
 * Admits requests before anything is known of the caller: limits how many run at once, yields to the event loop between
 * them, and bounds the bodies that wait.
 * A request judged in the callback that brought its head costs no memory, as Bun discards the rest of a refused body.
 * From the next turn on Bun buffers the body, so the bytes that may wait are bounded.
 */
import type { AppError } from '../core/error.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import { type BodyHold, bodyPool, bodyPoolFull, bufferedBytes } from './body-pool.ts';
import { closeAfter } from './close-after.ts';
import { withBodyDrained } from './drain-body.ts';
import type { LimitSettings } from './limits.ts';
import type { Seen, Serve, ServeSome, Settle } from './raw-path.ts';
import { isHealthCheck, requestSlots, tooManyRequests } from './request-slots.ts';
import { requestQueue } from './request-queue.ts';

const MIB = 1024 * 1024;

export interface IntakeOptions {
  readonly limits: Pick<LimitSettings, 'requestsAtOnce' | 'anonymousBodiesMib'>;
  readonly handle: Serve;
  /** Handles what takes no longer than a lookup, and ends it with `settle`; a promise for that would cost as much. */
  readonly handleShort: ServeSome;
  refuse(request: Request, refusal: AppError): Promise<Response>;
}

export interface Intake {
  readonly serve: Serve;
  /** Releases the slot of a request, once its answer may be sent. */
  readonly settle: Settle;
}

export function requestIntake({ limits, handle, handleShort, refuse }: IntakeOptions): Intake {
  const slots = requestSlots(limits.requestsAtOnce);
  const queue = requestQueue();
  const waiting = bodyPool(limits.anonymousBodiesMib * MIB);

  /** Refuses without draining: a full server has no time for a refused body. */
  async function turnAway(request: Request, refusal: AppError): Promise<Response> {
    const response = await refuse(request, refusal);
    // Else Bun would read and discard a body of any length.
    return bufferedBytes(request) > 0 ? closeAfter(response) : response;
  }

  /** Holds a waiting body's bytes; returns null where the pool has no room for them. */
  function waitingHold(request: Request): BodyHold | null {
    const bytes = bufferedBytes(request);
    const held = waiting.open();
    try {
      if (bytes > 0) held.take(bytes);
      return held;
    } catch {
      return null;
    }
  }

  function inTurn(held: BodyHold, ...[request, seen]: Parameters<Serve>): Promise<Response> {
    const run = async () => {
      held.release();
      return handle(request, seen);
    };
    return queue.wait(run, isHealthCheck(request));
  }

  /** Settles a request with its answer, or with its failure. */
  function finished(request: Request, answer: MaybePromise<Response>): MaybePromise<Response> {
    if (answer instanceof Promise) return answer.then((response) => settle(request, response), failed);
    return settle(request, answer);
  }

  function settle(request: Request, answer: Response): MaybePromise<Response> {
    const response = withBodyDrained(answer, request);
    if (response instanceof Promise) return response.finally(slots.leave);
    slots.leave();
    return response;
  }

  function failed(error: unknown): never {
    slots.leave();
    throw error;
  }

  async function later(request: Request, seen: Seen): Promise<Response> {
    const held = waitingHold(request);
    if (held !== null) return finished(request, inTurn(held, request, seen));
    try {
      return await turnAway(request, bodyPoolFull());
    } finally {
      slots.leave();
    }
  }

  return {
    serve(request, seen) {
      if (!slots.enter(request)) return turnAway(request, tooManyRequests());
      if (!queue.isFree()) return later(request, seen);
      return attempt(request, seen);
    },
    settle,
  };

  function attempt(request: Request, seen: Seen): MaybePromise<Response> {
    try {
      return handleShort(request, seen) ?? finished(request, handle(request, seen));
    } catch (error) {
      slots.leave();
      return Promise.reject(error);
    }
  }
}
