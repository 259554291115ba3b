/** Serves the API reference renderer, precompressed and read from the binary on demand. */
import { assetHeaders, chooseEncoding, etagIn } from './assets.ts';
import { generatedReference } from './generated/reference.ts';
import { matchesEtag } from '../http/etag.ts';

export const REFERENCE_LIBRARY_PATH = generatedReference.path;

/** Answers GET; the app strips the body for HEAD. */
export function referenceLibraryResponse(request: Request): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'));
  const etag = etagIn(encoding, generatedReference.etag);
  const headers = assetHeaders(etag);
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers });

  const file = Bun.file(encoding === 'br' ? generatedReference.brotli : generatedReference.gzip);
  const isPlain = encoding === 'identity';
  headers.set('Content-Type', 'text/javascript; charset=utf-8');
  if (!isPlain) headers.set('Content-Encoding', encoding);
  return new Response(isPlain ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file, { headers });
}
