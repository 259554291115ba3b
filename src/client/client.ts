/** Client for the whole API: typed paths, pagination, and retries when the server asks to wait. */
import { type Answer, apiErrorOf, exchange, type Fetch, pause } from './exchange.ts';
import { baseUrl, milliseconds, required } from './options.ts';
import type { DataAt, Given, GivenAt, ItemAt, ListPath, PathOf } from './paths.ts';

export interface ClientOptions {
  /** Base URL of the server. */
  readonly url: string;
  /** An API key, or a session token to act as a person. */
  readonly apiKey: string;
  readonly timeoutMs?: number;
  /** Maximum total wait per call when the server asks to retry later; 0 never waits. */
  readonly maxWaitMs?: number;
  readonly fetch?: Fetch;
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Every method returns the `data` of the response, or throws `ApiError` or `Unreachable`. */
export interface Client {
  get<Path extends PathOf<'get'>>(path: Path, ...given: GivenAt<Path, 'get'>): Promise<DataAt<Path, 'get'>>;
  post<Path extends PathOf<'post'>>(path: Path, ...given: GivenAt<Path, 'post'>): Promise<DataAt<Path, 'post'>>;
  put<Path extends PathOf<'put'>>(path: Path, ...given: GivenAt<Path, 'put'>): Promise<DataAt<Path, 'put'>>;
  patch<Path extends PathOf<'patch'>>(path: Path, ...given: GivenAt<Path, 'patch'>): Promise<DataAt<Path, 'patch'>>;
  delete<Path extends PathOf<'delete'>>(path: Path, ...given: GivenAt<Path, 'delete'>): Promise<DataAt<Path, 'delete'>>;
  /** Yields every item of a list and fetches pages as needed. */
  all<Path extends ListPath>(path: Path, ...given: GivenAt<Path, 'get'>): AsyncGenerator<ItemAt<Path>, void, undefined>;
}

const MOST_TRIES = 10;

/** @throws {TypeError} for options with which no call could succeed. */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = 30_000, maxWaitMs = 60_000, wait = pause, fetch } = options;
  const url = baseUrl('createClient', options.url);
  const apiKey = required('createClient', 'apiKey', options.apiKey, 'API_KEY');
  milliseconds('createClient', 'timeoutMs', timeoutMs);
  milliseconds('createClient', 'maxWaitMs', maxWaitMs, 0, Infinity);

  async function call(method: string, template: string, given: Given = {}): Promise<unknown> {
    const { path = {}, query = {}, body, signal } = given;
    const address = filled(template, path) + search(query);
    let waited = 0;
    for (let tries = 1; ; tries += 1) {
      const answer = await exchange(
        { url, timeoutMs, fetch },
        { method, path: address, authorization: `Bearer ${apiKey}`, body, signal },
      );
      if (answer.status >= 200 && answer.status < 300) return 'data' in answer.body ? answer.body['data'] : answer.body;
      const ms = Math.max(1, answer.retryAfterSeconds ?? Infinity) * 1000;
      if (!isRepeatable(method, answer) || waited + ms > maxWaitMs || tries === MOST_TRIES) throw apiErrorOf(answer);
      await wait(ms, signal);
      waited += ms;
    }
  }

  async function* all(path: string, given: Given = {}): AsyncGenerator<unknown, void, undefined> {
    let cursor: unknown = given.query?.['cursor'];
    do {
      const page = (await call('GET', path, { ...given, query: { limit: 200, ...given.query, cursor } })) as {
        readonly items: readonly unknown[];
        readonly nextCursor: string | null;
      };
      yield* page.items;
      cursor = page.nextCursor;
    } while (typeof cursor === 'string');
  }

  return {
    get: (path: string, given?: Given) => call('GET', path, given),
    post: (path: string, given?: Given) => call('POST', path, given),
    put: (path: string, given?: Given) => call('PUT', path, given),
    patch: (path: string, given?: Given) => call('PATCH', path, given),
    delete: (path: string, given?: Given) => call('DELETE', path, given),
    all,
  } as Client;
}

/** Allows a retry after 429, which changed nothing. After 503 only idempotent methods are retried. */
function isRepeatable(method: string, { status }: Answer): boolean {
  return status === 429 || (status === 503 && method !== 'POST' && method !== 'PATCH');
}

/** Fills in the path template. @throws {TypeError} when a value is missing, or would lead to another path. */
function filled(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '');
    if (value === '' || value === '.' || value === '..') throw new TypeError(`${template}: give path.${name}.`);
    return encodeURIComponent(value);
  });
}

function search(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}
