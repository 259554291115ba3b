/** Preloaded libraries between a server and its machine: a failing disk, a wrong clock. They need a C compiler. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Calls that `bad-disk.c` can fail, in its order. */
const CALLS = ['datasync', 'sync', 'write', 'read', 'truncate'] as const;
export type DiskCall = (typeof CALLS)[number];

/** Numbers of errno(3). */
export const ERRNO = { EIO: 5, ENOSPC: 28 } as const;

/** Whether this machine can compile them. */
export const hasCompiler = Bun.which('cc') !== null;

function compile(folder: string, name: string): string {
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dir, `${name}.c`);
  const { success, stderr } = Bun.spawnSync(['cc', '-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  if (!success) throw new Error(stderr.toString());
  return library;
}

/** Writes a file that the process reads at every call. */
function rules(path: string, bytes: Uint8Array) {
  writeFileSync(path, bytes);
  const file = openSync(path, 'r+');
  return { set: (value: Uint8Array) => void writeSync(file, value, 0, value.length, 0), close: () => closeSync(file) };
}

export interface BadDisk {
  /** Environment of the server's process. */
  readonly env: Record<string, string>;
  /** Makes these calls fail from now on; without calls the disk is well again. */
  refuse(error: keyof typeof ERRNO, ...calls: DiskCall[]): void;
  repair(): void;
  close(): void;
}

/** @param folder for the library and its rules file. */
export function badDisk(folder: string): BadDisk {
  const path = join(folder, 'bad-disk.rules');
  const { set, close } = rules(path, new Uint8Array(CALLS.length));
  return {
    env: { LD_PRELOAD: compile(folder, 'bad-disk'), BAD_DISK: path },
    refuse: (error, ...calls) => set(Uint8Array.from(CALLS, (call) => (calls.includes(call) ? ERRNO[error] : 0))),
    repair: () => set(new Uint8Array(CALLS.length)),
    close,
  };
}

export interface MovedClock {
  /** Environment of the server's process. */
  readonly env: Record<string, string>;
  /** @param ms offset from the real time, from now on. */
  set(ms: number): void;
  close(): void;
}

/** @param folder for the library and its rules file. */
export function movedClock(folder: string): MovedClock {
  const path = join(folder, 'moved-clock.offset');
  const { set, close } = rules(path, new Uint8Array(8));
  return {
    env: { LD_PRELOAD: compile(folder, 'moved-clock'), MOVED_CLOCK: path },
    set: (ms) => set(new Uint8Array(BigInt64Array.of(BigInt(ms)).buffer)),
    close,
  };
}
