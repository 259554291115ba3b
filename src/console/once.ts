/** Returns a function that makes its value at the first call. Formatters cost milliseconds, which a first paint waits for. */
export function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
