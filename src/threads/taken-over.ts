/** Answers in the main thread the requests that a thread hands over, as if they had arrived here. */
import type { Serve } from '../http/raw-path.ts';
import { type BodySource, bodySource } from './body-source.ts';
import {
  bytesOf,
  type Chunk,
  type HandOverFrame,
  type FrameSender,
  type RequestHead,
  SMALL_BYTES,
  textOf,
} from './frames.ts';

export interface TakenOverOptions {
  readonly sender: FrameSender;
  readonly serve: Serve;
  /** Refuses a request for whose body the thread has no memory left. */
  readonly refuse: (request: Request) => Promise<Response>;
  /** Turns an error that nothing else has answered into a response. */
  readonly onError: (error: Error) => Response;
  /** Notes the client's address of a request. */
  readonly noteRequest: (request: Request, origin: RequestOrigin) => void;
}

export interface RequestOrigin {
  readonly peer: string | null;
  keepOpen(): void;
}

/** Answer whose body is sent chunk by chunk. */
interface Streamed {
  readonly reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
}

export type TakenOver = ReturnType<typeof takenOver>;

export function takenOver({ sender, serve, refuse, onError, noteRequest }: TakenOverOptions) {
  const bodies = new Map<number, BodySource>();
  const answers = new Map<number, Streamed>();
  let pending = 0;

  function requestOf(id: number, { method, url, headers, body }: RequestHead): Request {
    const source =
      body === true
        ? bodySource(
            () => sender.send(['more', id]),
            () => {
              bodies.delete(id);
              sender.send(['cancel', id]);
            },
          )
        : null;
    if (source) bodies.set(id, source);
    const sent = source ? source.stream : body === null ? null : bytesOf(body as string);
    return new Request(url, { method, headers: headers as [string, string][], body: sent });
  }

  async function answer(id: number, head: RequestHead): Promise<void> {
    const request = requestOf(id, head);
    noteRequest(request, { peer: head.peer, keepOpen: () => sender.send(['keep open', id]) });
    pending += 1;
    try {
      const response = await (head.isRefused ? refuse(request) : serve(request, head.seen));
      await send(id, response);
    } catch (error) {
      await send(id, onError(error as Error));
    } finally {
      pending -= 1;
      bodies.get(id)?.fail(new Error('the request was answered'));
      bodies.delete(id);
    }
  }

  async function send(id: number, response: Response): Promise<void> {
    const { status } = response;
    const headers = [...response.headers];
    if (response.body === null) {
      sender.send(['answer', id, { status, headers, body: null, isWhole: true }]);
    } else if (isStreamed(response)) {
      answers.set(id, { reader: response.body.getReader() as Streamed['reader'] });
      sender.send(['answer', id, { status, headers, body: true, isWhole: false }]);
    } else {
      const bytes = await response.bytes();
      const isSmall = bytes.length <= SMALL_BYTES;
      sender.send(['answer', id, { status, headers, body: isSmall ? textOf(bytes) : true, isWhole: true }]);
      if (!isSmall) sender.sendChunk(id, bytes);
    }
  }

  async function sendMore(id: number, { reader }: Streamed): Promise<void> {
    try {
      const { done, value } = await reader.read();
      if (!answers.has(id)) return;
      if (!done) return sender.sendChunk(id, value);
      sender.send(['end', id]);
    } catch {
      sender.send(['failed', id]);
    }
    answers.delete(id);
  }

  function cancel(id: number): void {
    const streamed = answers.get(id);
    answers.delete(id);
    void streamed?.reader.cancel().catch(() => {});
  }

  return {
    received(frame: HandOverFrame): void {
      const [kind, id] = frame;
      const body = bodies.get(id);
      const streamed = answers.get(id);
      switch (kind) {
        case 'request':
          return void answer(id, frame[2]);
        case 'more':
          return void (streamed && sendMore(id, streamed));
        case 'cancel':
          return cancel(id);
        case 'end':
          bodies.delete(id);
          return body?.end();
        case 'failed':
          bodies.delete(id);
          return body?.fail(new DOMException('The client hung up.', 'AbortError'));
      }
    },
    receivedChunk: ({ id, bytes }: Chunk): void => bodies.get(id)?.chunk(bytes),
    /** Returns the number of requests that are not answered yet. */
    pending: () => pending,
    /** Ends everything that is open, once the thread has ended. */
    abort(): void {
      for (const body of bodies.values()) body.fail(new DOMException('The client hung up.', 'AbortError'));
      bodies.clear();
      for (const id of [...answers.keys()]) cancel(id);
    },
  };
}

/** Returns whether a body may be endless or large; every other one is sent whole. */
function isStreamed({ headers }: Response): boolean {
  return headers.has('content-disposition') || (headers.get('content-type') ?? '').startsWith('text/event-stream');
}
