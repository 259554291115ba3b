/** Files and folders on the disk, before anything rests on them. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A file with what was written to it, or a folder with the names in it. Holds the thread for as long as the disk takes. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
