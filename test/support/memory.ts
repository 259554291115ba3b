/** Memory of a process, on Linux only. */
import { readFileSync } from 'node:fs';

/** Returns the peak resident memory since the process began. */
export function peakMiB(pid: number): number {
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}
