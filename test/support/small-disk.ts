/** A real file system of a few megabytes in memory. Only root may mount one; elsewhere tests that need it are skipped. */
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mounted = new Set<string>();

const run = (...command: string[]): boolean => Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).success;

afterAll(() => {
  for (const path of mounted) unmount(path);
});

/** Returns where it is mounted; null where this user may not mount. */
export function smallDisk(megabytes: number): string | null {
  if (process.platform !== 'linux') return null;
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'));
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path)) {
    rmSync(path, { recursive: true });
    return null;
  }
  mounted.add(path);
  return path;
}

export function unmount(path: string): void {
  run('umount', '-l', path);
  rmSync(path, { recursive: true, force: true });
  mounted.delete(path);
}
