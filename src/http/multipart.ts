/** Takes the one file out of a form (`multipart/form-data`, RFC 7578), without copying it. */
import { AppError, invalidField } from '../core/error.ts';

const CRLF = '\r\n';
const MAX_HEADER_BYTES = 8 * 1024;

/** Returns a view of the body. @param contentType with its boundary. @throws {AppError} invalid_request */
export function fileOfForm(body: Uint8Array, contentType: string, field: string): Uint8Array {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType);
  if (!boundary) throw brokenForm(field);
  const delimiter = `--${boundary[1] ?? boundary[2]}`;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let at = bytes.indexOf(delimiter);
  // A preamble of whole lines may come before the first delimiter.
  if (at > 0) at = bytes.indexOf(CRLF + delimiter) + CRLF.length;
  if (at < 0 || !bytes.subarray(at).toString('latin1', 0, delimiter.length).startsWith(delimiter))
    throw brokenForm(field);

  let file: Uint8Array | null = null;
  for (;;) {
    at += delimiter.length;
    if (bytes.toString('latin1', at, at + 2) === '--') break;
    const headers = bytes.indexOf(CRLF, at) + CRLF.length;
    // A part without headers has no name, and begins with its empty line.
    const end = bytes.indexOf(CRLF + CRLF, headers - CRLF.length);
    const next = bytes.indexOf(CRLF + delimiter, end + CRLF.length);
    if (headers < CRLF.length || end < 0 || end - headers > MAX_HEADER_BYTES || next < 0) throw brokenForm(field);
    if (file || nameIn(bytes.toString('utf8', headers, Math.max(headers, end))) !== field)
      throw invalidField(field, `Send one file in the field "${field}", and nothing else.`);
    file = bytes.subarray(end + 2 * CRLF.length, Math.max(end + 2 * CRLF.length, next));
    at = next + CRLF.length;
  }
  if (!file) throw invalidField(field, `Send one file in the field "${field}", and nothing else.`);
  return file;
}

function nameIn(headers: string): string | null {
  const [, parameters = ''] = /^content-disposition:\s*form-data\s*(;.*)$/im.exec(headers) ?? [];
  const [, quoted, token] = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(parameters) ?? [];
  return quoted ?? token ?? null;
}

function brokenForm(field: string): AppError {
  return invalidField(field, 'The form is cut off or broken; send it again as multipart/form-data.');
}
