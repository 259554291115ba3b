/** Structured logs: JSON lines by pino, in this process, with secrets and e-mail addresses taken out. */
import { write } from 'node:fs';
import pino, { type DestinationStream, type Logger } from 'pino';
import { isoTime, systemClock } from './core/clock.ts';
import { scrub } from './core/scrub.ts';

const MAX_CAUSES = 5;

/** Causes are followed a few steps: a chain may be long, or a circle. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return scrub(String(error));
  return {
    type: error.name,
    message: scrub(error.message),
    stack: scrub(error.stack ?? ''),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** @param destination where lines go; `stdout` normally, `stderr` where standard output carries the ready line. */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describeError(error) },
      redact: { paths: ['email', 'token', 'code', 'authorization', 'cookie', '*.email', '*.token', '*.code'] },
    },
    destination,
  );
}

/** Where lines go: gathered, and written in blocks off the request's path. */
export interface LogDestination extends DestinationStream {
  write(line: string): void;
  /** Writes what has been gathered, for a second at most; to be awaited before the process ends. */
  flush(): Promise<void>;
}

const writeAside = (fd: number, bytes: Buffer): Promise<number> =>
  new Promise((resolve, reject) => write(fd, bytes, (error, written) => (error ? reject(error) : resolve(written))));

const BLOCK_CHARACTERS = 32 * 1024;
/** Gathered while a reader does not read; what comes beyond is dropped. */
const MOST_CHARACTERS = 1024 * 1024;
const FLUSH_MS = 500;
const PATIENCE_MS = 1000;
/** Until a pipe that is full is asked again, where it does not make its writer wait. */
const FULL_PIPE_MS = 50;

/**
 * A log that never stops the product: it is written in another thread, and what a full disk or a reader that has stopped
 * does not take is dropped, counted, and said once lines are taken again.
 *
 * @param fd standard output, or standard error.
 * @param format makes each line what its reader wants.
 */
export function logDestination(fd: number, format: (line: string) => string = (line) => line): LogDestination {
  let gathered = '';
  let dropped = 0;
  let writing: Promise<void> | null = null;

  /** @throws where the block, or the rest of it, is not taken. */
  async function put(block: Buffer): Promise<void> {
    for (let rest = block; rest.length > 0;) {
      try {
        rest = rest.subarray(await writeAside(fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        await Bun.sleep(FULL_PIPE_MS);
      }
    }
  }

  async function writeDown(): Promise<void> {
    while (gathered !== '') {
      const block = gathered;
      gathered = '';
      const notice =
        dropped === 0
          ? ''
          : format(
              `{"level":"warn","time":"${isoTime(systemClock.now())}","msg":"log lines were lost","lines":${dropped}}\n`,
            );
      try {
        await put(Buffer.from(notice + block));
        dropped = notice === '' ? dropped : 0;
      } catch {
        dropped += block.split('\n').length - 1;
      }
    }
  }

  function drain(): Promise<void> {
    return (writing ??= writeDown().finally(() => (writing = null)));
  }

  setInterval(() => void drain(), FLUSH_MS).unref();
  return {
    write(line) {
      if (gathered.length > MOST_CHARACTERS) {
        dropped += 1;
        return;
      }
      gathered += format(line);
      if (gathered.length >= BLOCK_CHARACTERS) void drain();
    },
    flush: () => Promise.race([drain(), Bun.sleep(PATIENCE_MS)]),
  };
}
