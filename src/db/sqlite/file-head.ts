import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes of a database file's header (https://www.sqlite.org/fileformat2.html#the_database_header). */
export const DATABASE_HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** Returns the first bytes of a file, fewer of a shorter one. */
export function readHead(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

export function isDatabaseHeader(head: Buffer): boolean {
  return head.length === DATABASE_HEADER_BYTES && head.toString('latin1', 0, MAGIC.length) === MAGIC;
}
