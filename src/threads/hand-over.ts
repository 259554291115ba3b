/** Hands requests from a thread to the main thread, with their bodies, and answers their clients. */
import { type BodyPool, bufferedBytes, SMALL_BODY_BYTES } from '../http/body-pool.ts';
import type { Seen } from '../http/raw-path.ts';
import { type BodySource, bodySource } from './body-source.ts';
import {
  type AnswerHead,
  type BodyOfFrame,
  bytesOf,
  type Chunk,
  type HandOverFrame,
  type FrameSender,
  textOf,
} from './frames.ts';
import { yieldToEventLoop } from '../core/event-loop.ts';

export interface HandOverOptions {
  readonly sender: FrameSender;
  readonly peerAddress: (request: Request) => string | null;
  readonly keepOpen: (request: Request) => void;
  /** Bounds the bodies that wait for the main thread. */
  readonly waiting: BodyPool;
}

interface Handed {
  readonly request: Request;
  readonly answer: PromiseWithResolvers<Response>;
  /** Small body that was being read as the request was handed over. */
  readonly early: Promise<Uint8Array<ArrayBuffer>> | null;
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | null;
  release(): void;
  /** Head of an answer whose body comes in one chunk. */
  whole: AnswerHead | null;
  /** Body of the answer while it arrives. */
  source: BodySource | null;
}

export type HandOver = ReturnType<typeof handOver>;

export function handOver({ sender, peerAddress, keepOpen, waiting }: HandOverOptions) {
  const handed = new Map<number, Handed>();
  let count = 0;

  function hold(request: Request): (() => void) | null {
    const bytes = bufferedBytes(request);
    if (bytes === 0) return () => {};
    const held = waiting.open();
    try {
      held.take(bytes);
    } catch {
      return null;
    }
    return () => held.release();
  }

  function respond(id: number, { answer, release }: Handed, response: Response): void {
    release();
    handed.delete(id);
    answer.resolve(response);
  }

  function begin(id: number, one: Handed, head: AnswerHead): void {
    const { status, body, isWhole } = head;
    const init = { status, headers: head.headers as [string, string][] };
    if (body !== true) return respond(id, one, new Response(body === null ? null : bytesOf(body), init));
    if (isWhole) {
      one.whole = head;
      return;
    }
    one.release();
    one.source = bodySource(
      () => sender.send(['more', id]),
      () => {
        handed.delete(id);
        sender.send(['cancel', id]);
      },
    );
    one.answer.resolve(new Response(one.source.stream, init));
  }

  /** Sends the next chunk of a request's body. */
  async function sendMore(id: number, one: Handed): Promise<void> {
    one.release();
    try {
      if (one.early !== null) {
        const bytes = await one.early;
        if (bytes.length > 0) sender.sendChunk(id, bytes);
        return sender.send(['end', id]);
      }
      one.reader ??= one.request.body?.getReader() as Handed['reader'];
      const part = await one.reader?.read();
      if (part === undefined || part.done) sender.send(['end', id]);
      else sender.sendChunk(id, part.value);
    } catch {
      // The client hung up.
      sender.send(['failed', id]);
    }
  }

  async function cancelBody({ early, reader, request }: Handed): Promise<void> {
    if (early === null) await (reader ?? request.body)?.cancel().catch(() => {});
  }

  return {
    async take(request: Request, seen: Seen): Promise<Response> {
      const { method, url } = request;
      const release = hold(request);
      const id = (count += 1);
      // Read now: the address is gone with the connection.
      const peer = peerAddress(request);
      const head = { method, url, headers: [...request.headers], seen, peer };
      const hasBody = method !== 'GET' && method !== 'HEAD' && declaresBody(request);
      const early = hasBody && isSmall(request) && release !== null ? request.bytes() : null;
      const answer = Promise.withResolvers<Response>();
      handed.set(id, {
        request,
        answer,
        early,
        reader: null,
        release: release ?? (() => {}),
        whole: null,
        source: null,
      });
      const body = release === null || !hasBody ? null : early === null ? true : await arrived(early);
      sender.send(['request', id, { ...head, body, isRefused: release === null }]);
      return answer.promise;
    },
    received(frame: HandOverFrame): void {
      const [kind, id] = frame;
      const one = handed.get(id);
      if (one === undefined) return;
      switch (kind) {
        case 'answer':
          return begin(id, one, frame[2]);
        case 'more':
          return void sendMore(id, one);
        case 'cancel':
          return void cancelBody(one);
        case 'keep open':
          return keepOpen(one.request);
        case 'end':
          handed.delete(id);
          return one.source?.end();
        case 'failed':
          handed.delete(id);
          return one.source?.fail(new Error('the answer broke off'));
      }
    },
    receivedChunk({ id, bytes }: Chunk): void {
      const one = handed.get(id);
      if (one?.whole) {
        const { status, headers } = one.whole;
        respond(id, one, new Response(bytes, { status, headers: headers as [string, string][] }));
      } else one?.source?.chunk(bytes);
    },
  };
}

function declaresBody({ headers }: Request): boolean {
  const declared = headers.get('content-length');
  return declared === null ? headers.has('transfer-encoding') : declared !== '0';
}

function isSmall({ headers }: Request): boolean {
  return Number(headers.get('content-length') ?? Infinity) <= SMALL_BODY_BYTES;
}

/** Returns a body that came with its head as text, else true: it is sent when the main thread asks for it. */
async function arrived(early: Promise<Uint8Array>): Promise<BodyOfFrame> {
  early.catch(() => {});
  const bytes = await Promise.race([early.catch(() => null), yieldToEventLoop()]);
  return bytes instanceof Uint8Array ? textOf(bytes) : true;
}
