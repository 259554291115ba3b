/** Answers conditional requests (RFC 9110 §13). */
import type { RequestContext } from './request-context.ts';

/** Compares weakly against a list or `*`, as If-None-Match requires (RFC 9110 §13.1.2). */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (!ifNoneMatch) return false;
  return ifNoneMatch.split(',').some((item) => {
    const candidate = item.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === etag;
  });
}

export interface Tagged {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/** Tags a text or a file. @param before prefix of the tag, where the bytes alone do not tell two answers apart. */
export function tagged(content: string | Uint8Array<ArrayBuffer>, before = ''): Tagged {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { bytes, etag: `"${before}${Bun.hash(bytes).toString(36)}"` };
}

/** Returns the content, or 304 for a client that has it. @param headers of both answers. @param mediaType of the content. */
export function answerTagged(
  { request, headers: common }: Pick<RequestContext, 'request' | 'headers'>,
  { bytes, etag }: Tagged,
  { mediaType, headers = {} }: { readonly mediaType: string; readonly headers?: Readonly<Record<string, string>> },
): Response {
  const all = { ...common, ...headers, ETag: etag };
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: all });
  const contentType = mediaType.startsWith('image/') ? mediaType : `${mediaType}; charset=utf-8`;
  return new Response(bytes, { headers: { ...all, 'Content-Type': contentType } });
}
