/** Log of a thread, whose records the main thread writes. */
import type { Logger } from 'pino';
import type { LogLevel, LogNote } from './notes.ts';

/** The part of a logger that a verification uses. */
export function threadLog(note: (record: LogNote) => void): Logger {
  const at =
    (level: LogLevel) =>
    (first: unknown, second?: string): void => {
      const [fields, message] = typeof first === 'string' ? [{}, first] : [first as object, second ?? ''];
      const { err, ...others } = fields as { err?: unknown };
      const error = err instanceof Error ? { err: `${err.name}: ${err.message}`, stack: err.stack } : {};
      note({ level, fields: { ...others, ...error }, message });
    };
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('error'),
    debug() {},
  } as unknown as Logger;
}
