/** Reads a request's JSON body: bounded, strict about its media type, with errors that say what to mend. */
import { AppError } from '../core/error.ts';

const MAX_JSON_BYTES = 1024 * 1024;

/**
 * @returns the parsed body; `undefined` when there is none.
 * @throws {AppError} payload_too_large, unsupported_media_type, invalid_request
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const text = await readText(request, MAX_JSON_BYTES);
  if (text.trim() === '') return undefined;
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/json') throw new AppError('unsupported_media_type');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid_request', { message: 'The body is not valid JSON; check its syntax.', cause });
  }
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
