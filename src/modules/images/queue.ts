/** Works on one picture at a time for all callers, since each takes much memory. */

/** Pause in which the allocator returns a picture's memory; else it adds to the next one's (test/bench/images.ts). */
const REST_MS = 200;

export type PictureQueue = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function pictureQueue(): PictureQueue {
  /** Tail of the queue. It includes the pause, for which the caller just served does not wait. */
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    // A failed picture does not fail those queued behind it.
    last = result.catch(() => {}).then(() => Bun.sleep(REST_MS));
    return result;
  };
}
