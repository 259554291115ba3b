/** Waits for what comes about by itself: polls, since there is nothing to be told by. */

/** Asking takes the time of what is waited for, so the longer it lasts, the more rarely it is asked. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [5, 40];

/** Polls until the condition gives something; fails loudly rather than hang. */
export async function eventually<Result>(
  what: string,
  condition: () => Result | Promise<Result>,
  withinMs = 10_000,
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
