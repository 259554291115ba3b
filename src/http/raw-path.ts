/**
 * Paths with `.` or `..` in them, plain or as `%2e`, lead elsewhere once they are resolved, and the runtime resolves them before
 * anyone sees them. Its own router reads the path as it came, so it is asked which those are.
 */

/** More parts than any path of ours has. */
const MOST_PARTS = 12;

/** @param isResolved whether the path was another one as it came. */
export type Serve = (request: Request, isResolved: boolean) => Promise<Response>;

/** What backends call for each request of theirs: taken as they are, they need no look at their parts. */
const BUSY_PATHS = ['/api/v1/session', '/api/v1/verify'];

type WithParts = Request & { readonly params: Record<string, string> };

/** Routes for `Bun.serve` that take every path of up to so many parts. */
export function rawPathRoutes(serve: Serve): Record<string, (request: WithParts) => Promise<Response>> {
  const handle = (request: WithParts) => serve(request, Object.values(request.params).some(isDots));
  const routes: Record<string, typeof handle> = {};
  for (const path of BUSY_PATHS) routes[path] = (request) => serve(request, false);
  let pattern = '';
  for (let part = 0; part < MOST_PARTS; part += 1) {
    pattern += `/:part${part}`;
    routes[pattern] = handle;
    routes[`${pattern}/`] = handle;
  }
  return routes;
}

/** What no route took: it is the root, or has empty parts or very many; one that looks otherwise was resolved. */
export function isResolvedBeyondRoutes(path: string): boolean {
  if (path === '/' || path.includes('//')) return false;
  return path.split('/').length <= MOST_PARTS;
}

function isDots(part: string): boolean {
  return part === '.' || part === '..';
}
