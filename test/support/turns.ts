/** Lets what was begun behind an answer, such as telling the listeners of a stream, come to its end. */

/** Turns of the loop: far more than anything of that kind takes. */
const TURNS = 20;

export async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
