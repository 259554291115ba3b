/** Follows a server-sent event stream (WHATWG HTML §9.2) and reconnects until Ctrl-C or a refusal. */
import { createParser } from 'eventsource-parser';
import { ApiError } from '../../client/errors.ts';
import { apiErrorOf } from '../../client/exchange.ts';
import { recentSet } from '../../core/recent-set.ts';
import type { Target } from './target.ts';
import type { Terminal } from './terminal.ts';

export interface StreamMessage {
  readonly name: string;
  readonly data: string;
  readonly id: string | null;
}

export interface Stream {
  readonly terminal: Terminal;
  readonly target: Target;
  readonly path: string;
  /** Called on each connection; `isAgain` is true after a reconnect. */
  readonly onOpen?: (isAgain: boolean) => unknown;
}

/** Timeout of a silent connection; the server sends a keep-alive every 15 seconds. */
const IDLE_TIMEOUT_MS = 45_000;

/** Messages that a server may repeat after a break, which are yielded once. */
const REPEATED = 5000;
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;

/** Returns true for a refusal that a retry cannot change. */
const isFinal = (status: number) => status >= 400 && status < 500 && status !== 429 && status !== 408;

/** Yields every message except keep-alives. Resumes after a break where the server supports it. @throws {ApiError} */
export async function* follow({
  terminal,
  target,
  path,
  onOpen,
}: Stream): AsyncGenerator<StreamMessage, void, undefined> {
  const { interruption, fetch, wait } = terminal;
  const seen = recentSet<string>(REPEATED);
  let last: string | null = null;
  let isAgain = false;
  let waitMs = FIRST_WAIT_MS;
  while (!interruption.aborted) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), IDLE_TIMEOUT_MS);
    const onData = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), IDLE_TIMEOUT_MS);
    };
    try {
      const response = await fetch(target.url + path, {
        redirect: 'manual',
        signal: AbortSignal.any([interruption, silence.signal]),
        headers: {
          Accept: 'text/event-stream',
          Authorization: `Bearer ${target.key}`,
          ...(last !== null && { 'Last-Event-ID': last }),
        },
      });
      if (!response.ok || !response.body) throw await refusalOf(response);
      for await (const message of messages(response.body, onData)) {
        if (message.id !== null) last = message.id;
        if (message.name === 'ended') throw endOf(message.data);
        if (message.name !== 'ready') {
          if (message.id === null || seen.add(message.id)) yield message;
        } else {
          onOpen?.(isAgain);
          isAgain = true;
          waitMs = FIRST_WAIT_MS;
        }
      }
    } catch (error) {
      if (interruption.aborted) return;
      if (error instanceof ApiError && isFinal(error.status)) throw error;
    } finally {
      clearTimeout(timer);
    }
    if (interruption.aborted) return;
    terminal.err(`The connection to ${target.url} is lost; trying again in ${Math.round(waitMs / 1000)} s.\n`);
    await wait(waitMs, interruption).catch(() => {});
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  return apiErrorOf({ status, body, retryAfterSeconds: undefined });
}

/** Returns the error of a stream that the server ended because the caller lost its rights. */
function endOf(data: string): ApiError {
  const { error: code } = JSON.parse(data) as { error: string };
  const status = code === 'unauthenticated' ? 401 : 403;
  return new ApiError(code, 'This key may not read on.', { status });
}

/** Yields messages as they arrive, without those that have no event name. Comments only call `onData`. */
async function* messages(
  body: AsyncIterable<Uint8Array>,
  onData: () => void,
): AsyncGenerator<StreamMessage, void, undefined> {
  const parsed: StreamMessage[] = [];
  const parser = createParser({
    onEvent({ event: name, data, id = null }) {
      if (name !== undefined) parsed.push({ name, data, id });
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    onData();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* parsed.splice(0);
  }
}
