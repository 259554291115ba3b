/** Values that must exist because of earlier reads. A missing one is a defect, and the error names it. */

/** Returns the value; a missing one is a defect. @param what for the log: `user usr_…`, never a secret or address. */
export function required<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`missing: ${what}`);
  return value;
}

export function onlyOne<Value>(values: readonly Value[]): Value {
  const [value] = values;
  if (value === undefined || values.length > 1) throw new Error(`${values.length} instead of one`);
  return value;
}
