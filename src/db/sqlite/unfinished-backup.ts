/** Names and notes the file of an unfinished backup, so that the next backup removes what a kill left. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from './data-folder.ts';
import { chownToOwnerOf } from './file-owner.ts';

const NOTE = 'backup.unfinished';
const SUFFIX = /\.[0-9a-f]{8}\.unfinished$/;

/** Returns the path at which a backup is written first; no two processes share it. @param id 4 random bytes. */
export function unfinishedPath(path: string, id: Uint8Array): string {
  return `${path}.${Buffer.from(id).toString('hex')}.unfinished`;
}

/** Writes the note. Call it under the folder's backup lock, before the file is made. */
export function noteUnfinished(dataFolder: string, path: string): void {
  const note = join(dataFolder, NOTE);
  try {
    writeFileSync(note, path, { mode: PRIVATE_FILE, flush: true });
    chownToOwnerOf(dataFolder, [note]);
  } catch {
    // A full data disk must not keep a backup to another disk from being made.
  }
}

/** Removes the noted file and the note. Only under the backup lock does no process of this instance write it. */
export function removeUnfinished(dataFolder: string): void {
  const note = join(dataFolder, NOTE);
  try {
    const path = readFileSync(note, 'utf8');
    if (SUFFIX.test(path)) for (const file of [path, `${path}-journal`]) rmSync(file, { force: true });
    rmSync(note, { force: true });
  } catch {
    // No note, or a file that another user owns: no reason to refuse the next backup.
  }
}
