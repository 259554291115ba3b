/**
 * Decides what browser applications may call from their own origin, with a bearer token or none (CORS, WHATWG Fetch).
 * Cookies never count; management, verification of others' tokens and introspection are excluded.
 */
import type { Operation } from './operation.ts';

const PATHS = [
  /^\/api\/v1\/auth\//,
  /^\/api\/v1\/session(?:\/|$)/,
  /^\/api\/(?:me|account)(?:\/|$)/,
  /^\/api\/v1\/i18n\//,
  /^\/api\/v1\/device\//,
  /^\/api\/applications\/:id\/public\//,
  /^\/oauth\/(?:token|userinfo|register)$/,
  /^\/openapi\./,
  /^\/\.well-known\//,
];

const EXPOSED =
  'Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, X-Request-Id, ETag, WWW-Authenticate, Content-Disposition';

type Judged = Pick<Operation, 'path' | 'access' | 'style' | 'isUndocumented'>;

/** Returns whether browsers may call the operation: never if it accepts an API key or manages the workspace. */
export function isForBrowsers({ path, access, style, isUndocumented }: Judged): boolean {
  if (isUndocumented || style === 'page' || access === 'key' || access === 'read' || access === 'full') return false;
  return PATHS.some((pattern) => pattern.test(path));
}

/** Lets any origin read the answer. */
export function allowOrigin(request: Request, answer: Response): void {
  if (!request.headers.has('origin')) return;
  answer.headers.set('Access-Control-Allow-Origin', '*');
  answer.headers.set('Access-Control-Expose-Headers', EXPOSED);
}

export function preflight(methods: readonly string[], headers: Record<string, string>): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...headers,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID, MCP-Protocol-Version',
      'Access-Control-Max-Age': '600',
    },
  });
}
