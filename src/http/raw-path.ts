/**
 * Paths with `.` or `..` in them, plain or as `%2e`, lead elsewhere once they are resolved, and the runtime resolves them before
 * anyone sees them. Its own router reads the path as it came, so it is asked which those are.
 */

/** More parts than any path of ours has. */
const MOST_PARTS = 12;

/** What backends call for each request of theirs: they are found here, and need no other look at the path. */
const BUSY_PATHS = ['/api/v1/session', '/api/v1/verify'] as const;
export type BusyPath = (typeof BUSY_PATHS)[number];

/** What is known of a path: that it is one of the busy ones; that it was another one as it came, and was resolved; or neither. */
export type Seen = BusyPath | 'resolved' | 'plain';

export type Serve = (request: Request, seen: Seen) => Promise<Response>;

type WithParts = Request & { readonly params: Record<string, string> };

/** Routes for `Bun.serve` that take every path of up to so many parts. */
export function rawPathRoutes(serve: Serve): Record<string, (request: WithParts) => Promise<Response>> {
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

/** What no route took: it is the root, or has empty parts or very many; one that looks otherwise was resolved. */
export function seenBeyondRoutes(path: string): Seen {
  if (path === '/' || path.includes('//')) return 'plain';
  return path.split('/').length <= MOST_PARTS ? 'resolved' : 'plain';
}

export function isBusyPath(path: string): path is BusyPath {
  return (BUSY_PATHS as readonly string[]).includes(path);
}

function isDots(part: string): boolean {
  return part === '.' || part === '..';
}
