/**
 * Takes requests in, before anything is known of the caller: bounds how many are answered at once, lets the event loop turn
 * between them, and bounds the bodies that wait meanwhile.
 *
 * A request judged in the callback that brought its head costs no memory: the runtime discards the rest of a refused body as
 * it arrives. From the next turn on it buffers the body, so only so many bytes may wait for one.
 */
import type { AppError } from '../core/error.ts';
import { type BodyHold, bodyPool, bodyPoolFull, bufferedBytes } from './body-pool.ts';
import { drain } from './drain.ts';
import type { LimitSettings } from './limits.ts';
import type { Serve } from './raw-path.ts';
import { isHealthCheck, noRoom, requestRoom } from './request-room.ts';
import { turnTaker } from './turns.ts';

const MIB = 1024 * 1024;

export interface IntakeOptions {
  readonly limits: Pick<LimitSettings, 'requestsAtOnce' | 'anonymousBodiesMib'>;
  readonly handle: Serve;
  /** Answers a request that is not looked at. */
  refuse(request: Request, refusal: AppError): Promise<Response>;
}

export function requestIntake({ limits, handle, refuse }: IntakeOptions): Serve {
  const room = requestRoom(limits.requestsAtOnce);
  const turns = turnTaker();
  const waiting = bodyPool(limits.anonymousBodiesMib * MIB);

  /** Without draining: a server that is full has no time for a body it refuses. */
  async function turnAway(request: Request, refusal: AppError): Promise<Response> {
    const response = await refuse(request, refusal);
    if (bufferedBytes(request) > 0) closeAfter(response);
    return response;
  }

  /** Null where the bodies that wait already leave no room for this one. */
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
    const run = () => {
      held.release();
      return handle(request, seen);
    };
    return turns.wait(run, isHealthCheck(request));
  }

  return async (request, seen) => {
    if (!room.enter(request)) return turnAway(request, noRoom());
    try {
      const held = turns.isFree() ? undefined : waitingHold(request);
      if (held === null) return await turnAway(request, bodyPoolFull());
      const response = await (held === undefined ? handle(request, seen) : inTurn(held, request, seen));
      // A body that is answered with success has been read, or is none.
      if (response.status >= 400 && !(await drain(request))) closeAfter(response);
      return response;
    } finally {
      room.leave();
    }
  };
}

/** The runtime would go on reading, and discarding, a body of any length. */
function closeAfter(response: Response): void {
  response.headers.set('Connection', 'close');
}
