/** Lets the system have its memory back: what one picture has left behind would come on top of what the next one takes. */

/** In this time the allocator returns to the system what has been freed; measured with test/bench/images.ts. */
const SETTLING_MS = 200;

/**
 * Waits until what was freed is really free. Pictures hold on to more than JavaScript knows of, so that its own collector
 * comes late: without this, many in a row were seen to add half as much again.
 */
export async function settle(): Promise<void> {
  Bun.gc(true);
  await Bun.sleep(SETTLING_MS);
}
