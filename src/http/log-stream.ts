/** Reads a log for an event stream, from a position on, and authorizes the caller before each batch. */
import { AppError } from '../core/error.ts';
import { yieldIfLong } from '../core/event-loop.ts';
import { eventMessage } from './event-stream.ts';
import type { StreamSource } from './stream-hub.ts';

export const LOG_BATCH = 100;

export interface Log<Entry, Position> {
  /** Returns the first messages, and the position to read from. */
  begin(): Promise<{ readonly messages: readonly Uint8Array[]; readonly position: Position }>;
  /** Returns up to `LOG_BATCH` entries after a position, in order. */
  list(after: Position): Promise<readonly Entry[]>;
  positionOf(entry: Entry): Position;
  /** Returns null for an entry that is not shown. */
  messageOf(entry: Entry): Uint8Array | null;
  /** Throws if the caller may no longer read. */
  confirm(): Promise<void>;
}

/** Returns the `read` of a stream. An AppError of `confirm` is sent as `ended`, the last message. */
export function logReader<Entry, Position>(log: Log<Entry, Position>): StreamSource['read'] {
  let position: { readonly at: Position } | null = null;
  return async function* read(state) {
    if (position === null) {
      const first = await log.begin();
      position = { at: first.position };
      yield* first.messages;
    }
    while (state.isOpen) {
      const { wakes } = state;
      const entries = await log.list(position.at);
      try {
        await log.confirm();
      } catch (error) {
        if (error instanceof AppError) yield eventMessage('ended', { error: error.code });
        return true;
      }
      for (const entry of entries) {
        // The event that wakes the stream may also have revoked access, so access is checked before each entry.
        if (state.wakes !== wakes) break;
        position = { at: log.positionOf(entry) };
        const message = log.messageOf(entry);
        if (message !== null) yield message;
        const pause = yieldIfLong();
        if (pause) await pause;
      }
      if (state.wakes === wakes && entries.length < LOG_BATCH) return false;
    }
    return false;
  };
}
