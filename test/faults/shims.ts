/** Libraries that stand between a server and its machine: a disk that refuses, a clock that is moved. They need a C compiler. */
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What `bad-disk.c` can refuse, in its order. */
const CALLS = ['datasync', 'sync', 'write', 'read', 'truncate'] as const;
export type DiskCall = (typeof CALLS)[number];

/** Of errno(3). */
export const ERRNO = { EIO: 5, ENOSPC: 28 } as const;

/** Whether they can be made on this machine. */
export const hasCompiler = Bun.which('cc') !== null;

function compile(folder: string, name: string): string {
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dir, `${name}.c`);
  const { success, stderr } = Bun.spawnSync(['cc', '-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
  if (!success) throw new Error(stderr.toString());
  return library;
}

/** A file that a process looks into at every call. */
function rules(path: string, bytes: Uint8Array) {
  writeFileSync(path, bytes);
  const file = openSync(path, 'r+');
  return { set: (value: Uint8Array) => void writeSync(file, value, 0, value.length, 0), close: () => closeSync(file) };
}

export interface BadDisk {
  /** For the server's process. */
  readonly env: Record<string, string>;
  /** From now on these calls fail; none is a disk as it should be. */
  refuse(error: keyof typeof ERRNO, ...calls: DiskCall[]): void;
  mend(): void;
  close(): void;
}

/** @param folder for the library and its rules. */
export function badDisk(folder: string): BadDisk {
  const path = join(folder, 'bad-disk.rules');
  const { set, close } = rules(path, new Uint8Array(CALLS.length));
  return {
    env: { LD_PRELOAD: compile(folder, 'bad-disk'), BAD_DISK: path },
    refuse: (error, ...calls) => set(Uint8Array.from(CALLS, (call) => (calls.includes(call) ? ERRNO[error] : 0))),
    mend: () => set(new Uint8Array(CALLS.length)),
    close,
  };
}

export interface MovedClock {
  /** For the server's process. */
  readonly env: Record<string, string>;
  /** @param ms how far from the real time, from now on. */
  set(ms: number): void;
  close(): void;
}

/** @param folder for the library and its rules. */
export function movedClock(folder: string): MovedClock {
  const path = join(folder, 'moved-clock.offset');
  const { set, close } = rules(path, new Uint8Array(8));
  return {
    env: { LD_PRELOAD: compile(folder, 'moved-clock'), MOVED_CLOCK: path },
    set: (ms) => set(new Uint8Array(BigInt64Array.of(BigInt(ms)).buffer)),
    close,
  };
}
