/** Folders of a test process, in memory where possible. A process that is killed cannot remove its own. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder, and removes those of the same name that ended processes left. @param roomBytes required in memory. */
export function scratchFolder(name: string, roomBytes = 0): string {
  const parent = freeInMemory() > roomBytes ? '/dev/shm' : tmpdir();
  for (const entry of readdirSync(parent)) {
    const [prefix, pid] = entry.split(/-(?=\d+-\w+$)/);
    if (prefix === name && !isAlive(Number.parseInt(pid!)))
      rmSync(join(parent, entry), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${name}-${process.pid}-`));
}

function freeInMemory(): number {
  if (!existsSync('/dev/shm')) return 0;
  const { bavail, bsize } = statfsSync('/dev/shm');
  return bavail * bsize;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
