/** Waits for work that continues after an answer, such as notifying the listeners of a stream. */
import { ENGINE } from './engine.ts';

/** Turns of the event loop; such work takes far fewer. */
const TURNS = 20;
/** Rounds in which no statement runs. One may begin between the look and its turn. */
const QUIET_ROUNDS = 3;

export async function turns(): Promise<void> {
  if (ENGINE === 'sqlite') return localTurns();
  const { isQuiet } = await import('./postgres-instances.ts');
  for (let quiet = 0; quiet < QUIET_ROUNDS; quiet = isQuiet() ? quiet + 1 : 0) {
    // A timer, since immediate turns leave the answers of the server unread.
    await new Promise((resolve) => setTimeout(resolve, 1));
    await localTurns();
  }
}

async function localTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
