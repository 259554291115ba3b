/** Heartbeat of a thread in shared memory, by which the main thread notices an event loop that hangs. */

const BEAT_MS = 250;

/** Time between two checks of the main thread. */
export const CHECK_MS = 1000;

/** Checks without a beat, after which a thread counts as hung. */
export const MOST_SILENT_CHECKS = 6;

export const heartbeatMemory = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** Beats from now on, as often as the calling thread's event loop turns. */
export function startHeartbeat(memory: SharedArrayBuffer): void {
  const beats = new Int32Array(memory);
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS);
}

/**
 * Returns a function that returns how many of its calls in a row found no beat. Checks are counted, not time: after
 * the whole process was suspended, the first check must not end its threads.
 */
export function silenceWatch(memory: SharedArrayBuffer): () => number {
  const beats = new Int32Array(memory);
  let last = -1;
  let silent = 0;

  return () => {
    const current = Atomics.load(beats, 0);
    silent = current === last ? silent + 1 : 0;
    last = current;
    return silent;
  };
}
