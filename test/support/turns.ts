/** Waits for work that continues after an answer, such as notifying the listeners of a stream. */
import { ENGINE } from './engine.ts';

/** Turns of the event loop; such work takes far fewer. */
const TURNS = 20;

/** Time for the round trips of such work to another process. */
const POSTGRES_MS = 60;

export async function turns(): Promise<void> {
  if (ENGINE === 'postgres') await Bun.sleep(POSTGRES_MS);
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
