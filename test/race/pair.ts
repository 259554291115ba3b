/** Two instances on one database, and calls to both of them at the same time. */
import { type Answer, createInstance, type Instance, type InstanceOptions } from '../support/instance.ts';

export type Pair = readonly [first: Instance, second: Instance];

export async function createPair(options: InstanceOptions = {}): Promise<Pair> {
  const first = await createInstance({ leaseHolder: 'first', ...options });
  return [first, await first.sibling()];
}

/** Makes a number of calls at once, to the instances in turn. */
export function atOnce<Result>(
  pair: Pair,
  count: number,
  call: (instance: Instance, index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(pair[index % 2 === 0 ? 0 : 1], index)));
}

/** Returns the statuses of answers with their error codes, and how often each came. */
export function outcomesOf(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, json } of answers) {
    const name = status === 200 ? 'ok' : `${status} ${json?.error}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
