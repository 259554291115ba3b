/** Waits for work that continues after an answer, such as notifying the listeners of a stream. */
import { ENGINE } from './engine.ts';
import { isQuiet } from './postgres-instances.ts';

/** Turns of the event loop; such work takes far fewer. */
const TURNS = 20;
/** Rounds in which the server runs no statement, each long enough that it begins one that was sent. */
const QUIET_ROUNDS = 3;
const ROUND_MS = 20;

export async function turns(): Promise<void> {
  if (ENGINE === 'sqlite') return localTurns();
  for (let quiet = 0; quiet < QUIET_ROUNDS; quiet = isQuiet() ? quiet + 1 : 0) {
    await Bun.sleep(ROUND_MS);
    await localTurns();
  }
}

async function localTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
