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
