/**
 * Limits the memory of request bodies, in all and per caller. Bun buffers up to 2 MiB of each unread body, so thousands
 * at once would add up to gigabytes.
 */
import { AppError } from '../core/error.ts';
import { pool } from '../core/pool.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A body up to this size is never counted: `requestsAtOnce` bounds the sum of small ones. */
export const SMALL_BODY_BYTES = 4 * KIB;

/** The most that Bun buffers of one unread body before it stops reading the socket, rounded up. */
const MOST_BUFFERED_BYTES = 2 * MIB;

/** Charged for a chunked body, of unknown length: usually small, and maybe large. */
const UNDECLARED_BYTES = 256 * KIB;

const RETRY_AFTER_SECONDS = 1;

export interface BodyHold {
  /** Adds to the bytes held. @throws {AppError} unavailable where the pool is full, or the hold was released. */
  take(bytes: number): void;
  /** Releases everything. Idempotent. */
  release(): void;
}

/** Reservation of a finished request: it refuses every further byte. */
export const RELEASED: BodyHold = {
  take() {
    throw bodyPoolFull();
  },
  release() {},
};

export interface BodyPool {
  /** Opens an empty hold. @param caller is limited to its share of the pool. */
  open(caller?: string): BodyHold;
}

/** Creates a pool of at most `maxBytes`. @param perCaller bytes that one caller may hold; all of them by default. */
export function bodyPool(maxBytes: number, perCaller = maxBytes): BodyPool {
  const memory = pool({ total: maxBytes, perKey: perCaller });
  return {
    open(caller) {
      let held = 0;
      let isReleased = false;
      return {
        take(bytes) {
          if (isReleased || !memory.take(caller, bytes)) throw bodyPoolFull();
          held += bytes;
        },
        release() {
          isReleased = true;
          if (held > 0) memory.release(caller, held);
          held = 0;
        },
      };
    },
  };
}

export function bodyPoolFull(): AppError {
  return new AppError('unavailable', { hint: 'too_many_bodies', retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Returns how many bytes Bun may buffer of an unread body; 0 for a small body and for none. */
export function bufferedBytes({ headers }: Request): number {
  const declared = headers.get('content-length');
  if (declared === null) return headers.has('transfer-encoding') ? UNDECLARED_BYTES : 0;
  const bytes = Number(declared);
  return bytes <= SMALL_BODY_BYTES ? 0 : Math.min(bytes, MOST_BUFFERED_BYTES);
}
