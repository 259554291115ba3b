/**
 * Listens for requests. Bun cannot change a listener's certificate (https://github.com/oven-sh/bun/issues/43815), so a
 * renewed one opens a second listener on the same port, and the first is drained and closed.
 */
import { whenReady } from '../core/maybe-promise.ts';
import { required } from '../core/required.ts';
import { closeAfter } from './close-after.ts';
import { type ListenerDrain, listenerDrain } from './listener-drain.ts';
import type { Certificate } from './certificate.ts';
import { rawPathRoutes, seenBeyondRoutes, type Serve } from './raw-path.ts';
import { pathOf } from './request-url.ts';

/** Time after which an idle connection is closed; no answer of ours takes as long. */
const IDLE_SECONDS = 30;

/** Lifts Bun's own limit, which would answer before we can; bodies are bounded where they are read. */
const LARGEST_BODY = Number.MAX_SAFE_INTEGER;

/**
 * After a renewal the old listener stays open for up to 10 s, so that slow clients can send their first request. The
 * kernel gives it new connections until then, and resets those not accepted unless `net.ipv4.tcp_migrate_req` is 1 (the
 * guide says so).
 */
const RETIRING = { quietMs: 1000, maxMs: 10_000 };

/** Whether two listeners can share a port. Windows cannot, and has no signal that renews a certificate either. */
const CAN_SHARE = process.platform !== 'win32';

/** The part of a certificate that a listener uses. */
export type CertificatePair = Pick<Certificate, 'cert' | 'key'>;

export interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Null for plain HTTP. */
  readonly certificate: CertificatePair | null;
  /** Whether other threads of this process listen on the port. It must be free, and not 0. */
  readonly isShared?: boolean;
  readonly serve: Serve;
  /** Turns an error that nothing else has answered into a response. */
  readonly onError: (error: Error) => Response;
}

export interface Listener {
  readonly port: number;
  /** Returns the address of the TCP peer; null when it has disconnected. */
  peerAddress(request: Request): string | null;
  /** Keeps a connection open without traffic from the client. */
  keepOpen(request: Request): void;
  pending(): number;
  /** Closes connections without a request. @returns how many. */
  closeIdle(): number;
  /** Serves new connections with it; others keep theirs. @throws what listening throws, changing nothing. */
  renew(certificate: CertificatePair): void;
  /** Resolves once no more requests arrive. Call `stop` at once afterwards. */
  leave(): Promise<void>;
  /** Stops listening, and resolves after the last request. If forced, aborts running requests. */
  stop(isForced?: boolean): Promise<void>;
}

interface BunListener {
  readonly server: Bun.Server<undefined>;
  readonly leave: ListenerDrain['leave'];
}

/** @throws what listening throws. */
export function listen({ host, port, certificate, isShared = false, serve, onError }: ListenerOptions): Listener {
  function listen(at: number, tls: CertificatePair | null): BunListener {
    const { arrived, leave } = listenerDrain();
    const take: Serve = (request, seen) => {
      if (tls) nameAsPlain(request);
      return arrived() ? whenReady(serve(request, seen), closeAfter) : serve(request, seen);
    };
    const server = Bun.serve({
      hostname: host,
      port: at,
      ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
      ...((tls || isShared) && { reusePort: CAN_SHARE }),
      maxRequestBodySize: LARGEST_BODY,
      idleTimeout: IDLE_SECONDS,
      routes: rawPathRoutes(take),
      fetch: (request) => take(request, seenBeyondRoutes(pathOf(request))),
      error: onError,
    });
    return { server, leave };
  }

  let current = listen(certificate === null || isShared ? port : portAlone(host, port), certificate);
  const own = required(current.server.port, 'port');
  const retiring = new Set<BunListener>();
  const all = () => [current, ...retiring];

  async function retire(listener: BunListener): Promise<void> {
    retiring.add(listener);
    await listener.leave(RETIRING);
    await listener.server.stop();
    retiring.delete(listener);
  }

  return {
    port: own,
    // Any listener knows the peers of all.
    peerAddress: (request) => current.server.requestIP(request)?.address ?? null,
    keepOpen: (request) => current.server.timeout(request, 0),
    pending: () => all().reduce((pending, { server }) => pending + server.pendingRequests, 0),
    closeIdle: () => all().reduce((closed, { server }) => closed + server.closeIdleConnections(), 0),
    renew(renewed) {
      const before = current;
      current = listen(own, renewed);
      void retire(before);
    },
    async leave() {
      await Promise.all(all().map(({ leave }) => leave()));
    },
    async stop(isForced = false) {
      await Promise.all(all().map(({ server }) => server.stop(isForced)));
    },
  };
}

/** Rewrites the URL to `http:`: Elysia reads an https one as path `//host/…`. The base URL tells the public address. */
function nameAsPlain(request: Request): void {
  Object.defineProperty(request, 'url', { value: request.url.replace('https:', 'http:') });
}

/** Returns the port after opening it alone: with `reusePort` it could be shared with another server unnoticed. */
export function portAlone(hostname: string, port: number): number {
  const trial = Bun.serve({ hostname, port, fetch: () => new Response() });
  const found = required(trial.port, 'port');
  void trial.stop(true);
  return found;
}
