/** Sends one request: a timeout over the whole exchange, JSON or a form in and JSON out, one error type without a response. */
import { ApiError, type FieldError, Unreachable } from './errors.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Server {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly timeoutMs: number;
  readonly fetch?: Fetch | undefined;
}

export interface Call {
  readonly method: string;
  /** Path and query below the base URL. */
  readonly path: string;
  /** Value of the header. */
  readonly authorization?: string | undefined;
  /** Sent as JSON, unless it is a form. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  /** Empty when the response is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Sends a request without following redirects, so that the credential reaches no other server.
 * @throws {Unreachable} when no complete response arrived in time. @throws the abort reason of `signal`.
 */
export async function exchange(server: Server, call: Call): Promise<Answer> {
  const { method, path, authorization, body, signal } = call;
  const sent = body instanceof URLSearchParams ? body : body ? JSON.stringify(body) : null;
  const limit = AbortSignal.timeout(server.timeoutMs);
  const send: Fetch = server.fetch ?? fetch;
  try {
    const response = await send(server.url + path, {
      method,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: {
        Accept: 'application/json',
        ...(authorization && { Authorization: authorization }),
        // A form sets its own type.
        ...(typeof sent === 'string' && { 'Content-Type': 'application/json' }),
      },
      body: sent,
    });
    const text = await response.text();
    return { status: response.status, body: objectIn(text), retryAfterSeconds: retryAfter(response.headers) };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (limit.aborted)
      throw new Unreachable('timeout', `${server.url} did not answer within ${server.timeoutMs} ms.`, { cause });
    throw new Unreachable('network', `${server.url} could not be reached: ${reasonOf(cause)}`, { cause });
  }
}

/** Returns the code or message of the innermost cause, such as `ECONNREFUSED`, which runtimes nest differently. */
function reasonOf(failure: unknown): string {
  const { cause, code, message } = Object(failure) as Record<string, unknown>;
  return cause ? reasonOf(cause) : String(code ?? message ?? failure);
}

function objectIn(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return value instanceof Object ? (value as Answer['body']) : {};
  } catch {
    return {};
  }
}

/** Returns the delay in seconds; the header may hold seconds or a date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** Builds an `ApiError` from any of the API's error formats. */
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

/** Waits, or rejects with the signal's abort reason. */
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
