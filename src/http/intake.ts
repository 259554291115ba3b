/**
 * Takes requests in, before anything is known of the caller: bounds how many are answered at once, lets the event loop turn
 * between them, and bounds the bodies that wait meanwhile.
 *
 * A request judged in the callback that brought its head costs no memory: the runtime discards the rest of a refused body as
 * it arrives. From the next turn on it buffers the body, so only so many bytes may wait for one.
 */
import type { AppError } from '../core/error.ts';
import { bodyRoom, bufferedBytes, noBodyRoom } from './body-room.ts';
import { drain } from './drain.ts';
import type { LimitSettings } from './limits.ts';
import type { Serve } from './raw-path.ts';
import { isHealthCheck, noRoom, requestRoom } from './request-room.ts';
import { turnTaker } from './turns.ts';

const MIB = 1024 * 1024;

export interface IntakeOptions {
  readonly limits: Pick<LimitSettings, 'requestsAtOnce' | 'strangersBodiesMib'>;
  readonly handle: Serve;
  /** Answers a request that is not looked at. */
  refuse(request: Request, refusal: AppError): Promise<Response>;
}

export function requestIntake({ limits, handle, refuse }: IntakeOptions): Serve {
  const room = requestRoom(limits.requestsAtOnce);
  const turns = turnTaker();
  const waiting = bodyRoom(limits.strangersBodiesMib * MIB);

  async function turnAway(request: Request, refusal: AppError): Promise<Response> {
    const response = await refuse(request, refusal);
    if (bufferedBytes(request) > 0) closeAfter(response);
    return response;
  }

  /** Waits for a turn where the bodies that wait leave room. */
  function later(...[request, seen]: Parameters<Serve>): Promise<Response> {
    const bytes = bufferedBytes(request);
    const held = waiting.open();
    try {
      if (bytes > 0) held.take(bytes);
    } catch {
      return turnAway(request, noBodyRoom());
    }
    return turns.wait(() => {
      held.release();
      return handle(request, seen);
    }, isHealthCheck(request));
  }

  return async (request, seen) => {
    if (!room.enter(request)) return turnAway(request, noRoom());
    try {
      const response = await (turns.isFree() ? handle(request, seen) : later(request, seen));
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
