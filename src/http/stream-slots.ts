/** Limits the open event streams of any kind, per person and per client address. */
import { AppError } from '../core/error.ts';
import { pool } from '../core/pool.ts';
import type { LimitSettings } from './limits.ts';
import { addressPrefix } from '../core/ip-address.ts';

const RETRY_AFTER_SECONDS = 15;

export interface StreamOpener {
  readonly userId: string | null;
  readonly ip: string;
}

export interface StreamSlots {
  /** Takes a slot. @returns the function that releases it; idempotent. @throws {AppError} rate_limited */
  take(opener: StreamOpener): () => void;
}

export type StreamLimits = Pick<LimitSettings, 'streamsPerPerson' | 'streamsPerAddress'>;

export function streamSlots({ streamsPerPerson, streamsPerAddress }: StreamLimits): StreamSlots {
  const people = pool({ perKey: streamsPerPerson });
  const addresses = pool({ perKey: streamsPerAddress ?? Infinity });
  return {
    take({ userId, ip }) {
      const address = addressPrefix(ip);
      if (userId !== null && people.free(userId) === 0) throw refusalBy('streams-person', streamsPerPerson);
      if (!addresses.take(address)) throw refusalBy('streams-address', streamsPerAddress);
      if (userId !== null) people.add(userId);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        if (userId !== null) people.release(userId);
        addresses.release(address);
      };
    },
  };
}

const refusalBy = (limitName: string, limit: number | null) =>
  new AppError('rate_limited', {
    hint: 'too_many_streams',
    ...(limit !== null && { limit }),
    limitName,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Returns the same stream; `onEnd` is called when its source, its reader or an error ends it. */
export function withEnd(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
