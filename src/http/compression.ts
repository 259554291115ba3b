/** Compresses text answers of more than 1 KiB where the client accepts gzip (RFC 9110 §12.5.3). */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { JsonText } from './json-text.ts';
import type { RequestContext } from './request-context.ts';

const LEAST_BYTES = 1024;
/** Size from which another thread compresses: here it would block the event loop for a millisecond and more. */
const MANY_BYTES = 32 * 1024;
const LEVEL = 5;

const JSON_TYPE = 'application/json; charset=utf-8';
/** Excludes event streams: their clients wait for each event. */
const TEXT_TYPES =
  /^(?:text\/(?:html|plain|css|javascript|yaml)|application\/(?:json|yaml|javascript|openmetrics-text))\b/;

const gzipAside = promisify(gzip);

function takesGzip(request: Request): boolean {
  const accepted = request.headers.get('accept-encoding');
  return accepted !== null && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/i.test(accepted);
}

/**
 * Returns a call's JSON answer, compressed where that pays and the client accepts it.
 *
 * @param headersOf makes the headers of an uncompressed one.
 */
export function jsonResponse(
  { headers, request }: RequestContext,
  value: unknown,
  headersOf: (record: Record<string, string>) => HeadersInit = (record) => record,
): Response | Promise<Response> {
  const text = value instanceof JsonText ? value.text : JSON.stringify(value);
  headers['Content-Type'] = JSON_TYPE;
  if (text.length <= LEAST_BYTES) return new Response(text, { headers: headersOf(headers) });
  headers['Vary'] = 'Accept-Encoding';
  if (!takesGzip(request)) return new Response(text, { headers: headersOf(headers) });
  return zipped(text).then((bytes) => new Response(bytes, { headers: { ...headers, 'Content-Encoding': 'gzip' } }));
}

async function zipped(text: string | Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (text.length > MANY_BYTES) return (await gzipAside(text, { level: LEVEL })) as Uint8Array<ArrayBuffer>;
  return Bun.gzipSync(text as Uint8Array<ArrayBuffer>, { level: LEVEL });
}

/** Maximum of compressed bodies cached by ETag. Only public resources have one, such as a script or a description. */
const MAX_CACHED = 8;

export type Compressor = (request: Request, response: Response) => Response | Promise<Response>;

/** Creates a compressor for responses built by handlers. It leaves short, already encoded and non-text ones alone. */
export function compressor(): Compressor {
  const cached = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  function zippedOnce(tag: string | null, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    if (tag === null) return zipped(bytes);
    let known = cached.get(tag);
    if (known === undefined) {
      if (cached.size >= MAX_CACHED) cached.clear();
      cached.set(tag, (known = zipped(bytes)));
    }
    return known;
  }

  async function compress(request: Request, response: Response): Promise<Response> {
    const { status } = response;
    const headers = new Headers(response.headers);
    const bytes = await response.bytes();
    if (bytes.length <= LEAST_BYTES) return new Response(bytes, { status, headers });
    headers.append('Vary', 'Accept-Encoding');
    if (!takesGzip(request)) return new Response(bytes, { status, headers });
    headers.set('Content-Encoding', 'gzip');
    const tag = headers.get('etag');
    // Another encoding is another representation, so its tag becomes a weak one (RFC 9110 §8.8.1).
    if (tag !== null && !tag.startsWith('W/')) headers.set('ETag', `W/${tag}`);
    return new Response(await zippedOnce(tag, bytes), { status, headers });
  }

  return (request, response) => {
    const { headers } = response;
    const isText = TEXT_TYPES.test(headers.get('content-type') ?? '');
    if (response.body === null || headers.has('content-encoding') || !isText) return response;
    return compress(request, response);
  };
}
