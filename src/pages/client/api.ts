/** Calls this server's JSON API, and turns every way it can fail into one kind of answer. */

/** Why there is no data. */
export interface Failure {
  ok: false;
  /** The API's error code, or `network` when no answer came. */
  code: string;
  requestId: string | null;
  retryAfterSeconds: number | null;
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

/** Posts JSON. Never throws: a timeout, a lost connection and a proxy's error page are failures like any other. */
export function post<T>(path: string, body: unknown, bearer?: string): Promise<Outcome<T>> {
  return send(path, { method: 'POST', body: JSON.stringify(body) }, bearer);
}

/** Reads; as harmless as `post`. */
export function get<T>(path: string, bearer: string): Promise<Outcome<T>> {
  return send(path, { method: 'GET' }, bearer);
}

/** Ends the session, also when the page is closed meanwhile. Does not wait for the answer. */
export function signOut(bearer: string): void {
  void send('/api/v1/session', { method: 'DELETE', keepalive: true }, bearer);
}

async function send<T>(path: string, request: RequestInit, bearer?: string): Promise<Outcome<T>> {
  let response: Response;
  try {
    response = await fetch(path, {
      ...request,
      headers: {
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      },
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    return failureOfCode('network');
  }
  const answer = await readAnswer(response);
  if (response.ok && answer.success === true) {
    return { ok: true, data: answer.data as T, answeredAt: response.headers.get('date') };
  }
  return failureOf(response, answer);
}

/** A failure of which no more than the code is known. */
export function failureOfCode(code: string): Failure {
  return { ok: false, code, requestId: null, retryAfterSeconds: null };
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
  };
}

function codeOfStatus(status: number): string {
  if (status === 429) return 'rate_limited';
  return status >= 502 && status <= 504 ? 'unavailable' : 'internal';
}
