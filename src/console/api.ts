/** Calls the public API by the types of its description; every way in which a call can fail is one kind of answer. */
import createClient from 'openapi-fetch';
import type { components, operations, paths } from './generated/api.ts';

/** The records of the API. */
export type Schemas = components['schemas'];

/** What a call takes, by the operation's id. */
export type BodyOf<Id extends keyof operations> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** By the console's cookie, as the member who is signed in. Give a call to {@link ask}. */
export const api = createClient<paths>({
  cache: 'no-store',
  fetch: (request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }),
});

const TIMEOUT_MS = 30_000;

/** Why there is no data. */
export interface Failure {
  readonly ok: false;
  readonly status: number;
  /** The API's error code, or `network` where no answer came. */
  readonly code: string;
  /** One sentence that says what to do. */
  readonly message: string;
  readonly fields: readonly { readonly path: string; readonly message: string }[];
  /** When to try again, where the server says so. */
  readonly retryAfterSeconds?: number;
}

export type Outcome<T> = { readonly ok: true; readonly data: T } | Failure;

/** What openapi-fetch gives. */
interface Called<Body> {
  readonly data?: Body;
  readonly error?: unknown;
  readonly response: Response;
}

type DataOf<Body> = Body extends { data: infer Data } ? Data : Body;

/** Never throws: a lost connection is a failure like any other. A session that is over begins again at the sign-in. */
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
  if (response.status === 401) beginAgain();
  return failureOf(response, error);
}

let isOver = false;

/** Once: a page with something unsaved asks before it is left, and would ask at every call. */
function beginAgain(): void {
  if (isOver) return;
  isOver = true;
  location.reload();
}

function failureOf({ status, headers }: Response, error: unknown): Failure {
  const retryAfterSeconds = Number(headers.get('retry-after'));
  const told = (typeof error === 'object' && error !== null ? error : {}) as Partial<Record<string, unknown>>;
  const fields = Array.isArray(told['fields']) ? (told['fields'] as Failure['fields']) : [];
  return {
    ok: false,
    status,
    code: typeof told['error'] === 'string' ? told['error'] : 'internal',
    message: typeof told['message'] === 'string' ? told['message'] : `The server answered with status ${status}.`,
    fields,
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  };
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
