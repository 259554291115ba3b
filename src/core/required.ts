/** Values that must be there because of what was read before. A missing one is a defect, and the error names it. */

/**
 * Gives the value, which is there unless something is broken.
 *
 * @param what for the log, such as `user usr_…`; never a secret or an address.
 */
export function required<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`missing: ${what}`);
  return value;
}

/** Gives the one element of a list that has just one, such as the row of a count. */
export function only<Value>(values: readonly Value[]): Value {
  const [value] = values;
  if (value === undefined || values.length > 1) throw new Error(`${values.length} instead of one`);
  return value;
}
