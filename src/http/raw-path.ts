/**
 * Detects paths with `.` or `..`, plain or as `%2e`. Bun resolves them before a handler sees the path, but its router
 * matches the raw path, so routes find them.
 */

import type { MaybePromise } from '../core/maybe-promise.ts';

/** More segments than any path of ours has. */
const MOST_PARTS = 12;

/** Paths of the short path (`short-path.ts`); routes of their own save every other look at the path. */
export const BUSY_PATHS = ['/api/v1/session', '/api/v1/verify', '/api/v1/introspect', '/healthz'] as const;
export type BusyPath = (typeof BUSY_PATHS)[number];

export type Seen = BusyPath | 'resolved' | 'plain';

/** Throws where it cannot even answer with an error. */
export type Serve = (request: Request, seen: Seen) => MaybePromise<Response>;

/** Works like {@link Serve}, and returns null for a request that it leaves to others. Never throws. */
export type ServeSome = (request: Request, seen: Seen) => MaybePromise<Response> | null;

/** Takes the last step of a request with its answer. */
export type Settle = (request: Request, answer: Response) => MaybePromise<Response>;

type WithParts = Request & { readonly params: Record<string, string> };

/** Returns routes for `Bun.serve` that match every path of up to `MOST_PARTS` segments. */
export function rawPathRoutes(serve: Serve): Record<string, (request: WithParts) => MaybePromise<Response>> {
  const handle = (request: WithParts) =>
    serve(request, Object.values(request.params).some(isDots) ? 'resolved' : 'plain');
  const routes: Record<string, typeof handle> = {};
  for (const path of BUSY_PATHS) routes[path] = (request) => serve(request, path);
  let pattern = '';
  for (let part = 0; part < MOST_PARTS; part += 1) {
    pattern += `/:part${part}`;
    routes[pattern] = handle;
    routes[`${pattern}/`] = handle;
  }
  return routes;
}

/** Classifies a path without a route: the root, or one with empty or very many segments. Any other was resolved. */
export function seenBeyondRoutes(path: string): Seen {
  if (path === '/' || path.includes('//')) return 'plain';
  return path.split('/').length <= MOST_PARTS ? 'resolved' : 'plain';
}

function isDots(part: string): boolean {
  return part === '.' || part === '..';
}
