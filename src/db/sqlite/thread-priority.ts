/** Lowers the priority of background threads, so that the one answering requests goes first on scarce processors. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** In steps of nice(2), each of which takes a tenth: about a quarter of the others' share. */
const STEPS = 6;

/** Lowers the calling thread's priority, on Linux only: elsewhere priorities belong to processes. */
export function lowerThreadPriority(): void {
  try {
    // proc(5): `<process>/task/<thread>`.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (thread !== process.pid) setPriority(thread, STEPS);
  } catch {
    // Without Linux or /proc the priority stays.
  }
}
