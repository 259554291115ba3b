/**
 * Listens, in plain or with a certificate. The runtime cannot change the certificate of a listener. For a renewed one a second
 * listener opens at the same port, and the first is drained and closed.
 */
import { required } from '../core/required.ts';
import { type Arrivals, arrivals } from './arrivals.ts';
import type { Certificate } from './certificate.ts';
import { rawPathRoutes, seenBeyondRoutes, type Serve } from './raw-path.ts';
import { pathOf } from './request-url.ts';

/** A connection that is silent for longer is closed; no answer of ours takes as long. */
const IDLE_SECONDS = 30;

/** Bodies are bounded where they are read; this only keeps Bun from answering before we can. */
const LARGEST_BODY = Number.MAX_SAFE_INTEGER;

/**
 * How long a replaced listener waits for clients far away that have connected and not asked yet. Until it closes, the kernel gives it
 * a share of new connections. Those it has not accepted then are reset, unless `net.ipv4.tcp_migrate_req` is 1 (the guide says so).
 * The runtime can change no certificate in place: https://github.com/oven-sh/bun/issues/43815
 */
const RETIRING = { quietMs: 1000, maxMs: 10_000 };

/** Two may listen at one port; where they may not, nobody sends the signal either. */
const CAN_SHARE = process.platform !== 'win32';

export interface DoorOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Null for plain http. */
  readonly certificate: Certificate | null;
  readonly serve: Serve;
  /** Told of what no answer was made of. */
  readonly onError: (error: Error) => Response;
}

/** Where requests come in. */
export interface Door {
  readonly port: number;
  /** Of the TCP peer; null when it has gone. */
  peerAddress(request: Request): string | null;
  /** Lets a connection stay open without traffic from the client. */
  keepOpen(request: Request): void;
  /** How many requests are not answered yet. */
  pending(): number;
  /** Closes connections that have no request. @returns how many they were. */
  closeIdle(): number;
  /**
   * New connections get this certificate; those there are go on with theirs until they end.
   *
   * @throws what listening throws; then everything is as before.
   */
  renew(certificate: Certificate): void;
  /** Resolves when no more requests come; to be followed by the end of listening at once. */
  leave(): Promise<void>;
  /** Ends listening, and resolves with the last request; forced, it ends those too. */
  stop(isForced?: boolean): Promise<void>;
}

interface Listener {
  readonly server: Bun.Server<undefined>;
  readonly leave: Arrivals['leave'];
}

/** @throws what listening throws. */
export function openDoor({ host, port, certificate, serve, onError }: DoorOptions): Door {
  function listen(at: number, tls: Certificate | null): Listener {
    const { note, answered, leave } = arrivals();
    const take: Serve = (request, seen) => {
      note();
      if (tls) nameAsPlain(request);
      return serve(request, seen).then(answered);
    };
    const server = Bun.serve({
      hostname: host,
      port: at,
      ...(tls && { tls: { cert: tls.cert, key: tls.key }, reusePort: CAN_SHARE }),
      maxRequestBodySize: LARGEST_BODY,
      idleTimeout: IDLE_SECONDS,
      routes: rawPathRoutes(take),
      fetch: (request) => take(request, seenBeyondRoutes(pathOf(request))),
      error: onError,
    });
    return { server, leave };
  }

  let current = listen(certificate === null ? port : portAlone(host, port), certificate);
  const own = required(current.server.port, 'port');
  const retiring = new Set<Listener>();
  const all = () => [current, ...retiring];

  async function retire(listener: Listener): Promise<void> {
    retiring.add(listener);
    await listener.leave(RETIRING);
    await listener.server.stop();
    retiring.delete(listener);
  }

  return {
    port: own,
    // Whichever listener a request came by, each of them knows.
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

/**
 * Elysia looks for the path behind `http://`, whatever the scheme, and would take an https address for the path `//host/…`. What
 * this server is reached by is told by the base URL alone, never by a request.
 */
function nameAsPlain(request: Request): void {
  Object.defineProperty(request, 'url', { value: request.url.replace('https:', 'http:') });
}

/** Listeners that may share a port would share it with another server as well: it is tried for itself first. */
export function portAlone(hostname: string, port: number): number {
  const trial = Bun.serve({ hostname, port, fetch: () => new Response() });
  const found = required(trial.port, 'port');
  void trial.stop(true);
  return found;
}
