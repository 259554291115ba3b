/** Server-sent events on the wire (WHATWG HTML §9.2): messages, heartbeats, and the answer that carries them. */
import type { RequestContext } from './request-context.ts';

const encoder = new TextEncoder();

/** A comment: it keeps proxies and readers from taking a quiet stream for a dead one. */
export const HEARTBEAT = encoder.encode(': heartbeat\n\n');

/** @param id what the reader has seen last, where that can be told apart. */
export function eventMessage(name: string, data: object, id?: string): Uint8Array {
  return textMessage(name, JSON.stringify(data), id);
}

/** @param line JSON as it is to arrive, to the byte. */
export function textMessage(name: string, line: string, id?: string): Uint8Array {
  const seen = id === undefined ? '' : `id: ${id}\n`;
  return encoder.encode(`${seen}event: ${name}\ndata: ${line}\n\n`);
}

/** @param stream null for the head of one alone. */
export function eventStreamResponse({ headers }: RequestContext, stream: ReadableStream<Uint8Array> | null): Response {
  return new Response(stream, {
    headers: {
      ...headers,
      'Content-Type': 'text/event-stream; charset=utf-8',
      // A proxy that collects before it passes on would hold changes back.
      'X-Accel-Buffering': 'no',
    },
  });
}
