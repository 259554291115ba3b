/** Lets tasks have their turn one after another, in the order they came. */

export type Turns = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** @param rest what is done between two turns; who has had theirs does not wait for it. */
export function turns(rest: () => Promise<void>): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    // One that fails does not fail those behind it.
    last = result.catch(() => {}).then(rest);
    return result;
  };
}
