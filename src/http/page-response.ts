/** Answers with a page: HTML under a policy that runs no inline script and loads nothing from another host. */
import type { RequestContext } from './request-context.ts';

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; connect-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** Adds a page's headers to those of the answer, in place. */
export function pageHeaders(context: RequestContext): Record<string, string> {
  return Object.assign(context.headers, PAGE_HEADERS);
}

/** @param html a whole document. */
export function pageResponse(context: RequestContext, html: string): Response {
  return new Response(html, { headers: pageHeaders(context) });
}

/** The same for a page with a form that is sent to this server without a script. */
export function formResponse(context: RequestContext, html: string): Response {
  const headers = pageHeaders(context);
  headers['Content-Security-Policy'] = PAGE_HEADERS['Content-Security-Policy'].replace(
    "form-action 'none'",
    "form-action 'self'",
  );
  return new Response(html, { headers });
}

/** The same for a page whose renderer writes its own style into the document. */
export function pageHeadersWithStyles(context: RequestContext): Record<string, string> {
  const headers = pageHeaders(context);
  headers['Content-Security-Policy'] = PAGE_HEADERS['Content-Security-Policy'].replace(
    "style-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  );
  return headers;
}

/** A mail as it looks, for a frame of the console's: with its own styles and pictures, without script, links or origin. */
export function letterResponse(context: RequestContext, html: string): Response {
  const headers = pageHeaders(context);
  headers['Content-Security-Policy'] =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data: https:; frame-ancestors 'self'";
  headers['X-Frame-Options'] = 'SAMEORIGIN';
  return new Response(html, { headers });
}

/** A page that frames documents of this server. */
export function framingResponse(context: RequestContext, html: string): Response {
  const headers = pageHeaders(context);
  headers['Content-Security-Policy'] = `${PAGE_HEADERS['Content-Security-Policy']}; frame-src 'self'`;
  return new Response(html, { headers });
}
