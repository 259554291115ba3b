/** The folders of throw-away instances: made with a name that tells whose they are, and swept where their owner is dead. */
import { existsSync, type Dirent, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECOND, systemClock } from '../core/clock.ts';
import { StartupError } from '../core/startup-error.ts';
import { lockDataFolder, lockPathOf } from './data-folder.ts';

/** By process: while that is alive, its folder may be one that is just being made, and not locked yet. */
const NAME = /^gatehouse-ephemeral-(\d{1,10})-\w+$/;
/** Far longer than from making a folder to locking it. */
const STARTING_MS = 5 * SECOND;

/** A folder of this process alone, in the system's own place for such. @throws {StartupError} when it cannot be made. */
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

/** Removes what killed instances of this user have left behind. What cannot be removed stays: no start fails for it. */
export function sweepEphemeralFolders(): void {
  for (const entry of entriesOf(tmpdir())) {
    const owner = NAME.exec(entry.name)?.[1];
    if (owner === undefined || !entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      if (isDead(path, Number(owner))) rmSync(path, { recursive: true, force: true });
    } catch {
      // Somebody else's, or gone meanwhile.
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

/** The operating system's lock on it is decisive. A process elsewhere, as in another container, may share the folder. */
function isDead(path: string, owner: number): boolean {
  const { uid, mtimeMs } = lstatSync(path);
  if (process.getuid && uid !== process.getuid()) return false;
  const isLockable = existsSync(lockPathOf(path));
  const isYoung = systemClock.now() - mtimeMs < STARTING_MS;
  if (isYoung && (!isLockable || isRunning(owner))) return false;
  return !isLockable || !isLocked(path);
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function isLocked(path: string): boolean {
  try {
    lockDataFolder({ path }).release();
    return false;
  } catch {
    return true;
  }
}
