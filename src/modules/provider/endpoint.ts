/** Asks an endpoint of a provider for a JSON object, through the guarded way out: bounded in time and size. */
import { SECOND } from '../../core/clock.ts';
import { type GuardedFetch, OutboundError, type OutboundRequest } from '../../outbound/guarded-fetch.ts';
import { ProviderFault } from './fault.ts';

const TIMEOUT_MS = 5 * SECOND;
const MAX_BYTES = 256 * 1024;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * @param what names the endpoint in the log.
 * @throws {ProviderFault} for anything but 200 with a JSON object.
 */
export async function askProvider(
  outbound: GuardedFetch,
  what: string,
  { headers, ...request }: Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'body'>,
): Promise<JsonObject> {
  const { status, body } = await outbound({
    ...request,
    // Bodies are read as they come, so they must come plain.
    headers: { Accept: 'application/json', 'Accept-Encoding': 'identity', ...headers },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  }).catch((cause: unknown) => {
    if (cause instanceof OutboundError) throw new ProviderFault(`${what}: ${cause.problem}`, { cause });
    throw cause;
  });
  const answer = parseObject(body);
  if (status !== 200) throw new ProviderFault(`${what}: answered ${status}${errorIn(answer)}`);
  if (!answer) throw new ProviderFault(`${what}: answered what is no JSON object`);
  return answer;
}

function parseObject(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    // A parser's message quotes what it read, and that may be a token.
    return null;
  }
}

/** The error code of RFC 6749 §5.2, which helps the operator; nothing else of the answer does. */
function errorIn(answer: JsonObject | null): string {
  const code = answer?.['error'];
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : '';
}
