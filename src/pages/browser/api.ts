/** Calls this server's JSON API and turns every kind of failure into one type. */
import { LIMITED_HEADER } from '../../core/limited-header.ts';
import type { TicketedStanding } from '../../core/waitlist-standing.ts';

export interface Failure {
  ok: false;
  /** Error code of the API, or `network` without a response. */
  code: string;
  requestId: string | null;
  retryAfterSeconds: number | null;
  /** A limit of the client address is reached, perhaps by others in its network. */
  isOfNetwork?: true;
  /** Names of the refused fields; the API's messages are for developers. */
  fields: readonly string[];
  /** After a right code: where the person's request for access stands. */
  interest?: TicketedStanding;
}

export interface Success<T> {
  ok: true;
  data: T;
  /** The server's `Date` header, for comparing timestamps independently of this device's clock. */
  answeredAt: string | null;
}

export type Outcome<T> = Success<T> | Failure;

export interface SignedIn {
  token: string;
  expiresAt: string;
  userId: string;
  applicationId: string;
}

const TIMEOUT_MS = 20_000;

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  readonly form?: FormData;
  readonly bearer?: string;
  /** Selects the application whose cookie authenticates; without it and without a token, the console's. */
  readonly clientId?: string;
  /** Hosted page whose cookie keeps the session of a sign-in. */
  readonly page?: 'sign-in' | 'account' | undefined;
  /** Completes even if the page closes. */
  readonly keepalive?: boolean;
}

/** Sends a request. Never throws: timeouts, lost connections and proxy error pages are failures too. */
export async function request<T>(path: string, call: ApiCall): Promise<Outcome<T>> {
  const { method, json, form, bearer, clientId, page, keepalive = false } = call;
  const headers: Record<string, string> = {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(clientId && { 'gatehouse-client': clientId }),
    ...(page && { 'gatehouse-page': page }),
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

export function post<T>(path: string, body: unknown, bearer?: string): Promise<Outcome<T>> {
  return request(path, { method: 'POST', json: body, bearer });
}

/** Reads public data, or data available to the console's cookie. */
export function read<T>(path: string): Promise<Outcome<T>> {
  return request(path, { method: 'GET' });
}

export function get<T>(path: string, bearer: string): Promise<Outcome<T>> {
  return request(path, { method: 'GET', bearer });
}

/** Ends the session without waiting for the response, even if the page closes. */
export function signOut(bearer: string): void {
  void request('/api/v1/session', { method: 'DELETE', bearer, keepalive: true });
}

export function failureOfCode(code: string): Failure {
  return { ok: false, code, requestId: null, retryAfterSeconds: null, fields: [] };
}

/** Returns true if the session is missing or has ended. */
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
    ...(response.headers.get(LIMITED_HEADER) === 'network' && { isOfNetwork: true }),
    fields: fieldsOf(answer['fields']),
    ...(isStanding(answer['interest']) && { interest: answer['interest'] }),
  };
}

function isStanding(interest: unknown): interest is TicketedStanding {
  return typeof (interest as TicketedStanding | undefined)?.ticket === 'string';
}

function fieldsOf(fields: unknown): string[] {
  const paths = Array.isArray(fields) ? fields.map((field: { path?: unknown } | null) => field?.path) : [];
  return paths.filter((path) => typeof path === 'string');
}

function codeOfStatus(status: number): string {
  if (status === 429) return 'rate_limited';
  return status >= 502 && status <= 504 ? 'unavailable' : 'internal';
}
