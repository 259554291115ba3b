/**
 * Frames by which a thread hands a request to the main thread and gets its answer, within the process. Several travel in
 * one message as JSON, which is cheaper than a structured clone. Bodies above a few KiB follow as bytes.
 */
import type { Seen } from '../http/raw-path.ts';

/** Names and values in turn. */
export type FlatHeaders = readonly (readonly [name: string, value: string])[];

/** A small body, one character a byte; true if it follows, null without one. */
export type BodyOfFrame = string | true | null;

export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: FlatHeaders;
  readonly seen: Seen;
  /** Address of the TCP peer; null when it has disconnected. */
  readonly peer: string | null;
  readonly body: BodyOfFrame;
  /** Whether the thread has no memory left for the body. */
  readonly isRefused: boolean;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: FlatHeaders;
  readonly body: BodyOfFrame;
  /** Whether `body` is `true` for one chunk with everything. */
  readonly isWhole: boolean;
}

/** `more` asks for the next chunk of a body, `cancel` for no more; `end` and `failed` end it. */
export type HandOverFrame =
  | readonly [kind: 'request', id: number, head: RequestHead]
  | readonly [kind: 'answer', id: number, head: AnswerHead]
  | readonly [kind: 'more' | 'cancel' | 'end' | 'failed', id: number]
  | readonly [kind: 'keep open', id: number];

/** A chunk of a body. */
export interface Chunk {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Largest body in a frame. */
export const SMALL_BYTES = 16 * 1024;

export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Buffer.from(text, 'latin1');

/** Sends frames to the other thread. */
export interface FrameSender {
  send(frame: HandOverFrame): void;
  /** Sends after the frames before it. */
  sendChunk(id: number, bytes: Uint8Array<ArrayBuffer>): void;
}

/**
 * @param post sends a message, and moves the memory in `transfer` to the receiver.
 * @param schedule calls back soon: frames sent until then share a message.
 */
export function frameSender(
  post: (message: unknown, transfer: ArrayBuffer[]) => void,
  schedule: (flush: () => void) => void,
): FrameSender {
  let waiting: HandOverFrame[] = [];

  function flush(): void {
    if (waiting.length === 0) return;
    const text = JSON.stringify(waiting);
    waiting = [];
    post(text, []);
  }

  return {
    send(frame) {
      if (waiting.push(frame) === 1) schedule(flush);
    },
    sendChunk(id, bytes) {
      flush();
      // Memory that the chunk shares with others must stay here.
      const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      post({ id, bytes: own } satisfies Chunk, [own.buffer]);
    },
  };
}
