/** Reads a request's body, JSON or a form: bounded, strict about its media type, with errors that say what to mend. */
import { AppError, invalidField } from '../core/error.ts';
import { yieldIfLong } from '../core/turn.ts';

const KIB = 1024;

const MAX_JSON_BYTES = 1024 * KIB;
/** From here on it takes milliseconds to parse and to judge a body: of many that arrive at once, only some have the same turn. */
const LONG_BODY_BYTES = 32 * KIB;
/** Of a body that anybody can send: thousands at once must fit into memory. Nothing that a stranger has to say is as long. */
export const MAX_STRANGERS_BYTES = 64 * KIB;
/** Deeper than anything an operation takes, and shallow enough for whatever walks a body by calling itself. */
const MAX_JSON_DEPTH = 32;
const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';

/**
 * @returns the parsed body; `undefined` when there is none.
 * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request
 */
export async function readBodyOf(
  request: Request,
  isFormAccepted: boolean,
  maxBytes = MAX_JSON_BYTES,
): Promise<unknown> {
  const text = await readText(request, maxBytes);
  if (text.length > LONG_BODY_BYTES) await yieldIfLong();
  if (text.trim() === '') return undefined;
  const mediaType = mediaTypeOf(request.headers.get('content-type') ?? '');
  if (isFormAccepted && mediaType === FORM) return parametersOf(new URLSearchParams(text));
  if (mediaType !== JSON_TYPE) throw new AppError('unsupported_media_type');
  const body = parseJson(text);
  if (isDeeperThan(MAX_JSON_DEPTH, body)) throw new AppError('invalid_request', { hint: 'body_too_deep' });
  return body;
}

/** A content type without its parameters, in small letters (RFC 9110 §8.3.1). */
export function mediaTypeOf(contentType: string): string {
  if (contentType === JSON_TYPE) return contentType;
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
}

/**
 * Parameters of a form or a query string, by name.
 *
 * @throws {AppError} invalid_request for one that is given twice (RFC 6749 §3.1): who reads the first and who reads the last
 * would act on different ones.
 */
export function parametersOf(parameters: URLSearchParams): Record<string, string> {
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name)) throw invalidField(name, 'This parameter is given twice; send it once.');
    seen.add(name);
  }
  return Object.fromEntries(parameters);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_request', { hint: 'body_not_json', cause });
  }
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isDeeperThan(depth - 1, part));
}

/** A body as it comes in; whoever leaves off leaves the rest to be drained. */
export function partsOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return body.values({ preventCancel: true });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', { hint: 'body_too_large', values: { kibibytes: maxBytes / KIB } });
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null) {
    if (Number(declared) > maxBytes) throw tooLarge(maxBytes);
    const text = await request.text();
    if (text.length === Number(declared)) return text;
    // `text()` takes a byte-order mark away, which JSON must not have (RFC 8259 §8.1); its three bytes are missing then.
    return Number(declared) === Buffer.byteLength(text) + 3 ? `\uFEFF${text}` : text;
  }
  if (!request.body) return '';
  // Without a declared length the body is counted as it comes in.
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of partsOf(request.body)) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
