/** Results that are there at once unless something has to be waited for: promises on the hot path cost microseconds. */

/** At once where nothing is asked over a network, as on SQLite. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Calls `next` with the value, in this turn if it is there already. Throws what `next` throws, or rejects with it. */
export function whenReady<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Like `whenReady`, and passes `given` on to `next`. A `next` without variables of its caller costs no closure, which
 * a verification would make a dozen times.
 */
export function whenReadyWith<Value, Given, Result>(
  value: MaybePromise<Value>,
  given: Given,
  next: (value: Value, given: Given) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? later(value, given, next) : next(value, given);
}

/** Apart, since the variables of a closure are allocated when the function that has it is entered. */
function later<Value, Given, Result>(
  value: Promise<Value>,
  given: Given,
  next: (value: Value, given: Given) => MaybePromise<Result>,
): Promise<Result> {
  return value.then((ready) => next(ready, given));
}
