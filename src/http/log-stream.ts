/** Reads a log for an event stream, from a position on, and authorizes the caller before each batch. */
import { AppError } from '../core/error.ts';
import { yieldIfLong } from '../core/event-loop.ts';
import { eventMessage } from './event-stream.ts';
import { type LateRows, recentIds } from './recent-ids.ts';
import type { StreamSource } from './stream-hub.ts';

export const LOG_BATCH = 100;

interface Entry {
  readonly id: string;
}

export interface Beginning<Position> {
  readonly messages: readonly Uint8Array[];
  /** Position to read from, and the id at it; empty for none. */
  readonly position: Position;
  readonly lastId: string;
  /** Ids before the position whose neighbours may still come. */
  readonly recent: readonly string[];
}

export interface Log<Row extends Entry, Position> {
  begin(): Promise<Beginning<Position>>;
  /** Returns up to `LOG_BATCH` entries after a position, in order. */
  list(after: Position): Promise<readonly Row[]>;
  /** Returns entries by id, in order. */
  find(ids: readonly string[]): Promise<readonly Row[]>;
  positionOf(entry: Row): Position;
  /** Returns null for an entry that is not shown. */
  messageOf(entry: Row): Uint8Array | null;
  /** Throws if the caller may no longer read. */
  confirm(): Promise<unknown>;
  /** Null where rows become visible in the order of their ids. */
  readonly late: LateRows | null;
}

export interface LogReader {
  readonly read: StreamSource['read'];
  /** Notices a row of the log, which the reader may have passed before it became visible. */
  notice(id: string): void;
}

/** An AppError of `confirm` is sent as `ended`, the last message. */
export function logReader<Row extends Entry, Position>(log: Log<Row, Position>): LogReader {
  const recent = log.late && recentIds(log.late);
  let place: { readonly position: Position; readonly lastId: string } | null = null;

  /** Returns the rows it has passed, else those that follow. */
  async function next({ position, lastId }: { readonly position: Position; readonly lastId: string }) {
    const passed = recent?.takePassed(lastId) ?? [];
    const isForward = passed.length === 0;
    if (isForward && recent?.isFull()) return { entries: [], isForward };
    if (!isForward) return { entries: await log.find(passed), isForward };
    const entries = await log.list(position);
    recent?.add(entries.map(({ id }) => id));
    return { entries, isForward };
  }

  async function* read(state: Parameters<StreamSource['read']>[0]) {
    if (place === null) {
      const { messages, position, lastId, recent: ids } = await log.begin();
      recent?.add(ids);
      place = { position, lastId };
      yield* messages;
    }
    while (state.isOpen) {
      const { wakes } = state;
      const { entries, isForward } = await next(place);
      try {
        await log.confirm();
      } catch (error) {
        if (error instanceof AppError) yield eventMessage('ended', { error: error.code });
        return true;
      }
      for (const [index, entry] of entries.entries()) {
        // The event that wakes the stream may also have revoked access, so access is checked before each entry.
        if (state.wakes !== wakes) {
          if (!isForward) for (const { id } of entries.slice(index)) recent?.notice(id);
          break;
        }
        if (isForward) place = { position: log.positionOf(entry), lastId: entry.id };
        else recent?.add([entry.id]);
        const message = log.messageOf(entry);
        if (message !== null) yield message;
        const pause = yieldIfLong();
        if (pause) await pause;
      }
      if (state.wakes === wakes && isForward && entries.length < LOG_BATCH) return false;
    }
    return false;
  }

  return { read, notice: (id) => recent?.notice(id) };
}
