/** Calls this server's JSON API, and turns every way it can fail into one kind of answer. */

/** Why there is no data. */
export interface Failure {
  ok: false;
  /** The API's error code, or `network` when no answer came. */
  code: string;
  requestId: string | null;
  retryAfterSeconds: number | null;
  /** The names of the fields that were refused; what the API says of them is for programs. */
  fields: readonly string[];
}

/** What the server answered. */
export interface Success<T> {
  ok: true;
  data: T;
  /** The server's own time of answering, so that its timestamps can be read whatever this device's clock says. */
  answeredAt: string | null;
}

export type Outcome<T> = Success<T> | Failure;

/** A session, as signing in gives it. */
export interface SignedIn {
  token: string;
  expiresAt: string;
  userId: string;
  applicationId: string;
}

const TIMEOUT_MS = 20_000;

/** How a call is made. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  readonly form?: FormData;
  /** A session token. */
  readonly bearer?: string;
  /** The application whose cookie says who calls; without one, and without a token, it is the console's. */
  readonly clientId?: string;
  /** Goes on when the page is closed meanwhile. */
  readonly keepalive?: boolean;
}

/** Never throws: a timeout, a lost connection and a proxy's error page are failures like any other. */
export async function request<T>(path: string, call: ApiCall): Promise<Outcome<T>> {
  const { method, json, form, bearer, clientId, keepalive = false } = call;
  const headers: Record<string, string> = {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(clientId && { 'gatehouse-client': clientId }),
  };
  const body = json === undefined ? form : JSON.stringify(json);
  let response: Response;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    response = await fetch(path, { method, headers, cache: 'no-store', keepalive, signal, ...(body && { body }) });
  } catch {
    return failureOfCode('network');
  }
  const answer = await readAnswer(response);
  if (response.ok && answer['success'] === true) {
    return { ok: true, data: answer['data'] as T, answeredAt: response.headers.get('date') };
  }
  return failureOf(response, answer);
}

/** Posts JSON. */
export function post<T>(path: string, body: unknown, bearer?: string): Promise<Outcome<T>> {
  return request(path, { method: 'POST', json: body, bearer });
}

/** Reads what anybody may read, or what the console's cookie opens. */
export function read<T>(path: string): Promise<Outcome<T>> {
  return request(path, { method: 'GET' });
}

export function get<T>(path: string, bearer: string): Promise<Outcome<T>> {
  return request(path, { method: 'GET', bearer });
}

/** Ends the session, also when the page is closed meanwhile. Does not wait for the answer. */
export function signOut(bearer: string): void {
  void request('/api/v1/session', { method: 'DELETE', bearer, keepalive: true });
}

/** A failure of which no more than the code is known. */
export function failureOfCode(code: string): Failure {
  return { ok: false, code, requestId: null, retryAfterSeconds: null, fields: [] };
}

/** The session is of no use any more, or was none. */
export function isOver({ code }: Failure): boolean {
  return ['unauthenticated', 'invalid_token', 'expired', 'revoked'].includes(code);
}

async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  try {
    const answer: unknown = await response.json();
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function failureOf(response: Response, answer: Record<string, unknown>): Failure {
  const retryAfter = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
  return {
    ok: false,
    code: typeof answer['error'] === 'string' ? answer['error'] : codeOfStatus(response.status),
    requestId: typeof answer['requestId'] === 'string' ? answer['requestId'] : response.headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : null,
    fields: fieldsOf(answer['fields']),
  };
}

function fieldsOf(fields: unknown): string[] {
  const paths = Array.isArray(fields) ? fields.map((field: { path?: unknown } | null) => field?.path) : [];
  return paths.filter((path) => typeof path === 'string');
}

function codeOfStatus(status: number): string {
  if (status === 429) return 'rate_limited';
  return status >= 502 && status <= 504 ? 'unavailable' : 'internal';
}
