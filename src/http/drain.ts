/**
 * Reads what is left of a body that was refused before all of it was read. A connection that closes with bytes unread is
 * reset, and the reset can overtake the answer: a proxy that writes the whole body first, as nginx does, then makes a 502
 * of a 401 or a 429.
 */
import { freePart } from '../core/buffer.ts';

/** More than any operation takes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Who sends for longer has had the time to read an answer while sending. */
const MAX_MS = 2000;

/**
 * The garbage collector frees what was read later than it arrives, so unbounded drains would grow the process by gigabytes.
 * Beyond these the connection is closed after the answer.
 */
const MOST_AT_ONCE = 8;

/** Of the process, since its memory is. */
let underWay = 0;

/**
 * Awaited before a refusal goes out.
 *
 * @returns whether nothing of the body is left that this side would have to read; else the connection should be closed.
 */
export async function drain({ body }: Request): Promise<boolean> {
  // Locked: somebody has read it, or closes the connection themselves.
  if (body === null || body.locked) return true;
  if (underWay >= MOST_AT_ONCE) {
    // Frees what the runtime has buffered of it.
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
    // The client hung up: nobody reads the answer.
    return false;
  } finally {
    underWay -= 1;
    clearTimeout(timer);
  }
}
