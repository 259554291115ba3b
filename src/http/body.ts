/** Reads a request's JSON or form body: bounded, strict about its media type, with errors that say how to fix it. */
import { freePart } from '../core/buffer.ts';
import { AppError, invalidField } from '../core/error.ts';
import { yieldIfLong } from '../core/event-loop.ts';
import { SMALL_BODY_BYTES } from './body-pool.ts';

const KIB = 1024;

/** The largest body of a caller with a credential. */
export const MAX_JSON_BYTES = 1024 * KIB;
/** Size from which parsing takes milliseconds: longer bodies yield, so that only some of many share a turn. */
const LONG_BODY_BYTES = 32 * KIB;
/** The largest body of a caller without a credential; no anonymous operation needs more. */
export const MAX_ANONYMOUS_BYTES = 64 * KIB;
/** Deeper than anything an operation takes, yet shallow enough for recursive functions. */
const MAX_JSON_DEPTH = 32;
const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';

/** Accounts for bytes of a body before they are kept. @throws where the pool has no room for them. */
export type HoldBytes = (bytes: number) => void;

/** Returns the length that a request declares; NaN if it declares none. */
export function declaredBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? NaN);
}

/**
 * @param text of a body up to `SMALL_BODY_BYTES`.
 * @returns the parsed body; `undefined` when there is none.
 * @throws {AppError} unsupported_media_type, invalid_request
 */
export function parseSmallBody(request: Request, text: string, declared: number, isFormAccepted: boolean): unknown {
  return parsed(request, withMark(text, declared), isFormAccepted);
}

/**
 * @param hold called for bodies above `SMALL_BODY_BYTES`.
 * @returns the parsed body; `undefined` when there is none.
 * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request, and what `hold` throws
 */
export async function readLongBody(
  request: Request,
  isFormAccepted: boolean,
  maxBytes: number,
  hold: HoldBytes,
): Promise<unknown> {
  const text = await readText(request, maxBytes, hold);
  const isLong = text.length > LONG_BODY_BYTES;
  if (isLong) await yieldIfLong();
  const body = parsed(request, text, isFormAccepted);
  // Validation follows, which takes as long again.
  if (isLong) await yieldIfLong();
  return body;
}

function parsed(request: Request, text: string, isFormAccepted: boolean): unknown {
  if (text.trim() === '') return undefined;
  const mediaType = mediaTypeOf(request.headers.get('content-type') ?? '');
  if (isFormAccepted && mediaType === FORM) return parametersOf(new URLSearchParams(text));
  if (mediaType !== JSON_TYPE) throw new AppError('unsupported_media_type');
  const body = parseJson(text);
  if (isDeeperThan(MAX_JSON_DEPTH, body)) throw new AppError('invalid_request', { hint: 'body_too_deep' });
  return body;
}

/** Returns a content type without its parameters, in lower case (RFC 9110 §8.3.1). */
export function mediaTypeOf(contentType: string): string {
  if (contentType === JSON_TYPE) return contentType;
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
}

/**
 * Returns the parameters of a form or a query string. @throws {AppError} invalid_request for a repeated one (RFC 6749
 * §3.1): readers of the first and of the last would differ.
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
  // Parsed JSON has own members alone. A list of them would be made for each body.
  for (const name in value) if (isDeeperThan(depth - 1, (value as Record<string, unknown>)[name])) return true;
  return false;
}

/** Streams a body. Breaking off does not cancel the body, so that the rest can be drained. */
export function partsOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  return body.values({ preventCancel: true });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', { hint: 'body_too_large', values: { kibibytes: maxBytes / KIB } });
}

/** Restores a byte-order mark, which `text()` strips and JSON must not have (RFC 8259 §8.1): three bytes are missing. */
function withMark(text: string, bytes: number): string {
  if (text.length === bytes) return text;
  return bytes === Buffer.byteLength(text) + 3 ? `\uFEFF${text}` : text;
}

async function readText(request: Request, maxBytes: number, hold: HoldBytes): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null) {
    const bytes = Number(declared);
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    if (bytes > SMALL_BODY_BYTES) hold(bytes);
    return withMark(await request.text(), bytes);
  }
  if (!request.body) return '';
  // Without a declared length the body is counted as it arrives.
  const chunks: Uint8Array[] = [];
  let length = 0;
  let held = 0;
  try {
    for await (const chunk of partsOf(request.body)) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes);
      if (length <= SMALL_BODY_BYTES) continue;
      hold(length - held);
      held = length;
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    // Left to the garbage collector, the chunks of thousands of refused bodies would add up.
    chunks.forEach(freePart);
  }
}
