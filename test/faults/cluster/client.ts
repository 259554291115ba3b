/** Sends the requests of a load, and judges each answer by itself: its status, and how long it took. */
import type { Place, ServerPair } from './instances.ts';

export interface Sent {
  /** Null if no answer came: the outcome is unknown. */
  readonly status: number | null;
  // biome-ignore lint: each workload reads the answer it asked for.
  readonly json: any;
  readonly begin: number;
  readonly end: number;
}

export interface SendOptions {
  readonly token?: string;
  readonly body?: object;
}

export interface Client {
  send(place: Place, method: string, path: string, options?: SendOptions): Promise<Sent>;
  /** Number of answers by status, and of requests without one. */
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  longestMs(): number;
}

const LONGEST_MS = 10_000;
const GIVE_UP_MS = 20_000;

/** Returns whether the request had its whole effect. */
export const isDone = ({ status }: Sent) => status === 200;

/** Returns whether the request may have had its effect although no answer says so. */
export const isUnknown = ({ status }: Sent) => status === null || status >= 500;

export function createClient({ urls, wasDown }: Pick<ServerPair, 'urls' | 'wasDown'>): Client {
  const counts: Record<string, number> = {};
  const problems: string[] = [];
  let longest = 0;

  function judge(place: Place, name: string, begin: number, response: Response, text: string): void {
    const { status, headers } = response;
    // The proxy answers 502 for an instance that was killed during the request.
    const isOfProxy = status === 502 && place === 'proxy' && !headers.has('x-request-id');
    if (isOfProxy && wasDown(place, begin, performance.now())) return;
    if (status >= 500 && status !== 503) problems.push(`${name} answered ${status}: ${text.slice(0, 200)}`);
    if (status === 503 && !headers.has('retry-after')) problems.push(`${name} answered 503 without Retry-After`);
  }

  async function send(place: Place, method: string, path: string, { token, body }: SendOptions = {}): Promise<Sent> {
    const begin = performance.now();
    const name = `${method} ${path} at ${place}`;
    const count = (what: string) => void (counts[what] = (counts[what] ?? 0) + 1);
    try {
      const response = await fetch(urls[place] + path, {
        method,
        // A connection that is used again may make the client send a request twice.
        keepalive: false,
        signal: AbortSignal.timeout(GIVE_UP_MS),
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      judge(place, name, begin, response, text);
      count(String(response.status));
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      return { status: response.status, json: isJson ? JSON.parse(text) : null, begin, end: performance.now() };
    } catch (error) {
      count('no answer');
      if (!wasDown(place, begin, performance.now())) problems.push(`${name} was not answered: ${error}`);
      return { status: null, json: null, begin, end: performance.now() };
    } finally {
      const took = performance.now() - begin;
      longest = Math.max(longest, took);
      if (took > LONGEST_MS) problems.push(`${name} took ${Math.round(took)} ms`);
    }
  }

  return { send, counts, problems, longestMs: () => longest };
}
