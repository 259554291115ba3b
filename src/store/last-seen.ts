/** When many rows were last seen, as one value of a statement. */
import type { Dialect } from '../db/statements.ts';

export interface LastSeenAt {
  readonly id: string;
  readonly at: number;
}

/** SQL: the table `seen` of the value `:seen`, in the order in which rows are locked. */
export function lastSeenRows(jsonRows: Dialect['jsonRows']): string {
  return `(SELECT * FROM ${jsonRows(':seen', { id: 'text', at: 'integer' })} ORDER BY id) AS seen`;
}
