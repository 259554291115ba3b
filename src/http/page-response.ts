/** Answers with a page: an HTML document under its security headers, or a redirect to where a person goes next. */
import type { RequestContext } from './request-context.ts';
import { DOCUMENT_HEADERS, formHeaders } from './security-headers.ts';

export type PageKind = keyof typeof DOCUMENT_HEADERS;

/** Adds a page's headers to those of the answer, in place. */
export function pageHeaders(context: RequestContext, kind: PageKind = 'page'): Record<string, string> {
  return Object.assign(context.headers, DOCUMENT_HEADERS[kind]);
}

export function pageResponse(context: RequestContext, html: string, kind: PageKind = 'page'): Response {
  return new Response(html, { headers: pageHeaders(context, kind) });
}

/** Answers with a page whose form is answered by a redirect. @param target CSP source of the redirect; null for none. */
export function formResponse(context: RequestContext, html: string, target: string | null): Response {
  if (target === null) return pageResponse(context, html, 'form');
  return new Response(html, { headers: Object.assign(context.headers, formHeaders(target)) });
}

/**
 * Redirects without a Referer, so that neither the URL nor its parameters reach the target. @param status 303 answers a
 * form: browsers follow it by GET.
 */
export function redirectResponse({ headers }: RequestContext, location: string, status: 302 | 303 = 302): Response {
  return new Response(null, { status, headers: { ...headers, 'Referrer-Policy': 'no-referrer', Location: location } });
}
