/** Structured logs: JSON lines by pino, in this process, with secrets and e-mail addresses redacted. */
import { write } from 'node:fs';
import pino, { type DestinationStream, type Logger } from 'pino';
import { isoTime, systemClock } from './core/clock.ts';
import { redact } from './core/redact.ts';

const MAX_CAUSES = 5;

/** Describes an error and a limited number of causes: a chain may be long or circular. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return redact(String(error));
  return {
    type: error.name,
    message: redact(error.message),
    stack: redact(error.stack ?? ''),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** @param destination `stdout` normally; `stderr` where standard output carries the ready line. */
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

/** A log destination that buffers lines and writes them in blocks, off the request's path. */
export interface LogDestination extends DestinationStream {
  /** Writes one line or several, each with its end. */
  write(this: void, lines: string): void;
  /** Writes the buffered lines, for a second at most. Await it before the process ends. */
  flush(): Promise<void>;
}

const writeAside = (fd: number, bytes: Buffer): Promise<number> =>
  new Promise((resolve, reject) => write(fd, bytes, (error, written) => (error ? reject(error) : resolve(written))));

/** Each block costs a switch to another thread and back: under load a block holds some hundred lines. */
const BLOCK_CHARACTERS = 64 * 1024;
/** Buffer limit while the reader stalls; further lines are dropped. */
const MOST_CHARACTERS = 1024 * 1024;
const FLUSH_MS = 500;
const PATIENCE_MS = 1000;
/** Delay before retrying a full pipe in non-blocking mode (EAGAIN). */
const FULL_PIPE_MS = 50;

/**
 * Returns a log destination that never blocks the product: another thread writes. Lines that a full disk or a stalled
 * reader does not take are dropped, counted, and reported once writing works again.
 * @param fd standard output or standard error.
 * @param format converts each line for its reader; by default they stay JSON.
 */
export function logDestination(fd: number, format: ((line: string) => string) | null = null): LogDestination {
  let gathered = '';
  let dropped = 0;
  let writing: Promise<void> | null = null;
  /** Whether a block that is not full is due. */
  let isDue = false;

  const formatted = (lines: string): string =>
    // A dot would not match U+2028, which JSON leaves as it is.
    format === null ? lines : lines.replaceAll(/[^\n]*\n/g, (line) => format(line));

  /** @throws if any part of the block cannot be written. */
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
    while (gathered.length >= BLOCK_CHARACTERS || (isDue && gathered !== '')) {
      isDue = false;
      const block = gathered;
      gathered = '';
      const notice =
        dropped === 0
          ? ''
          : formatted(
              `{"level":"warn","time":"${isoTime(systemClock.now())}","msg":"log lines were lost","lines":${dropped}}\n`,
            );
      try {
        await put(Buffer.from(notice + block));
        dropped = notice === '' ? dropped : 0;
      } catch {
        dropped += lineCount(block);
      }
    }
  }

  function drain(isWhole: boolean): Promise<void> {
    isDue ||= isWhole;
    return (writing ??= writeDown().finally(() => (writing = null)));
  }

  async function drainAll(): Promise<void> {
    while (gathered !== '') await drain(true);
    await writing;
  }

  setInterval(() => void drain(true), FLUSH_MS).unref();
  return {
    write(lines) {
      if (gathered.length > MOST_CHARACTERS) {
        dropped += lineCount(lines);
        return;
      }
      gathered += formatted(lines);
      if (gathered.length >= BLOCK_CHARACTERS) void drain(false);
    },
    flush: () => Promise.race([drainAll(), Bun.sleep(PATIENCE_MS)]),
  };
}

function lineCount(lines: string): number {
  return lines.split('\n').length - 1;
}
