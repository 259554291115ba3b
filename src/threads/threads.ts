/** Starts the threads that verify, and makes the memory that they share with the main thread. */
import type { Logger } from 'pino';
import { type Config, ownUrl } from '../config.ts';
import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import { changeLogMemory } from '../db/sqlite/change-log.ts';
import { pathsIn } from '../db/sqlite/data-folder.ts';
import type { AppError } from '../core/error.ts';
import type { ListenerOptions } from '../http/listener.ts';
import { limitMemory, sharedLimits, type SharedLimits } from '../http/shared-limits.ts';
import { noteIntake, type NoteIntake } from './note-intake.ts';
import { type ThreadListener, threadListener } from './thread-listener.ts';

const MAIN_THREAD = 1;

export interface Threads {
  readonly count: number;
  /** Memory of the change log. */
  readonly changes: SharedArrayBuffer;
  readonly limits: SharedLimits;
  readonly intake: NoteIntake;
  /** Starts the threads, which listen at the port. @throws what listening throws. */
  listen(options: ThreadsOptions): Promise<ThreadListener>;
}

export interface ThreadsOptions extends Pick<ListenerOptions, 'certificate' | 'serve' | 'onError'> {
  readonly config: Config;
  readonly log: Logger;
  readonly isAccessLogged: boolean;
  readonly refuse: (request: Request, refusal: AppError) => Promise<Response>;
  readonly spawn?: (() => Worker) | undefined;
}

export function createThreads(
  count: number,
  { random, clock }: { readonly random: Random; readonly clock: Clock },
): Threads {
  const changes = changeLogMemory();
  const memory = limitMemory(Buffer.from(random.bytes(4)).readInt32LE());
  const limits = sharedLimits(memory, MAIN_THREAD, clock);
  const intake = noteIntake();

  return {
    count,
    changes,
    limits,
    intake,
    listen({ config, certificate, spawn, isAccessLogged, ...options }) {
      const { host, trustedProxies, countryHeader, mode } = config;
      return threadListener({
        ...options,
        ...(spawn && { spawn }),
        count,
        host,
        port: config.port,
        certificate: certificate && { cert: certificate.cert, key: certificate.key },
        limits,
        onNotes: intake.take,
        onEnd: intake.ended,
        settings(port) {
          const baseUrl = ownUrl(config, port);
          return {
            databasePath: pathsIn(config.dataFolder).databasePath,
            maxCached: config.cachedSessions,
            changes,
            limitMemory: memory,
            host,
            port,
            baseUrl,
            cdnUrl: config.cdnUrl ?? `${baseUrl}/cdn`,
            limits: config.limits,
            trustedProxies,
            countryHeader,
            isPrivate: mode === 'ephemeral',
            isAccessLogged,
          };
        },
      });
    },
  };
}
