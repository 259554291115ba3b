/**
 * Calls that this server makes of itself as parts of one that came in: through the same pipeline, so that they are
 * authenticated, judged, validated and recorded as if they had come by themselves, but counted with the one that came in.
 */
import type { RequestContext } from './request-context.ts';

export interface InnerCall {
  readonly method: string;
  /** With the query; every part encoded. */
  readonly path: string;
  /** Sent as JSON; undefined for none. */
  readonly body?: unknown;
}

export interface InnerCalls {
  /** Nothing of the outer call goes along but its credential, its id and the address it came from. */
  call(outer: RequestContext, call: InnerCall): Promise<Response>;
  /** What a request is a part of; undefined for every request from outside, whatever its headers say. */
  outerOf(request: Request): RequestContext | undefined;
  /** Where calls go, once there is somebody to take them. */
  serve(take: (request: Request) => Promise<Response>): void;
}

export function innerCalls(): InnerCalls {
  const outers = new WeakMap<Request, RequestContext>();
  let take: ((request: Request) => Promise<Response>) | undefined;

  return {
    async call(outer, { method, path, body }) {
      if (take === undefined) throw new Error('a call before anybody serves');
      const authorization = outer.request.headers.get('authorization');
      const headers = {
        ...(authorization !== null && { Authorization: authorization }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      };
      const text = body === undefined ? null : JSON.stringify(body);
      const request = new Request(`http://localhost${path}`, { method, headers, body: text });
      outers.set(request, outer);
      return take(request);
    },
    outerOf: (request) => outers.get(request),
    serve(by) {
      take = by;
    },
  };
}
