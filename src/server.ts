/** A running instance: opens the data, listens, runs the jobs, and stops without losing what was accepted. */
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import { type Config, localUrlOf, ownUrl } from './config.ts';
import { adjustableClock, type Clock, systemClock } from './core/clock.ts';
import { sharedIdentity } from './core/doctor-pass.ts';
import { before, deadlineIn, earlier, waitUntil } from './core/deadline.ts';
import { systemRandom } from './core/random.ts';
import type { Database } from './db/database.ts';
import type { OpenedData, ServerNotes } from './db/opened-data.ts';
import { reasonOf } from './database-log.ts';
import { type Dependencies, mailWay, openData } from './dependencies.ts';
import { bodyPoolFull, bufferedBytes } from './http/body-pool.ts';
import { readCertificate } from './http/certificate.ts';
import { certificateWatch } from './http/certificate-watch.ts';
import { watchDescriptors } from './http/file-descriptors.ts';
import { type Listener, listen, portAlone } from './http/listener.ts';
import { requestIntake } from './http/intake.ts';
import { listenError } from './http/listen-errors.ts';
import type { Serve, ServeSome } from './http/raw-path.ts';
import { startHttpThread, guardedFetch, refuseOutbound } from './outbound/guarded-fetch.ts';
import { createServices, type Services } from './services.ts';
import { newIdentity, noteOf } from './server-note.ts';
import { threadCount } from './threads/count.ts';
import type { ThreadListener } from './threads/thread-listener.ts';
import { createThreads, type Threads } from './threads/threads.ts';
import { temporaryData } from './temporary-data.ts';
import type { Outbox } from './mail/outbox.ts';
import type { AccessLog } from './http/access-log.ts';

export interface RunningServer {
  readonly url: string;
  readonly db: Database;
  readonly services: Services;
  readonly upgradeCopy: string | null;
  /** Address at which this machine reaches it, bypassing any proxy. */
  readonly localUrl: string;
  /** True if the previous server on this folder did not stop cleanly. */
  readonly isAfterCrash: boolean;
  /** Returns the number of requests not answered yet. */
  pending(): number;
  /** Reloads the certificate for new connections; null for http. Never throws: bad files are logged and not used. */
  readonly renewCertificate: (() => void) | null;
  /** Takes no new work, finishes what is in flight, flushes, closes. Idempotent. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly log: Logger;
  readonly accessLog: AccessLog;
  /** Writes a line of the access log that a thread has made; null where requests are not logged. */
  readonly writeLines?: ((line: string) => void) | null;
  /** Starts a thread that verifies; given by tests only. */
  readonly spawnThread?: () => Worker;
  readonly onCapture?: Outbox['onCapture'];
  /** Runs before the first request is answered; if it fails, the server does not start. */
  readonly prepare?: ((services: Services) => Promise<void>) | null;
  /** A trial run on another instance's data: no jobs, no mails, no outgoing requests. */
  readonly isDrill?: boolean;
}

/** Limit of the whole stop: the unit file and the guide say 10 s. */
const STOP_MS = 9000;

/** Longest wait for running jobs. Unfinished deliveries and mails are leased, and sent again after the next start. */
const JOBS_MS = 1000;

/** Time reserved for the steps after the requests in flight: running jobs, the last flush, closing the database. */
const AFTER_DRAIN_MS = 1500;
const AFTER_JOBS_MS = 800;
const AFTER_FLUSH_MS = 500;

/** Runs `listen`. @throws {StartupError} with the remedy if that throws. */
async function listening<Result>(config: Config, listen: () => Result): Promise<Awaited<Result>> {
  try {
    return await listen();
  } catch (cause) {
    throw listenError(config, cause);
  }
}

/** @throws {StartupError} if the data or the port is unavailable, or the settings do not match the data. */
export async function startServer(
  config: Config,
  { log, accessLog, writeLines = null, spawnThread, onCapture = null, isDrill = false, prepare = null }: ServerOptions,
): Promise<RunningServer> {
  const certificate = config.tlsFiles && readCertificate(config.tlsFiles, systemClock.now());
  // Checked before the data is opened: a failing start must not create or upgrade a database.
  await listening(config, () => portAlone(config.host, config.port));
  const isEphemeral = config.mode === 'ephemeral';
  const temporary = isEphemeral ? await temporaryData(config, log) : null;
  const testClock = isEphemeral ? adjustableClock() : null;
  const clock = testClock ?? systemClock;
  const threads = isDrill ? null : threadsOf(config, clock, log);

  const httpThread = startHttpThread();
  let data: OpenedData;
  try {
    data = await openData(temporary?.place ?? config.database ?? config.dataFolder, {
      clock,
      isDurable: !isEphemeral,
      slowStatementMs: config.slowStatementMs,
      log,
      changes: threads?.changes ?? null,
      maxCached: config.cachedSessions,
    });
  } catch (error) {
    await temporary?.remove();
    throw error;
  }
  const { db, instanceKey, leaseHolder, upgradeCopy, isAfterCrash } = data;
  const notes = isEphemeral || isDrill ? null : data.notes;
  let isStopping = false;
  // Links need the port, so early requests wait for the app. Large bodies would be buffered and are refused.
  const ready = Promise.withResolvers<Serve>();
  let handle: Serve = async (request, seen) =>
    bufferedBytes(request) > 0 ? refuse(request, bodyPoolFull()) : (await ready.promise)(request, seen);

  let refuse: App['refuse'] = async (_, { status }) => new Response(null, { status, headers: { 'Retry-After': '1' } });

  let handleShort: ServeSome = () => null;
  const { serve, settle } = requestIntake({
    limits: config.limits,
    handle: (request, seen) => handle(request, seen),
    handleShort: (request, seen) => handleShort(request, seen),
    refuse: (request, refusal) => refuse(request, refusal),
  });
  await httpThread;
  function onError(error: Error): Response {
    log.error({ err: error }, 'the server failed outside a request');
    return Response.json({ success: false, error: 'internal' }, { status: 500 });
  }

  let door: Listener | ThreadListener;
  try {
    door = await listening(config, () =>
      threads
        ? threads.listen({
            ...{ config, certificate, serve, onError, log, spawn: spawnThread, isAccessLogged: writeLines !== null },
            refuse: (request, refusal) => refuse(request, refusal),
          })
        : listen({ host: config.host, port: config.port, certificate, serve, onError }),
    );
  } catch (error) {
    await data.close();
    await temporary?.remove();
    throw error;
  }

  const url = ownUrl(config, door.port);
  const watch =
    certificate && certificateWatch({ first: certificate, baseUrl: url, clock: systemClock, log, use: door.renew });
  const mail = isDrill ? { onCapture, isOnly: true } : mailWay(config, url, onCapture);
  const identity = isEphemeral || isDrill ? null : notes ? newIdentity(systemRandom) : sharedIdentity(instanceKey);
  const dependencies: Dependencies = {
    config,
    db,
    clock,
    random: systemRandom,
    instanceKey,
    leaseHolder,
    mail,
    outbound: isDrill
      ? refuseOutbound
      : guardedFetch({ allowed: config.allowedCidrs, isLoopbackAllowed: config.mode !== 'normal' }),
    log,
    accessLog,
    baseUrl: () => url,
    peerAddress: door.peerAddress,
    keepOpen: door.keepOpen,
    certificate: watch,
    isStopping: () => isStopping,
    identity,
    testClock,
    threads: threads && { limits: threads.limits, samples: threads.intake.samples },
  };
  let services: Services;
  try {
    services = await createServices(dependencies);
    if (prepare) await prepared(services, prepare);
  } catch (error) {
    await door.stop(true);
    await data.close();
    await temporary?.remove();
    // A page of a table that the start reads can be damaged, for example.
    throw data.explained(error);
  }
  const app = createApp(dependencies, services, settle);
  services.metrics.gauge('gatehouse_http_requests_in_flight', 'Requests that are not answered yet.', door.pending);
  handle = app.fetch;
  handleShort = app.fetchShort;
  refuse = app.refuse;
  ready.resolve(app.fetch);
  if (threads && 'open' in door) {
    const { verification, counts, proxies } = services;
    threads.intake.connect({
      ...verification.notes,
      noteRefusal: counts.noteRefusal,
      noteKeyCalls: counts.keyCalled,
      noteUntrusted: (header) => void (proxies.untrustedHeader = header),
      log,
      writeLines,
    });
    door.open();
  }
  if (!isDrill) services.scheduler.start();
  if (!isDrill && !isEphemeral && db.checkIntegrity) void lookThrough(db.checkIntegrity, log);
  const localUrl = localUrlOf(config, door.port);
  if (notes && identity) {
    try {
      notes.write(noteOf(dependencies, identity, localUrl));
    } catch (err) {
      log.warn({ err }, 'the note for commands on this machine could not be written');
    }
  }
  const descriptors = watchDescriptors({ log, shed: door.closeIdle });

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    isStopping = true;
    const deadline = deadlineIn(STOP_MS);
    const drained = before(deadline, AFTER_DRAIN_MS);
    for (const streams of [services.live, services.activity, services.eventStreams]) streams.closeAll();
    await waitUntil(drained, door.leave());
    await waitUntil(drained, door.stop());
    await waitUntil(deadline, door.stop(true));
    descriptors[Symbol.dispose]();
    await waitUntil(
      earlier(deadlineIn(JOBS_MS), before(deadline, AFTER_JOBS_MS)),
      services.stop().catch((error: unknown) => log.warn({ reason: reasonOf(error) }, 'a job failed while stopping')),
    );
    await services.flushAll(before(deadline, AFTER_FLUSH_MS));
    if (notes) removeNote(notes);
    await data.close(deadline);
    await temporary?.remove();
  }

  /** Removes the note. Never throws: on a read-only disk it stays, and the next start removes it. */
  function removeNote(note: ServerNotes): void {
    // The note belongs to the other server.
    if (db.status().outage === 'folder_taken') return;
    try {
      note.remove();
    } catch (error) {
      log.warn(
        { reason: reasonOf(error) },
        'the note of this server stays in the data folder; the next start removes it',
      );
    }
  }
  return {
    url,
    localUrl,
    db,
    services,
    upgradeCopy,
    isAfterCrash,
    renewCertificate: watch && watch.renew,
    pending: door.pending,
    stop: () => (stopping ??= stop()),
  };
}

function threadsOf(config: Config, clock: Clock, log: Logger): Threads | null {
  const { count, isUnsupported } = threadCount(config);
  if (isUnsupported) log.info('no threads verify: here listeners cannot share a port, as they can on Linux');
  return count === 0 ? null : createThreads(count, { random: systemRandom, clock });
}

/** Checks the database while requests are answered, and logs damage. */
async function lookThrough(checkIntegrity: NonNullable<Database['checkIntegrity']>, log: Logger): Promise<void> {
  try {
    const problems = await checkIntegrity();
    if (problems.length > 0)
      log.error(
        { problems },
        'the database is damaged: keep a copy of the folder, run gatehouse doctor --full, and bring back a good backup',
      );
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'the database could not be checked at start');
  }
}

/** Runs `prepare`, and stops the services if it fails. */
async function prepared(services: Services, prepare: NonNullable<ServerOptions['prepare']>): Promise<void> {
  try {
    await prepare(services);
  } catch (error) {
    await services.stop();
    throw error;
  }
}
