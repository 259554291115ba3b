import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes a file's contents, or a folder's entries. Blocks the thread for as long as the disk takes. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
