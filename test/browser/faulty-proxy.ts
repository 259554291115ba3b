/** A reverse proxy that holds back, loses or refuses chosen requests, as a bad network or a filter would. */

export interface FaultyProxy {
  readonly url: string;
  /** Applies from the next request on; null passes everything. */
  treat(fault: Fault | null): void;
  /** Answers the requests that are held back. */
  release(): void;
  stop(): Promise<void>;
}

export interface Fault {
  /** Paths that are affected. */
  readonly of: RegExp;
  /** `held` until released; `lost`: a 404 without content; `away`: the server behind the proxy does not answer. */
  readonly as: 'held' | 'lost' | 'away';
}

/** @param target address of the server, whose own name and origin it sees. */
export function startFaultyProxy(target: string): FaultyProxy {
  let fault: Fault | null = null;
  let released = Promise.withResolvers<void>();
  const { host } = new URL(target);
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (fault?.of.test(pathname)) {
        if (fault.as === 'lost') return new Response(null, { status: 404 });
        if (fault.as === 'away') return new Response('<h1>Bad gateway</h1>', { status: 502 });
        await released.promise;
      }
      const headers = new Headers(request.headers);
      headers.set('host', host);
      if (headers.has('origin')) headers.set('origin', target);
      const body = request.body === null ? null : await request.arrayBuffer();
      return fetch(target + pathname + search, {
        method: request.method,
        headers,
        body,
        redirect: 'manual',
        decompress: false,
      });
    },
  });
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    treat(next) {
      fault = next;
    },
    release() {
      released.resolve();
      released = Promise.withResolvers<void>();
    },
    async stop() {
      released.resolve();
      await proxy.stop(true);
    },
  };
}
