/**
 * Takes in what is left of a body that was answered before all of it was read. A connection that closes with bytes unread is
 * reset, and the reset can overtake the answer: a proxy that writes the whole body first, as nginx does, then makes a 502
 * of a 401 or a 429.
 */
import { freePart } from '../core/buffer.ts';

/** More than any operation takes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Who sends for longer has had the time to read an answer while sending. */
const MAX_MS = 2000;

/**
 * What is taken in is thrown away, but later than it comes. Anybody can send so much of it at once that the process grows by
 * gigabytes: of all beyond these the connection closes as it did before.
 */
const MOST_AT_ONCE = 8;

/** Of the process, since its memory is. */
let underWay = 0;

/** To be awaited before a refusal goes out: until nothing of the request is left, or a bounded part of it has been taken in. */
export async function drain({ body }: Request): Promise<void> {
  if (body === null || body.locked || underWay >= MOST_AT_ONCE) return;
  const reader = body.getReader();
  const timeUp = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeUp.resolve, MAX_MS);
  underWay += 1;
  try {
    for (let taken = 0; taken < MAX_BYTES;) {
      const part = await Promise.race([reader.read(), timeUp.promise]);
      if (part === undefined || part.done) return;
      taken += part.value.byteLength;
      freePart(part.value);
    }
  } catch {
    // The client hung up: nobody reads the answer.
  } finally {
    underWay -= 1;
    clearTimeout(timer);
  }
}
