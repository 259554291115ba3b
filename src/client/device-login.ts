/** Signs a person in on a command-line tool or device; they approve it in a browser (RFC 8628). */
import { ApiError, Unreachable } from './errors.ts';
import { apiErrorOf, exchange, type Fetch, pause } from './exchange.ts';
import { baseUrl, milliseconds, required } from './options.ts';

/** Values to show to the person. */
export interface PendingLogin {
  readonly userCode: string;
  readonly verificationUri: string;
  /** URL that contains the code: open it, or show it as a QR code. */
  readonly verificationUriComplete: string;
  readonly expiresInSeconds: number;
}

export interface DeviceLoginOptions {
  /** Base URL of the server. */
  readonly url: string;
  /** Use `console` for a management tool. */
  readonly clientId: string;
  /** Shown to the person who approves, and stored as the name of the key. */
  readonly deviceName?: string;
  /** Days after which the key ends, 1 to 3650, or `never`. Default: 90 for `console`, never for an application. */
  readonly keyDays?: number | 'never';
  readonly onCode: (pending: PendingLogin) => unknown;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
  /** Waits between two polls. */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export interface DeviceLogin {
  /** A personal `eak_` key; acts as the person until they revoke it. */
  readonly token: string;
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Default polling interval, and its increase on `slow_down` (RFC 8628 §3.5). */
const SLOWER_SECONDS = 5;

/**
 * Resolves once the person has approved.
 * @throws {ApiError} `access_denied`, `expired_token` and any other refusal of the server.
 * @throws {Unreachable} when the first call finds no server; later failures are retried until the code expires.
 */
export async function deviceLogin(options: DeviceLoginOptions): Promise<DeviceLogin> {
  const { clientId, deviceName, keyDays, onCode, signal, timeoutMs = 10_000, fetch, wait = pause } = options;
  const url = baseUrl('deviceLogin', options.url);
  required('deviceLogin', 'clientId', clientId, 'CLIENT_ID');
  milliseconds('deviceLogin', 'timeoutMs', timeoutMs);
  const post = (path: string, body: object) =>
    exchange({ url, timeoutMs, fetch }, { method: 'POST', path, body, signal });

  const begun = await post('/api/v1/device/code', {
    client_id: clientId,
    device_name: deviceName,
    key_days: keyDays === undefined ? undefined : String(keyDays),
  });
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in } = begun.body;
  if (begun.status !== 200 || typeof device_code !== 'string') throw apiErrorOf(begun);
  await onCode({
    userCode: String(user_code),
    verificationUri: String(verification_uri),
    verificationUriComplete: String(verification_uri_complete),
    expiresInSeconds: Number(expires_in),
  });

  let interval = Number(begun.body['interval'] ?? SLOWER_SECONDS);
  for (let left = Number(expires_in); left > 0;) {
    await wait(interval * 1000, signal);
    left -= interval;
    const answer = await post('/api/v1/device/token', {
      client_id: clientId,
      device_code,
      grant_type: GRANT_TYPE,
    }).catch((error: unknown) => {
      if (error instanceof Unreachable) return null;
      throw error;
    });
    if (answer?.status === 200 && typeof answer.body['access_token'] === 'string')
      return { token: answer.body['access_token'] };
    const code = answer?.body['error'];
    // Polls less often after a network error, a 429 or a server error, as after `slow_down`.
    if (answer === null || code === 'slow_down' || answer.status >= 429) interval += SLOWER_SECONDS;
    else if (code !== 'authorization_pending') throw apiErrorOf(answer);
  }
  throw new ApiError('expired_token', 'The code has expired; start again.', { status: 400 });
}
