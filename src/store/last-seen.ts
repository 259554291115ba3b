/** When rows were last seen: many of them as one value of a statement, and the first time of each day. */
import type { Dialect } from '../db/statements.ts';

export interface LastSeenAt {
  readonly id: string;
  readonly at: number;
}

/** A member's or session's first time on a day. */
export interface FirstSeen {
  readonly applicationId: string;
  readonly at: number;
  /** When they were last seen before; 0 if never. */
  readonly before: number;
}

/** SQL: the table `seen` of the value `:seen`, in the order in which rows are locked. */
export function lastSeenRows(jsonRows: Dialect['jsonRows']): string {
  return `(SELECT * FROM ${jsonRows(':seen', { id: 'text', at: 'integer' })} ORDER BY id) AS seen`;
}
