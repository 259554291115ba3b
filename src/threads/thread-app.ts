/** Answers in a thread the requests of verification, by the operations and the short path of the main thread. */
import type { WorldClock } from '../core/clock.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import { metricsRegistry } from '../core/metrics.ts';
import type { Reader } from '../db/database.ts';
import { accessLog, isCallRefused } from '../http/access-log.ts';
import { authenticator } from '../http/authenticate.ts';
import { bufferedBytes } from '../http/body-pool.ts';
import { bodyReader } from '../http/body-reader.ts';
import { errorMapper } from '../http/errors.ts';
import { hostCheck } from '../http/host-check.ts';
import type { Seen } from '../http/raw-path.ts';
import { contextFactory } from '../http/request-context.ts';
import { countLimited, requestMetrics } from '../http/request-metrics.ts';
import { sessionCookie } from '../http/session-cookie.ts';
import { shortPath } from '../http/short-path.ts';
import { sharedLimits } from '../http/shared-limits.ts';
import { livenessRoute } from '../modules/health/liveness-route.ts';
import { introspectionRoute } from '../modules/oauth/introspection-route.ts';
import { introspection } from '../modules/oauth/service.ts';
import { usesBy } from '../modules/verification/last-seen.ts';
import { verificationRoutes } from '../modules/verification/routes.ts';
import { verificationService } from '../modules/verification/service.ts';
import type { ThreadSettings } from './messages.ts';
import { noteBook, type NoteBook, type Notes } from './notes.ts';
import { threadLog } from './thread-log.ts';

export interface ThreadAppOptions {
  readonly number: number;
  readonly settings: ThreadSettings;
  readonly reader: Reader;
  readonly clock: WorldClock;
  readonly peerAddress: (request: Request) => string | null;
  readonly sendNotes: (notes: Notes) => void;
}

export interface ThreadApp {
  /** Returns null for a request that the main thread must answer. */
  answer(request: Request, seen: Seen): MaybePromise<Response> | null;
  readonly notes: NoteBook;
}

export function threadApp(options: ThreadAppOptions): ThreadApp {
  const { number, settings, reader, clock, peerAddress } = options;
  const { baseUrl, limits } = settings;
  const metrics = metricsRegistry();
  const notes = noteBook(metrics.families, options.sendNotes);
  const log = threadLog(notes.log);
  const verification = verificationService({
    reader,
    clock,
    cdnUrl: () => settings.cdnUrl,
    metrics,
    seen: usesBy((seen) => {
      notes.seen(seen);
      return true;
    }),
    first: {
      verified: (applicationId, at) => notes.judged(applicationId, null, at),
      refused: notes.judged,
    },
  });
  const noteLine = accessLog(settings.isAccessLogged ? notes.line : null);
  const noteRequest = requestMetrics(metrics);
  const hostRefusal = hostCheck({ host: settings.host, baseUrl, isPrivate: settings.isPrivate });
  const context = contextFactory(settings, {
    clock,
    log,
    peerAddress,
    isHttps: baseUrl.startsWith('https:'),
    onUntrusted: notes.untrusted,
  });
  const answer = shortPath({
    operations: [
      ...verificationRoutes(verification),
      introspectionRoute(introspection({ verification, baseUrl: () => baseUrl })),
      livenessRoute(),
    ],
    // A large body is the main thread's, which bounds those of all threads.
    isForUs: (request) => hostRefusal(request) === null && bufferedBytes(request) === 0,
    createContext: context,
    authenticate: authenticator({
      credentials: verification.credentials,
      limiter: sharedLimits(settings.limitMemory, number, clock),
      limits,
      noteRefusal: notes.refused,
      noteVerdict: verification.noteSessionVerdict,
      cookie: sessionCookie(baseUrl),
      baseUrl,
    }),
    reader,
    bodies: bodyReader(limits),
    respondToError: errorMapper({ log, renderPage: () => '', noteLimited: countLimited(metrics) }),
    noteAnswer(answered, route, status) {
      const durationMs = performance.now() - answered.startedAt;
      noteRequest(answered, route, status, durationMs);
      noteLine(answered, route, status, durationMs);
      if (answered.countedKeyId !== null) notes.keyCalled(answered.countedKeyId, isCallRefused(answered, status));
      notes.touch();
    },
  });
  return { notes, answer: (request, seen) => answer(request, peerAddress, seen) };
}
