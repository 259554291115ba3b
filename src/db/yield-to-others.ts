/** Threads that nobody waits for let the one that answers requests go first, where there are not processors enough for both. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** In steps of nice(2), of which each takes a tenth: about a quarter of what the others get. */
const STEPS = 6;

/** For the calling thread alone, on Linux; elsewhere priorities are those of processes. */
export function yieldToOthers(): void {
  try {
    // proc(5): `<process>/task/<thread>`.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (thread !== process.pid) setPriority(thread, STEPS);
  } catch {
    // No Linux, or nothing of /proc is shown: then it goes like the rest.
  }
}
