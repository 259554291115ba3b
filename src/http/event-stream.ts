/** Server-sent events on the wire (WHATWG HTML §9.2): messages, heartbeats, and the answer that carries them. */
import type { RequestContext } from './request-context.ts';

const encoder = new TextEncoder();

/** Comment that keeps proxies and readers from taking a quiet stream for a dead one. */
export const HEARTBEAT = encoder.encode(': heartbeat\n\n');

/** Encodes an event. @param id lets the reader resume after this event, where the stream can be resumed. */
export function eventMessage(name: string, data: object, id?: string): Uint8Array {
  return textMessage(name, JSON.stringify(data), id);
}

/** Encodes an event from JSON. @param line sent byte for byte. */
export function textMessage(name: string, line: string, id?: string): Uint8Array {
  const seen = id === undefined ? '' : `id: ${id}\n`;
  return encoder.encode(`${seen}event: ${name}\ndata: ${line}\n\n`);
}

/** @param stream null for headers only. */
export function eventStreamResponse({ headers }: RequestContext, stream: ReadableStream<Uint8Array> | null): Response {
  return new Response(stream, {
    headers: {
      ...headers,
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Keeps a buffering proxy from holding events back.
      'X-Accel-Buffering': 'no',
    },
  });
}
