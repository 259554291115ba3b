/** What errors of an engine mean, for those who answer requests and know no engine. */

/** `busy`: another process holds the database. `unreadable`: its disk cannot be read; SQLite takes some of that for a damaged file. */
export type EngineTrouble = 'busy' | 'unreadable';

/** https://www.sqlite.org/rescode.html */
const UNREADABLE = /^SQLITE_(?:IOERR|CANTOPEN|CORRUPT|NOTADB)/;

/** @returns null for any other error. */
export function engineTrouble(error: unknown): EngineTrouble | null {
  const code = String((error as { code?: unknown } | null | undefined)?.code);
  if (code.startsWith('SQLITE_BUSY')) return 'busy';
  return UNREADABLE.test(code) ? 'unreadable' : null;
}
