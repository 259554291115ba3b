/** Sends the OpenID libraries' requests through the SSRF guard, and turns their errors into faults of the provider. */
import { errors } from 'jose';
import * as oauth from 'oauth4webapi';
import { SECOND } from '../../core/clock.ts';
import { type GuardedFetch, OutboundError } from '../../outbound/guarded-fetch.ts';

const TIMEOUT_MS = 5 * SECOND;
const MAX_BYTES = 256 * 1024;

/** A provider gave no usable answer. The message is for the log and contains no token or code. */
export class ProviderFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ProviderFault';
  }
}

interface LibraryRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Headers | Record<string, string>;
  readonly body?: URLSearchParams;
}

/** Sends requests with limits on time and size. Drops answer headers: every body is read as JSON, regardless of its content type. */
export function throughGuard(outbound: GuardedFetch) {
  async function send(url: string, { method, headers, body }: LibraryRequest): Promise<Response> {
    // The guard does not decompress bodies.
    const own = { 'user-agent': 'Gatehouse', 'accept-encoding': 'identity' };
    const answer = await outbound({
      url,
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), ...own },
      body: body?.toString(),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const type = { 'content-type': 'application/json' };
    return new Response(Buffer.from(answer.body), { status: answer.status, headers: type });
  }
  // The guard and the URL validation decide whether plain http is allowed.
  return { [oauth.customFetch]: send, [oauth.allowInsecureRequests]: true };
}

/** Runs one step of the protocol, named in the log. @throws {ProviderFault} in place of any other error. */
export async function asFault<Result>(what: string, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof OutboundError) throw new ProviderFault(`${what}: ${error.problem}`, { cause: error });
    // Other causes are dropped: a library's error carries the answer, and a parser's message quotes it.
    throw new ProviderFault(`${what}: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) {
    // The error code of RFC 6749 §5.2 helps the operator; the rest of the answer stays out of the log.
    const code = /^[a-z_]{1,40}$/.test(error.error) ? ` (${error.error})` : '';
    return `answered ${error.status}${code}`;
  }
  if (error instanceof oauth.OperationProcessingError && error.cause instanceof Response)
    return `answered ${error.cause.status}`;
  const isTheirs = [oauth.OperationProcessingError, oauth.UnsupportedOperationError, errors.JOSEError].some(
    (kind) => error instanceof kind,
  );
  return isTheirs ? (error as Error).message : 'what came cannot be read';
}
