/** The libraries that speak to providers: sent through the guarded way out, their errors turned into faults of the provider. */
import { errors } from 'jose';
import * as oauth from 'oauth4webapi';
import { SECOND } from '../../core/clock.ts';
import { type GuardedFetch, OutboundError } from '../../outbound/guarded-fetch.ts';

const TIMEOUT_MS = 5 * SECOND;
const MAX_BYTES = 256 * 1024;

/** The provider gave no answer that can be used. The message is for the log and holds nothing of a token or a code. */
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

/**
 * How the libraries send their requests: bounded in time and size. Of an answer's headers they get none: every body is read
 * as JSON, whatever it is called.
 */
export function throughGuard(outbound: GuardedFetch) {
  async function send(url: string, { method, headers, body }: LibraryRequest): Promise<Response> {
    // Bodies are read as they come, so they must come plain.
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
  // Where plain http is allowed is for the guard to say, and for who judges the addresses.
  return { [oauth.customFetch]: send, [oauth.allowInsecureRequests]: true };
}

/**
 * Runs a step of the protocol.
 *
 * @param what names the step in the log.
 * @throws {ProviderFault} in place of whatever the step throws.
 */
export async function asFault<Result>(what: string, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof OutboundError) throw new ProviderFault(`${what}: ${error.problem}`, { cause: error });
    // No other cause goes along: a library's error carries the answer, and a parser's message quotes it.
    throw new ProviderFault(`${what}: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) {
    // The error code of RFC 6749 §5.2 helps the operator; nothing else of the answer does.
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
