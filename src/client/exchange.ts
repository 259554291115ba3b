/** One call to the server: a time limit over the whole of it, JSON in and out, and one kind of error where no answer comes. */
import { ApiError, type FieldError, Unreachable } from './errors.ts';

/** The platform's own, or one that behaves like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where calls go, and for how long. */
export interface Server {
  readonly url: string;
  readonly timeoutMs: number;
  readonly fetch?: Fetch | undefined;
}

export interface Call {
  readonly method: string;
  /** Below the server's address, with its query. */
  readonly path: string;
  readonly bearer?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  /** Empty where it was no JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Redirects are not followed: a credential goes where it was sent.
 *
 * @throws {Unreachable} where no whole answer came in time. @throws what `signal` was aborted with.
 */
export async function exchange(server: Server, { method, path, bearer, body, signal }: Call): Promise<Answer> {
  const limit = AbortSignal.timeout(server.timeoutMs);
  const send: Fetch = server.fetch ?? fetch;
  try {
    const response = await send(server.url.replace(/\/+$/, '') + path, {
      method,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: {
        Accept: 'application/json',
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: objectIn(text), retryAfterSeconds: retryAfter(response.headers) };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (limit.aborted) throw new Unreachable('timeout', `No answer within ${server.timeoutMs} ms.`, { cause });
    throw new Unreachable('network', 'The server could not be reached.', { cause });
  }
}

function objectIn(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : {};
  } catch {
    return {};
  }
}

/** Seconds, also where it is written as a date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** What an answer that is no success says, in any of the shapes the API has for it. */
export function apiErrorOf({ status, body, retryAfterSeconds }: Answer): ApiError {
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : undefined);
  const message = text('message') ?? text('error_description') ?? `The server answered with status ${status}.`;
  return new ApiError(text('error') ?? text('errorMessage') ?? 'unexpected', message, {
    status,
    retryAfterSeconds,
    requestId: text('requestId'),
    fields: Array.isArray(body['fields']) ? (body['fields'] as FieldError[]) : [],
  });
}

/** Waits, unless the signal ends it. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
