/** Answers with an uploaded picture. It is user content: the headers keep browsers from treating it as anything else. */
import { matchesEtag } from '../../http/etag.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';

/** The URL contains the version, so it is immutable. An outdated URL serves the current picture, cached briefly. */
const CURRENT = 'public, max-age=31536000, immutable';
const OUTDATED = 'public, max-age=60';

interface ServedImage {
  /** Value of `v` in its URL. */
  readonly version: string;
  readonly etag: string;
  readonly mediaType: 'image/webp' | 'image/png';
  readonly bytes: Uint8Array;
}

export function imageResponse(context: RequestContext, { version, etag, mediaType, bytes }: ServedImage): Response {
  const headers = {
    ...context.headers,
    ETag: etag,
    'Cache-Control': queryOf(context.request).get('v') === version ? CURRENT : OUTDATED,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  if (matchesEtag(context.request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers });
  return new Response(new Uint8Array(bytes), { headers: { ...headers, 'Content-Type': mediaType } });
}
