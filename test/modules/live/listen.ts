/** A reader of an event stream inside the test process, which reads everything at once. */
import type { Instance } from '../../support/instance.ts';
import { turns } from '../../support/turns.ts';

export interface Message {
  readonly event: string;
  // biome-ignore lint: messages are checked by the test that listens.
  readonly data: any;
}

export interface Listening {
  readonly status: number;
  readonly headers: Headers;
  /** Returns the messages since the last call, in order. */
  told(): Promise<Message[]>;
  /** Returns everything received, unparsed. */
  text(): string;
  isClosed(): boolean;
  /** Disconnects, as a closed tab does. */
  leave(): Promise<void>;
}

/** Time after which nothing comes any more. */
const SILENCE_MS = 50;

export const PATH = '/api/v1/session/events';

export function streamRequest(token: string | undefined, method = 'GET'): Request {
  return new Request(`http://localhost${PATH}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

export async function listen({ app }: Pick<Instance, 'app'>, token: string): Promise<Listening> {
  return follow(await app.fetch(streamRequest(token)));
}

export function follow(response: Response): Listening {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let seen = 0;
  let isClosed = false;
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    isClosed = true;
  })();
  return {
    status: response.status,
    headers: response.headers,
    async told() {
      await turns();
      // A busy machine takes longer than some turns of the loop.
      if (text.length === seen) await Bun.sleep(SILENCE_MS).then(turns);
      const fresh = text.slice(seen);
      seen = text.length;
      return messagesIn(fresh);
    },
    text: () => text,
    isClosed: () => isClosed,
    leave: () => reader.cancel(),
  };
}

/** Parses messages as an `EventSource` does (WHATWG HTML §9.2.6). Comments are no messages. */
export function messagesIn(text: string): Message[] {
  return text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      return { event: field('event').join(), data: JSON.parse(field('data').join('\n')) };
    });
}
