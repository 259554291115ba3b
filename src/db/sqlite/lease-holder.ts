/** Identifies the holder of leases: one id per data folder, kept in a file, so that a restart finds its own leases. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../core/random.ts';
import { PRIVATE_FILE } from './data-folder.ts';

const ID_BYTES = 9;

/**
 * Returns the folder's id, and makes it at the first start. Call it under the folder's lock. Without its file, as in a
 * restored folder or on a full disk, the id is new and leases of a previous run last until they expire.
 */
export function openLeaseHolder(folder: string, random: Random): string {
  const path = join(folder, 'gatehouse.holder');
  try {
    const known = readFileSync(path, 'utf8').trim();
    if (known !== '') return known;
  } catch {
    // The first start makes the file.
  }
  const made = Buffer.from(random.bytes(ID_BYTES)).toString('base64url');
  try {
    writeFileSync(path, `${made}\n`, { mode: PRIVATE_FILE });
  } catch {
    // A server starts on a full disk too.
  }
  return made;
}
