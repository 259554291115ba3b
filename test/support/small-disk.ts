/**
 * A real file system of some MiB, to fill or make read-only under a running server. Only root may mount one.
 * It is ext4 on a loop device: a failing disk turns read-only while files are open for writing, which a tmpfs refuses.
 */
import { afterAll } from 'bun:test';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether tests with a small disk run: always in CI, where they fail if it cannot be made, elsewhere only as root. */
export const hasSmallDisks = process.env['CI'] === 'true' || process.getuid?.() === 0;

export interface SmallDisk {
  /** The mounted folder. */
  readonly path: string;
  /** Fills the disk except for some bytes. */
  fill(spare?: number): void;
  /** Frees the space that `fill` took. */
  makeRoom(): void;
  /** Remounts it read-only despite open files, as the kernel does after a disk error. */
  makeReadOnly(): void;
  remove(): void;
}

const mounted = new Set<SmallDisk>();

if (process.env['NODE_ENV'] === 'test')
  afterAll(() => {
    for (const disk of mounted) disk.remove();
  });

/** Mounts a small disk. @throws with the system's message if a loop device cannot be mounted. */
export function smallDisk(mebibytes: number): SmallDisk {
  const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'));
  const image = join(scratch, 'image');
  const path = join(scratch, 'disk');
  const ballast = join(path, 'ballast');
  mkdirSync(path);
  run('truncate', '-s', `${mebibytes}M`, image);
  // Reserves no blocks for root, who runs this.
  run('mkfs.ext4', '-q', '-m', '0', image);
  run('mount', '-o', 'loop', image, path);
  const disk: SmallDisk = {
    path,
    fill(spare = 0) {
      const file = openSync(ballast, 'a');
      for (const bytes of [2 ** 20, 2 ** 12, 1]) while (takes(file, bytes));
      ftruncateSync(file, Math.max(0, fstatSync(file).size - spare));
      closeSync(file);
    },
    makeRoom: () => rmSync(ballast),
    makeReadOnly: () => run('mount', '-o', 'remount,abort', path),
    remove() {
      mounted.delete(disk);
      run('umount', '-l', path);
      rmSync(scratch, { recursive: true });
    },
  };
  mounted.add(disk);
  return disk;
}

/** Writes and flushes: ext4 allocates blocks only at write-back. */
function takes(file: number, bytes: number): boolean {
  try {
    writeSync(file, new Uint8Array(bytes));
    fsyncSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

function run(...command: string[]): void {
  // File system tools are only in root's PATH.
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  const { exitCode, stderr } = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe', env });
  if (exitCode === 0) return;
  throw new Error(
    `A small disk cannot be made: ${command.join(' ')}: ${stderr.toString().trim()}. ` +
      'These tests need e2fsprogs, a free loop device and the right to mount it: run them as root (sudo), or in a privileged container.',
  );
}
