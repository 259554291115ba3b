/**
 * Makes calls to this server within an outer call, by the same pipeline: authenticated, authorised, validated and
 * recorded like any call, but counted with the outer one.
 */
import type { RequestContext } from './request-context.ts';

export interface InternalCall {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  /** Sent as JSON; undefined for none. */
  readonly body?: unknown;
}

export interface InternalCalls {
  /** Makes a call. It inherits only the outer call's credential, id and client address. */
  call(outer: RequestContext, call: InternalCall): Promise<Response>;
  /** Returns the outer call of a request; undefined for every request from outside, regardless of its headers. */
  outerOf(request: Request): RequestContext | undefined;
  serve(take: (request: Request) => Promise<Response>): void;
}

export function internalCalls(): InternalCalls {
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
