/** Limits the open event streams of any kind, per person and per client address. */
import { AppError } from '../core/error.ts';
import { heldPlaces } from './held-places.ts';
import type { LimitSettings } from './limits.ts';
import { addressPrefix } from '../core/ip-address.ts';

const RETRY_AFTER_SECONDS = 15;

export interface StreamOpener {
  readonly userId: string | null;
  readonly ip: string;
}

export interface StreamPlaces {
  /** Takes a slot. @returns the function that releases it; idempotent. @throws {AppError} rate_limited */
  take(opener: StreamOpener): () => void;
}

export type StreamLimits = Pick<LimitSettings, 'streamsPerPerson' | 'streamsPerAddress'>;

export function streamPlaces({ streamsPerPerson, streamsPerAddress }: StreamLimits): StreamPlaces {
  const people = heldPlaces(streamsPerPerson, refusalBy('streams-person'));
  const addresses = heldPlaces(streamsPerAddress, refusalBy('streams-address'));
  return {
    take({ userId, ip }) {
      const leavePerson = userId === null ? null : people(userId);
      try {
        const leaveAddress = addresses(addressPrefix(ip));
        let isLeft = false;
        return () => {
          if (isLeft) return;
          isLeft = true;
          leavePerson?.();
          leaveAddress();
        };
      } catch (error) {
        leavePerson?.();
        throw error;
      }
    },
  };
}

const refusalBy = (limitName: string) => (limit: number) =>
  new AppError('rate_limited', {
    hint: 'too_many_streams',
    limit,
    limitName,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Returns the same stream; `onEnd` is called when its source, its reader or an error ends it. */
export function toldOfEnd(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
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
