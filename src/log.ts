/** Structured logs: JSON lines by pino, in this process, with secrets and e-mail addresses taken out. */
import pino, { type DestinationStream, type Logger } from 'pino';

const SECRETS = /\b(eak|est|ecs|egs|whsec)_[0-9A-Za-z]{8,}/g;
const ADDRESSES = /[^\s"'<>()[\]:;,@]+@[^\s"'<>()[\]:;,@]+/g;

/** Takes secrets and addresses out of a text that we did not write ourselves, such as a library's error message. */
export function scrub(text: string): string {
  return text.replace(SECRETS, '$1_[redacted]').replace(ADDRESSES, '[redacted]');
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return scrub(String(error));
  return {
    type: error.name,
    message: scrub(error.message),
    stack: scrub(error.stack ?? ''),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
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
      serializers: { err: describeError },
      redact: { paths: ['email', 'token', 'code', 'authorization', 'cookie', '*.email', '*.token', '*.code'] },
    },
    destination,
  );
}

/** A buffered destination: lines are written in blocks off the request's path, and on `flushSync`. */
export function logDestination(fd: 1 | 2) {
  return pino.destination({ fd, sync: false, minLength: 4096, periodicFlush: 500 });
}
