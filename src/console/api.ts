/** Typed client of the public API that turns every kind of failure into one type. */
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './generated/api.ts';

export type Schemas = components['schemas'];

export type BodyOf<Id extends keyof operations> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** Client authenticated by the console's cookie. Pass each call to {@link ask}. */
export const api = createClient<paths>({
  cache: 'no-store',
  fetch: (request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }),
});

const TIMEOUT_MS = 30_000;

export interface Failure {
  readonly ok: false;
  readonly status: number;
  /** Error code of the API, or `network` without a response. */
  readonly code: string;
  /** One sentence that says what to do. */
  readonly message: string;
  readonly fields: readonly { readonly path: string; readonly message: string }[];
  /** Seconds until a retry makes sense, if the server says so. */
  readonly retryAfterSeconds?: number;
}

export type Outcome<T> = { readonly ok: true; readonly data: T } | Failure;

interface Called<Body> {
  readonly data?: Body;
  readonly error?: unknown;
  readonly response: Response;
}

type DataOf<Body> = Body extends { data: infer Data } ? Data : Body;

/** Awaits a call. Never throws; a lost connection is a failure too. An ended session reloads the page to sign in. */
export async function ask<Body>(call: Promise<Called<Body>>): Promise<Outcome<DataOf<Body>>> {
  let answer: Called<Body>;
  try {
    answer = await call;
  } catch {
    return {
      ok: false,
      status: 0,
      code: 'network',
      message: 'The server did not answer. Check the connection, then try again.',
      fields: [],
    };
  }
  const { data, error, response } = answer;
  if (response.ok && data !== undefined) return { ok: true, data: (data as { data: DataOf<Body> }).data };
  if (response.status === 401) reloadToSignIn();
  return failureOf(response, error);
}

let isReloading = false;

/** Reloads only once: a page with unsaved changes would ask at every failing call. */
function reloadToSignIn(): void {
  if (isReloading) return;
  isReloading = true;
  location.reload();
}

function failureOf({ status, headers }: Response, error: unknown): Failure {
  const retryAfterSeconds = Number(headers.get('retry-after'));
  const body = (typeof error === 'object' && error !== null ? error : {}) as Partial<Record<string, unknown>>;
  const fields = Array.isArray(body['fields']) ? (body['fields'] as Failure['fields']) : [];
  return {
    ok: false,
    status,
    code: typeof body['error'] === 'string' ? body['error'] : 'internal',
    message: typeof body['message'] === 'string' ? body['message'] : `The server answered with status ${status}.`,
    fields,
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  };
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
