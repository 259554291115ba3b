/** Polls for a condition that nothing announces. */

/** The pause grows with the wait, since polling takes CPU time from the work it waits for. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [5, 40];

/** Polls until the condition returns a value. @throws after the time limit, instead of hanging. */
export async function eventually<Result>(
  what: string,
  condition: () => Result | Promise<Result>,
  withinMs = 25_000,
): Promise<NonNullable<Result>> {
  const since = performance.now();
  for (;;) {
    const result = await condition();
    if (result) return result;
    const waited = performance.now() - since;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await Bun.sleep(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waited / 8)));
  }
}
