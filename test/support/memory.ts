/** Memory that a process has taken. Linux only. */
import { readFileSync } from 'node:fs';

/** The most that has been resident since the process began. */
export function peakMiB(pid: number): number {
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}
