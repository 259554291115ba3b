/** Whether a client already has what it would be sent (RFC 9110 §13), and the answer to it. */
import type { RequestContext } from './request-context.ts';

/** Weak comparison against a list or `*`, as RFC 9110 §13.1.2 asks for If-None-Match. */
export function matchesEtag(ifNoneMatch: string | null, etag: string): boolean {
  if (!ifNoneMatch) return false;
  return ifNoneMatch.split(',').some((item) => {
    const candidate = item.trim().replace(/^W\//, '');
    return candidate === '*' || candidate === etag;
  });
}

/** A text as it is sent. */
export interface Tagged {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/** @param before what the tag begins with, where the bytes alone do not tell two apart. */
export function tagged(text: string, before = ''): Tagged {
  const bytes = new TextEncoder().encode(text);
  return { bytes, etag: `"${before}${Bun.hash(bytes).toString(36)}"` };
}

/**
 * All of it, or 304 and nothing to whoever has the same.
 *
 * @param headers of either answer, beside those of every answer.
 * @param mediaType said of the whole.
 */
export function answerTagged(
  { request, headers: common }: Pick<RequestContext, 'request' | 'headers'>,
  { bytes, etag }: Tagged,
  { mediaType, headers = {} }: { readonly mediaType: string; readonly headers?: Readonly<Record<string, string>> },
): Response {
  const all = { ...common, ...headers, ETag: etag };
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: all });
  return new Response(bytes, { headers: { ...all, 'Content-Type': `${mediaType}; charset=utf-8` } });
}
