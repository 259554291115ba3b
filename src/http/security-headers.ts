/**
 * Security headers of all answers: content security policy, framing, referrer, MIME sniffing and HSTS (OWASP Secure
 * Headers). A page runs no inline script and loads nothing from another host.
 */

/** Sources by directive (CSP Level 3). */
type Policy = Readonly<Record<string, string>>;

const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: https:",
  'connect-src': "'self'",
  'form-action': "'none'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
} satisfies Policy;

/** Policy of a mail: its own styles and pictures, no script, links or origin; only our pages may frame it. */
const LETTER_POLICY = {
  sandbox: '',
  'default-src': "'none'",
  'style-src': "'unsafe-inline'",
  'img-src': PAGE_POLICY['img-src'],
  'frame-ancestors': "'self'",
} satisfies Policy;

function headersUnder(policy: Policy): Record<string, string> {
  const directives = Object.entries(policy).map(([name, sources]) => `${name} ${sources}`.trimEnd());
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': directives.join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': policy['frame-ancestors'] === "'self'" ? 'SAMEORIGIN' : 'DENY',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  };
}

export const DOCUMENT_HEADERS = {
  page: headersUnder(PAGE_POLICY),
  /** A page with a form that is sent to this server without a script. */
  form: headersUnder({ ...PAGE_POLICY, 'form-action': "'self'" }),
  /** A page whose renderer writes its own style into the document. */
  styled: headersUnder({ ...PAGE_POLICY, 'style-src': "'self' 'unsafe-inline'" }),
  /** A page that frames documents of this server. */
  framing: headersUnder({ ...PAGE_POLICY, 'frame-src': "'self'" }),
  /** A mail as its reader sees it, in a frame. */
  letter: headersUnder(LETTER_POLICY),
};

/**
 * Returns the headers of a page whose form ends at another address: browsers apply `form-action` to the redirect that
 * answers a form as well. @param target CSP source of that address.
 */
export function formHeaders(target: string): Record<string, string> {
  return headersUnder({ ...PAGE_POLICY, 'form-action': `'self' ${target}` });
}

/** HSTS for a year, without subdomains: they may not be ours. */
const HTTPS_ONLY = 'max-age=31536000';

/** Returns the headers that every answer begins with; a route may allow caching. */
export function baseHeaders(requestId: string, isHttps: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
  if (isHttps) headers['Strict-Transport-Security'] = HTTPS_ONLY;
  return headers;
}
