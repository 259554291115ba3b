/** Waits for work that continues after an answer, such as notifying the listeners of a stream. */

/** Turns of the event loop; such work takes far fewer. */
const TURNS = 20;

export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
