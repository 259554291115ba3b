/** Explains what ends a move in the middle. What was copied stays, so the remedy is always the same command. */
import { StartupError } from '../../core/startup-error.ts';
import { engineErrorKind } from '../../db/errors.ts';
import { isAway, sqlState } from '../../db/postgres/errors.ts';
import { folderError } from '../../db/sqlite/folder-error.ts';

const AGAIN = 'Run the same command again: it goes on.';
const DISK_FULL = '53100';

/** Returns the error with its remedy; others unchanged. @param folder of the side that is one. */
export function explained(cause: unknown, folder: string): unknown {
  const failure = (text: string) => new StartupError(`${text} ${AGAIN}`, { cause });
  if (isAway(cause)) return failure('The connection to the database was lost.');
  if (sqlState(cause) === DISK_FULL) return failure('The disk of the database is full. Make room.');
  if (engineErrorKind(cause) === 'busy') return failure(`Another process has locked the database in ${folder}.`);
  const { code } = cause as { readonly code?: unknown };
  const isOfFolder = typeof code === 'string' && /^(?:SQLITE_|E[A-Z]+$)/.test(code);
  return (isOfFolder ? folderError(cause, folder) : null) ?? cause;
}
