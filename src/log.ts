/** Structured logs: JSON lines by pino, in this process, with secrets and e-mail addresses taken out. */
import pino, { type DestinationStream, type Logger } from 'pino';
import { SECRET_PREFIXES } from './core/secret.ts';

const SECRETS = new RegExp(`\\b(${Object.values(SECRET_PREFIXES).join('|')})_[0-9A-Za-z]{8,}`, 'g');
const ADDRESSES = /[^\s"'<>()[\]:;,@]{1,64}@[^\s"'<>()[\]:;,@]{1,255}/g;

const MAX_CAUSES = 5;

/** Takes secrets and addresses out of a text that we did not write ourselves, such as a library's error message. */
export function scrub(text: string): string {
  return text.replace(SECRETS, '$1_[redacted]').replace(ADDRESSES, '[redacted]');
}

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
  /** Writes what has been gathered; to be awaited before the process ends. */
  flush(): Promise<void>;
}

const BLOCK_CHARACTERS = 32 * 1024;
const FLUSH_MS = 500;

/** @param fd 1 for standard output, 2 for standard error. A reader that has gone away is no error. */
export function logDestination(fd: 1 | 2): LogDestination {
  const sink = Bun.file(fd).writer({ highWaterMark: BLOCK_CHARACTERS });
  let gathered = '';

  async function flush(): Promise<void> {
    const block = gathered;
    gathered = '';
    try {
      if (block !== '') sink.write(block);
      await sink.flush();
    } catch {
      // Nobody reads any more; the product goes on without its log.
    }
  }

  setInterval(() => void flush(), FLUSH_MS).unref();
  return {
    write(line) {
      gathered += line;
      if (gathered.length >= BLOCK_CHARACTERS) void flush();
    },
    flush,
  };
}
