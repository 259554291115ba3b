/**
 * A real file system of some MiB, to be filled or made read-only under a running server. It is ext4 in a file behind a loop
 * device, since a disk that fails turns read-only while files on it are open for writing, which a tmpfs refuses. Only root may
 * mount one.
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

/** Whether tests with a small disk run: always in CI, where they fail if it cannot be made; elsewhere as root only. */
export const hasSmallDisks = process.env['CI'] === 'true' || process.getuid?.() === 0;

export interface SmallDisk {
  /** The mounted folder. */
  readonly path: string;
  /** Takes all room that is left, but for some bytes. */
  fill(spare?: number): void;
  /** Gives back what `fill` has taken. */
  makeRoom(): void;
  /** Remounts it read-only, like the kernel after a disk error, whatever is open on it. */
  makeReadOnly(): void;
  remove(): void;
}

const mounted = new Set<SmallDisk>();

if (process.env['NODE_ENV'] === 'test')
  afterAll(() => {
    for (const disk of mounted) disk.remove();
  });

/** @throws where a loop device cannot be mounted, with what the system says. */
export function smallDisk(mebibytes: number): SmallDisk {
  const scratch = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'));
  const image = join(scratch, 'image');
  const path = join(scratch, 'disk');
  const ballast = join(path, 'ballast');
  mkdirSync(path);
  run('truncate', '-s', `${mebibytes}M`, image);
  // Without blocks that are kept for root, who runs this.
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

/** Flushed each time: ext4 gives blocks to bytes when they are written back. */
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
  // Tools of file systems lie where only root's path leads.
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  const { exitCode, stderr } = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe', env });
  if (exitCode === 0) return;
  throw new Error(
    `A small disk cannot be made: ${command.join(' ')}: ${stderr.toString().trim()}. ` +
      'These tests need e2fsprogs, a free loop device and the right to mount it: run them as root (sudo), or in a privileged container.',
  );
}
