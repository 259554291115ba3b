/** Nobody was admitted: why, and the answer that says so to whoever called. */
import { GatehouseError } from './errors.ts';

/** What an `http.ServerResponse` can do. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** A verification that admitted nobody, for whatever reason; it holds the answer to give. */
export abstract class NotAdmitted extends GatehouseError {
  abstract readonly status: 401 | 403 | 429 | 503;

  /** Of the answer. */
  get headers(): Record<string, string> {
    return { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  }

  /** Of the answer: `{success, error, message}`, as the server's own. */
  get body(): string {
    return JSON.stringify({ success: false, error: this.code, message: this.message });
  }

  /** The answer, for fetch-style handlers; a new one each time. */
  get response(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers });
  }

  /** The same for handlers of `node:http` and what is built on it. */
  sendTo(response: NodeResponse): void {
    response.writeHead(this.status, this.headers);
    response.end(this.body);
  }
}

const REFUSALS = {
  no_token: 'Sign in, and send the session token.',
  invalid_token: 'The token is not valid; sign in again.',
  expired: 'The session has expired; sign in again.',
  revoked: 'The session has ended; sign in again.',
  membership_blocked: 'This account is blocked in this application.',
  cross_site: 'The request comes from another site.',
} as const;

/** `no_token` and `cross_site` are this package's own, the others the server's. New ones may come. */
export type RefusalReason = keyof typeof REFUSALS;

/** The token admits nobody. */
export class VerificationRefused extends NotAdmitted {
  readonly reason: RefusalReason;
  readonly status: 401 | 403;

  constructor(reason: RefusalReason) {
    super(reason, REFUSALS[reason] ?? 'The token was refused.');
    this.reason = reason;
    this.status = reason === 'membership_blocked' || reason === 'cross_site' ? 403 : 401;
  }

  /** With the challenge that RFC 6750 §3 asks for. */
  override get headers(): Record<string, string> {
    if (this.status === 403) return super.headers;
    return {
      ...super.headers,
      'WWW-Authenticate': this.reason === 'no_token' ? 'Bearer' : 'Bearer error="invalid_token"',
    };
  }
}

/** `key_refused`: the server takes this backend's API key no longer, or not for this. */
export type UnavailableReason = 'timeout' | 'network' | 'rate_limited' | 'key_refused' | 'unexpected';

/** The server has said nothing about the token, so that it admits nobody now and may admit somebody later. */
export class VerificationUnavailable extends NotAdmitted {
  readonly reason: UnavailableReason;
  readonly status: 429 | 503;
  readonly retryAfterSeconds: number | undefined;

  /** @param message for the log of the backend; whoever called is not told it. */
  constructor(
    reason: UnavailableReason,
    message: string,
    { retryAfterSeconds, cause }: { readonly retryAfterSeconds?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(reason, message, { cause });
    this.reason = reason;
    this.status = reason === 'rate_limited' ? 429 : 503;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  override get headers(): Record<string, string> {
    const seconds = this.retryAfterSeconds;
    return { ...super.headers, ...(seconds !== undefined && { 'Retry-After': String(seconds) }) };
  }

  override get body(): string {
    const [error, message] =
      this.status === 429
        ? ['rate_limited', 'Too many requests; try again later.']
        : ['unavailable', 'Who is calling cannot be verified now; try again in a moment.'];
    return JSON.stringify({ success: false, error, message });
  }
}
