/** Reads a request's body, JSON or a form: bounded, strict about its media type, with errors that say what to mend. */
import { AppError, invalidField } from '../core/error.ts';

const MAX_JSON_BYTES = 1024 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * @returns the parsed body; `undefined` when there is none.
 * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request
 */
export async function readBodyOf(request: Request, isFormAccepted: boolean): Promise<unknown> {
  const text = await readText(request, MAX_JSON_BYTES);
  if (text.trim() === '') return undefined;
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  if (isFormAccepted && mediaType === FORM) return parseForm(text);
  if (mediaType !== 'application/json') throw new AppError('unsupported_media_type');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_request', { hint: 'body_not_json', cause });
  }
}

/** @throws {AppError} invalid_request for a parameter that is given twice (RFC 6749 §3.1). */
function parseForm(text: string): Record<string, string> {
  const parameters = new URLSearchParams(text);
  const form: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (Object.hasOwn(form, name)) throw invalidField(name, 'This parameter is given twice; send it once.');
    form[name] = value;
  }
  return form;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const declared = request.headers.get('content-length');
  if (declared !== null) {
    if (Number(declared) > maxBytes) throw new AppError('payload_too_large');
    return request.text();
  }
  if (!request.body) return '';
  // Without a declared length the body is counted as it comes in.
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw new AppError('payload_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
