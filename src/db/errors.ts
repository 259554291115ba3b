/** Classifies engine errors for callers that know no engine. */
import { AppError } from '../core/error.ts';

const OUTAGE_HINTS: readonly unknown[] = [
  'disk_refuses_writes',
  'database_gone',
  'database_log_gone',
  'folder_taken',
  'database_away',
  'database_schema_differs',
];

/** SQLSTATE of PostgreSQL. */
const UNIQUE_VIOLATION = '23505';

/** Returns whether the database takes no changes for now. The log says so once; retries need not repeat it. */
export function isOutage(error: unknown): error is AppError {
  return error instanceof AppError && OUTAGE_HINTS.includes(error.hint);
}

/** `busy`: another process has locked the database. `unreadable`: a disk error, or a damaged file (SQLite confuses them). */
export type EngineErrorKind = 'busy' | 'unreadable';

/** https://www.sqlite.org/rescode.html */
const UNREADABLE = /^SQLITE_(?:IOERR|CANTOPEN|CORRUPT|NOTADB)/;

export function engineErrorKind(error: unknown): EngineErrorKind | null {
  const code = String((error as { code?: unknown } | null | undefined)?.code);
  if (code.startsWith('SQLITE_BUSY')) return 'busy';
  return UNREADABLE.test(code) ? 'unreadable' : null;
}

/** Returns whether the database refused a row because another one has its unique value. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || errno === UNIQUE_VIOLATION;
}

/** Returns whether the database did not take a change for now. The same change may be tried again later. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}
