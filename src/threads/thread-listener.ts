/** Listens by threads: each answers verifications by itself, and hands every other request to the main thread. */
import type { Logger } from 'pino';
import { SECOND } from '../core/clock.ts';
import { bodyPoolFull } from '../http/body-pool.ts';
import { closeAfter } from '../http/close-after.ts';
import type { AppError } from '../core/error.ts';
import type { CertificatePair, Listener, ListenerOptions } from '../http/listener.ts';
import { portAlone } from '../http/listener.ts';
import type { SharedLimits } from '../http/shared-limits.ts';
import { CHECK_MS } from './heartbeat.ts';
import type { ThreadSettings } from './messages.ts';
import type { Notes } from './notes.ts';
import type { RequestOrigin } from './taken-over.ts';
import { startThread, type Thread } from './thread.ts';

export interface ThreadListenerOptions extends Omit<ListenerOptions, 'isShared'> {
  readonly count: number;
  readonly settings: (port: number) => ThreadSettings;
  readonly limits: SharedLimits;
  readonly log: Logger;
  readonly refuse: (request: Request, refusal: AppError) => Promise<Response>;
  readonly onNotes: (thread: number, notes: Notes) => void;
  /** Called once a thread has ended without having been stopped. */
  readonly onEnd: (thread: number) => void;
  /** Starts a worker; given by tests only. */
  readonly spawn?: () => Worker;
}

export interface ThreadListener extends Listener {
  /** Lets the threads answer by themselves. Before, they hand everything over. */
  open(): void;
}

/** Wait before a thread is replaced: one that fails at once must not spin. */
const REPLACE_MS = { first: 0, most: 30 * SECOND };
/** A thread that lasted this long was sound: the next replacement waits no longer than the first. */
const SOUND_MS = 60 * SECOND;

/** The main thread is 1. */
const FIRST_NUMBER = 2;

/** Small heaps: without them a thread takes 15 MB more under load, and a sixth more processor time. */
const spawnThread = (): Worker => new Worker(new URL('./verification-thread.ts', import.meta.url).href, { smol: true });

/** @throws what listening throws in a thread. */
export async function threadListener(options: ThreadListenerOptions): Promise<ThreadListener> {
  const { count, host, log, limits, spawn = spawnThread, serve, refuse, onError, onNotes, onEnd } = options;
  const port = portAlone(host, options.port);
  const settings = options.settings(port);
  const threads = new Map<number, Thread>();
  const origins = new WeakMap<Request, RequestOrigin>();
  let { certificate } = options;
  let closedIdle = 0;
  let isReady = false;
  let isStopping = false;

  async function refuseFull(request: Request): Promise<Response> {
    return closeAfter(await refuse(request, bodyPoolFull()));
  }

  function start(number: number, waitMs: number): Thread {
    const startedAt = performance.now();
    const thread = startThread({
      number,
      settings,
      certificate,
      isReady,
      spawn,
      serve,
      refuse: refuseFull,
      onError,
      noteRequest: (request, origin) => void origins.set(request, origin),
      onNotes: (notes) => onNotes(number, notes),
      onClosedIdle: (closed) => void (closedIdle += closed),
      onDeath(reason) {
        limits.recover(number);
        onEnd(number);
        threads.delete(number);
        if (isStopping) return log.error({ thread: number, reason }, 'a thread that verifies ended during the stop');
        const wait = performance.now() - startedAt > SOUND_MS ? REPLACE_MS.first : waitMs;
        log.error({ thread: number, reason }, 'a thread that verifies ended and is replaced');
        setTimeout(() => void replace(number, wait), wait);
      },
      onStuck() {
        log.error({ thread: number }, 'a thread that verifies hangs and cannot be ended: restart the server');
      },
    });
    threads.set(number, thread);
    return thread;
  }

  async function replace(number: number, waitMs: number): Promise<void> {
    if (isStopping) return;
    const next = Math.min(REPLACE_MS.most, Math.max(SECOND, waitMs * 2));
    try {
      await start(number, next).listening;
      log.info({ thread: number }, 'the thread was replaced');
    } catch (error) {
      threads.delete(number);
      limits.recover(number);
      log.error({ thread: number, err: error }, 'the thread could not be replaced; it is tried again');
      setTimeout(() => void replace(number, next), next);
    }
  }

  const all = () => [...threads.values()];
  const started = Array.from({ length: count }, (_, index) => start(FIRST_NUMBER + index, REPLACE_MS.first).listening);
  try {
    await Promise.all(started);
  } catch (error) {
    isStopping = true;
    await Promise.all(all().map((thread) => thread.stop(true)));
    throw error;
  }

  const checks = setInterval(() => all().forEach((thread) => thread.check()), CHECK_MS);

  return {
    port,
    peerAddress: (request) => origins.get(request)?.peer ?? null,
    keepOpen: (request) => origins.get(request)?.keepOpen(),
    pending: () => all().reduce((pending, thread) => pending + thread.pending(), 0),
    closeIdle() {
      for (const thread of all()) thread.post({ kind: 'close idle' });
      // The threads count later, so each call returns what they have closed since the last one.
      const closed = closedIdle;
      closedIdle = 0;
      return closed;
    },
    renew(renewed: CertificatePair) {
      const { cert, key } = renewed;
      certificate = { cert, key };
      for (const thread of all()) thread.post({ kind: 'renew', certificate });
    },
    open() {
      isReady = true;
      for (const thread of all()) thread.post({ kind: 'ready' });
    },
    async leave() {
      isStopping = true;
      await Promise.all(all().map((thread) => thread.leave()));
    },
    async stop(isForced = false) {
      isStopping = true;
      await Promise.all(all().map((thread) => thread.stop(isForced)));
      clearInterval(checks);
    },
  };
}
