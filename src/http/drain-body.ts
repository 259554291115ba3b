/**
 * Reads the rest of a refused body. Closing a connection with unread bytes resets it, and the reset can overtake the
 * answer: a proxy that writes the whole body first, as nginx does, then turns a 401 or a 429 into a 502.
 */
import { freePart } from '../core/buffer.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import { closeAfter } from './close-after.ts';

/** More than any operation takes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Time after which a client that still sends has had time to read the answer. */
const MAX_MS = 2000;

/**
 * Limit of concurrent drains: data arrives faster than it is collected, so unbounded drains would grow the process by
 * gigabytes. Beyond it the connection is closed after the answer.
 */
const MOST_AT_ONCE = 8;

/** Counted per process, as its memory is. */
let underWay = 0;

/** Returns the answer, of a refusal after the body is drained. After a success it has been read, or there was none. */
export function withBodyDrained(answer: Response, request: Request): MaybePromise<Response> {
  return answer.status >= 400 ? drained(answer, request) : answer;
}

async function drained(refusal: Response, request: Request): Promise<Response> {
  return (await drainBody(request)) ? refusal : closeAfter(refusal);
}

/** Drains a body before its refusal is sent. @returns whether nothing is left; else close the connection. */
async function drainBody({ body }: Request): Promise<boolean> {
  // Locked: another reader has read it, or closes the connection itself.
  if (body === null || body.locked) return true;
  if (underWay >= MOST_AT_ONCE) {
    // Frees what Bun has buffered of it.
    await body.cancel();
    return false;
  }
  const reader = body.getReader();
  const timeUp = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeUp.resolve, MAX_MS);
  underWay += 1;
  try {
    for (let taken = 0; taken < MAX_BYTES;) {
      const part = await Promise.race([reader.read(), timeUp.promise]);
      if (part === undefined) return false;
      if (part.done) return true;
      taken += part.value.byteLength;
      freePart(part.value);
    }
    return false;
  } catch {
    // The client hung up before the answer.
    return false;
  } finally {
    underWay -= 1;
    clearTimeout(timer);
  }
}
