/** Answers with a page: an HTML document under its security headers. */
import type { RequestContext } from './request-context.ts';
import { DOCUMENT_HEADERS } from './security-headers.ts';

export type PageKind = keyof typeof DOCUMENT_HEADERS;

/** Adds a page's headers to those of the answer, in place. */
export function pageHeaders(context: RequestContext, kind: PageKind = 'page'): Record<string, string> {
  return Object.assign(context.headers, DOCUMENT_HEADERS[kind]);
}

export function pageResponse(context: RequestContext, html: string, kind: PageKind = 'page'): Response {
  return new Response(html, { headers: pageHeaders(context, kind) });
}
