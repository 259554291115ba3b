/** A running instance: opens the data folder, listens, runs the jobs, and stops without losing what was accepted. */
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { adjustableClock, systemClock } from './core/clock.ts';
import { systemRandom } from './core/random.ts';
import type { Database } from './db/database.ts';
import { makeEphemeralFolder, sweepEphemeralFolders } from './db/ephemeral-folder.ts';
import { type Dependencies, mailWay, type OpenedData, openData } from './dependencies.ts';
import { arrivals } from './http/arrivals.ts';
import { watchDescriptors } from './http/descriptors.ts';
import { drain } from './http/drain.ts';
import { portTrouble } from './http/port-trouble.ts';
import { isResolvedBeyondRoutes, rawPathRoutes, type Serve } from './http/raw-path.ts';
import { pathOf } from './http/request-url.ts';
import { turnTaker } from './http/turns.ts';
import { beginOutbound, guardedFetch } from './outbound/guarded-fetch.ts';
import { createServices, type Services } from './services.ts';
import type { Outbox } from './mail/outbox.ts';
import type { AccessLog } from './http/access-log.ts';

/** An instance that is up. */
export interface RunningServer {
  readonly url: string;
  readonly db: Database;
  readonly services: Services;
  readonly upgradeCopy: string | null;
  /** Takes no new work, finishes what is in flight, flushes, closes. Idempotent. */
  stop(): Promise<void>;
}

/** Where an instance writes what it says. */
export interface ServerOptions {
  readonly log: Logger;
  readonly accessLog: AccessLog;
  /** Sees each mail that the embedded outbox captures. */
  readonly onCapture?: Outbox['onCapture'];
}

/** Longest wait for requests in flight at a stop; the whole stop stays under 10 s. */
const DRAIN_MS = 7500;

/** Longest wait for jobs under way. */
const JOBS_MS = 1000;

/** A connection that is silent for longer is closed; no answer of ours takes as long. */
const IDLE_SECONDS = 30;

/** Bodies are bounded where they are read; this only keeps Bun from answering before we can. */
const LARGEST_BODY = Number.MAX_SAFE_INTEGER;

/** @throws {StartupError} when the folder or the port cannot be had, or the settings do not fit what is in it. */
export async function startServer(
  config: Config,
  { log, accessLog, onCapture = null }: ServerOptions,
): Promise<RunningServer> {
  const isEphemeral = config.mode === 'ephemeral';
  if (isEphemeral) sweepEphemeralFolders();
  const folder = isEphemeral ? makeEphemeralFolder() : config.dataFolder;
  const removeFolder = () => isEphemeral && rmSync(folder, { recursive: true, force: true });
  const testClock = isEphemeral ? adjustableClock() : null;
  const clock = testClock ?? systemClock;

  let data: OpenedData;
  try {
    data = await openData(folder, { clock, isDurable: !isEphemeral, log });
  } catch (error) {
    removeFolder();
    throw error;
  }
  const { db, instanceKey, upgradeCopy } = data;
  let isStopping = false;
  // Requests that come before the app is up wait for it: the port must be known before links can be built.
  const ready = Promise.withResolvers<Serve>();
  let handle: Serve = async (request, isResolved) => (await ready.promise)(request, isResolved);

  const inTurn = turnTaker();
  const { note, answered, leave } = arrivals();
  await beginOutbound();
  const take: Serve = async (request, isResolved) => {
    note();
    const response = await inTurn(() => handle(request, isResolved));
    // A body that is answered with success has been read, or is none.
    if (response.status >= 400) await drain(request);
    return answered(response);
  };
  let listener: Bun.Server<undefined>;
  try {
    listener = Bun.serve({
      hostname: config.host,
      port: config.port,
      maxRequestBodySize: LARGEST_BODY,
      idleTimeout: IDLE_SECONDS,
      routes: rawPathRoutes(take),
      fetch: (request) => take(request, isResolvedBeyondRoutes(pathOf(request))),
      error(error) {
        log.error({ err: error }, 'the server failed outside a request');
        return Response.json({ success: false, error: 'internal' }, { status: 500 });
      },
    });
  } catch (cause) {
    await data.close();
    removeFolder();
    throw portTrouble(config, cause);
  }

  const localHost = isEphemeral ? '127.0.0.1' : 'localhost';
  const url = config.baseUrl ?? `http://${localHost}:${listener.port}`;
  const mail = mailWay(config, url, onCapture);
  const dependencies: Dependencies = {
    config,
    db,
    clock,
    random: systemRandom,
    instanceKey,
    mail,
    outbound: guardedFetch({ allowed: config.allowedCidrs, isLoopbackAllowed: config.mode !== 'normal' }),
    log,
    accessLog,
    baseUrl: () => url,
    peerAddress: (request) => listener.requestIP(request)?.address ?? null,
    keepOpen: (request) => listener.timeout(request, 0),
    isStopping: () => isStopping,
    testClock,
  };
  let services: Services;
  try {
    services = await createServices(dependencies);
  } catch (error) {
    await listener.stop(true);
    await data.close();
    removeFolder();
    throw error;
  }
  const app = createApp(dependencies, services);
  handle = app.fetch;
  ready.resolve(app.fetch);
  services.scheduler.start();
  const descriptors = watchDescriptors({ log, shed: () => listener.closeIdleConnections() });

  function closeStreams(): void {
    services.live.closeAll();
    services.activity.closeAll();
  }

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    isStopping = true;
    closeStreams();
    await leave();
    // Those that were opened again meanwhile.
    closeStreams();
    await Promise.race([listener.stop(), Bun.sleep(DRAIN_MS)]);
    await listener.stop(true);
    descriptors[Symbol.dispose]();
    await Promise.race([services.stop(), Bun.sleep(JOBS_MS)]);
    await services.flushAll();
    await data.close();
    removeFolder();
  }
  return { url, db, services, upgradeCopy, stop: () => (stopping ??= stop()) };
}
