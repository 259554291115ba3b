/**
 * The file that a backup is written to until it is whole. A note in the data folder names it, so that the next backup, of
 * whatever name and wherever it goes, removes what a kill has left.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FILE } from './data-folder.ts';
import { giveToOwnerOf } from './folder-owner.ts';

const NOTE = 'backup.unfinished';
const SUFFIX = /\.[0-9a-f]{8}\.unfinished$/;

/**
 * Returns where the backup at a path is written first. No two processes share it, whichever instances they back up.
 *
 * @param id 4 random bytes.
 */
export function unfinishedPath(path: string, id: Uint8Array): string {
  return `${path}.${Buffer.from(id).toString('hex')}.unfinished`;
}

/** Writes the note. Call it under the folder's backup lock, before the file is made. */
export function noteUnfinished(dataFolder: string, path: string): void {
  const note = join(dataFolder, NOTE);
  try {
    writeFileSync(note, path, { mode: PRIVATE_FILE, flush: true });
    giveToOwnerOf(dataFolder, [note]);
  } catch {
    // A full data disk must not keep a backup to another disk from being made.
  }
}

/**
 * Removes the file that the note names, and the note. Call it under the folder's backup lock: only then does no process of this
 * instance write to that file.
 */
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
