/** Makes folders of ephemeral instances, named by their owner's process, and removes those of dead owners. */
import { existsSync, type Dirent, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECOND, systemClock } from '../../core/clock.ts';
import { StartupError } from '../../core/startup-error.ts';
import { lockDataFolder, lockPathOf } from './locks.ts';

/** Contains the process id: while that process runs, its folder may be new and not locked yet. */
const NAME = /^gatehouse-ephemeral-(\d{1,10})-\w+$/;
/** Far longer than it takes to lock a new folder. */
const STARTING_MS = 5 * SECOND;

/** Makes a temporary folder of this process alone. @throws {StartupError} when it cannot be made. */
export function makeEphemeralFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), `gatehouse-ephemeral-${process.pid}-`));
  } catch (cause) {
    throw new StartupError(
      `No temporary folder can be made in ${tmpdir()}. Name another in TMPDIR: one that this user may write, with room in it.`,
      { cause },
    );
  }
}

/** Removes the folders of this user's killed instances. Failures are ignored: no start fails for them. */
export function removeStaleEphemeralFolders(): void {
  for (const entry of entriesOf(tmpdir())) {
    const owner = NAME.exec(entry.name)?.[1];
    if (owner === undefined || !entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      if (isDead(path, Number(owner))) rmSync(path, { recursive: true, force: true });
    } catch {
      // In use, owned by another user, or already removed.
    }
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The lock decides, since the process may run in another container that shares the folder. @throws while held. */
function isDead(path: string, owner: number): boolean {
  const { uid, mtimeMs } = lstatSync(path);
  if (process.getuid && uid !== process.getuid()) return false;
  const isLockable = existsSync(lockPathOf(path));
  const isYoung = systemClock.now() - mtimeMs < STARTING_MS;
  if (isYoung && (!isLockable || isRunning(owner))) return false;
  if (isLockable) lockDataFolder(path).release();
  return true;
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
