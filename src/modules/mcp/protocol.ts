/** The main thread's side of `mcp-thread.ts`; the first message starts the thread. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { AppError } from '../../core/error.ts';
import type { FromThread, ToThread } from './mcp-thread.ts';

/** An error in MCP's own codes. */
export class ProtocolError extends Error {
  constructor(
    readonly code: -32602 | -32002,
    message: string,
  ) {
    super(message);
  }
}

/** Answers a method of the protocol with its result as JSON. @throws {ProtocolError} */
export type Answerer = (method: string, params: unknown) => Promise<string>;

export interface Exchange {
  readonly message: unknown;
  readonly headers: Record<string, string>;
  readonly instructions: string;
}

export interface Protocol {
  /** @throws {AppError} unavailable */
  answer(exchange: Exchange, answerer: Answerer): Promise<{ readonly status: number; readonly text: string }>;
  /** Rejects all pending calls with `unavailable`. */
  close(): void;
}

interface Waiting extends PromiseWithResolvers<{ status: number; text: string }> {
  readonly params: unknown;
  readonly answerer: Answerer;
}

/** Bun's worker: `unref()` keeps an idle one from holding the process open. */
type Thread = Worker & { ref(): void; unref(): void };

/** File descriptors that must be free: a worker that gets fewer at its start ends the process. */
const DESCRIPTORS = 16;

export function protocol({ version }: { version: string }): Protocol {
  const waiting = new Map<number, Waiting>();
  let thread: Thread | undefined;
  let count = 0;
  let isClosed = false;

  function start(): Thread {
    probeDescriptors();
    const started = new Worker(new URL('./mcp-thread.ts', import.meta.url).href, {
      ref: false,
    } as WorkerOptions) as Thread;
    started.onmessage = ({ data }: MessageEvent<FromThread>) => take(started, data);
    started.onerror = (event) => {
      if (thread === started) thread = undefined;
      failAll(new Error(`the thread of the agents' protocol failed: ${event.message}`));
    };
    return started;
  }

  function take(from: Thread, data: FromThread): void {
    const asked = waiting.get(data.id);
    if (asked === undefined) return;
    if (data.kind === 'ask') {
      void reply(from, asked, data);
      return;
    }
    waiting.delete(data.id);
    if (waiting.size === 0) from.unref();
    if (data.kind === 'answer') asked.resolve(data);
    else asked.reject(new Error(data.reason));
  }

  /** Rejects the whole call on any error that is not a {@link ProtocolError}. */
  async function reply(to: Thread, asked: Waiting, { id, method }: FromThread & { kind: 'ask' }) {
    let answer: ToThread;
    try {
      answer = { kind: 'result', id, text: await asked.answerer(method, asked.params) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) asked.reject(error);
      const { code, message } = error instanceof ProtocolError ? error : { code: -32603, message: 'Internal error' };
      answer = { kind: 'error', id, code, message };
    }
    // The thread may have ended during the call.
    if (waiting.has(id)) to.postMessage(answer);
  }

  function failAll(reason: Error): void {
    for (const asked of waiting.values()) asked.reject(reason);
    waiting.clear();
  }

  return {
    answer({ message, ...exchange }, answerer) {
      if (isClosed) return Promise.reject(new AppError('unavailable', { hint: 'server_stopping' }));
      const target = (thread ??= start());
      const id = (count += 1);
      const { params } = message as { readonly params?: unknown };
      const asked = { ...Promise.withResolvers<{ status: number; text: string }>(), params, answerer };
      waiting.set(id, asked);
      // Only a busy thread may keep the process alive.
      target.ref();
      target.postMessage({
        kind: 'message',
        id,
        version,
        text: JSON.stringify(message),
        ...exchange,
      } satisfies ToThread);
      return asked.promise;
    },
    close() {
      isClosed = true;
      failAll(new AppError('unavailable', { hint: 'server_stopping' }));
      thread?.terminate();
      thread = undefined;
    },
  };
}

/** @throws {AppError} unavailable */
function probeDescriptors(): void {
  const opened: number[] = [];
  try {
    for (let count = 0; count < DESCRIPTORS; count += 1) opened.push(openSync(devNull, 'r'));
  } catch (cause) {
    throw new AppError('unavailable', { retryAfterSeconds: 1, cause });
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
