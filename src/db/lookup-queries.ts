/** Queries of the lookups on the hot path, and the interface through which an engine runs them. */
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Sql } from './dialect.ts';

/** Ids of the rows that a result was read from; null where some are unknown. */
export type Ids = readonly string[] | null;

/** Rows that a lookup's row refers to and many rows share. */
export interface Dependent {
  readonly query: CachedQuery<never>;
  /** Column of the lookup's row with their ids, separated by spaces. */
  readonly ids: string;
}

/**
 * Lookup by a key, whose rows are cached, with what was made of them. It declares the tables that its SQL reads, and
 * returns text, numbers and booleans.
 */
export interface CachedQuery<Row> {
  readonly sql: string;
  /** Returns the ids of the rows that a result was read from, without dependents; null where some are unknown. */
  readonly rowIds: (row: Row) => Ids;
  /** Tables of which it reads single rows by their key: a new row there cannot change a result. */
  readonly rowTables: readonly string[];
  /** Tables of which it reads all rows that match: a new row there changes a result. */
  readonly listTables?: readonly string[];
  /** Column that results also have, and update in place. Its changes end no result. */
  readonly noted?: keyof Row & string;
  /** Dependent lookups by ids in its row, which a result contains. */
  readonly dependents?: readonly Dependent[];
}

/** Dependent lookup of a row that many rows share; returns what `make` returns, undefined where nothing is found. */
export type DependentLookup = <Row, Answer>(
  query: CachedQuery<Row>,
  id: string,
  make: (row: Row) => Answer,
) => Answer | undefined;

/** Makes the answer of a lookup from its row and the rows it depends on. */
export type Make<Row, Answer> = (row: Row, look: DependentLookup) => Answer;

/** Lookup whose results are not cached. */
export interface UncachedQuery {
  readonly sql: Sql;
  readonly dependents?: readonly Dependent[];
}

/** Lookups of an engine. Answers are live: they show every change that was acknowledged before the call. */
export interface Lookups {
  /** Returns what `make`, always the same one, returns for the row with this key. */
  byKey<Row, Answer extends object>(
    query: CachedQuery<Row>,
    key: Uint8Array,
    make: Make<Row, Answer>,
  ): MaybePromise<Answer | undefined>;
  one<Row, Answer>(query: UncachedQuery, given: unknown, make: Make<Row, Answer>): Promise<Answer | undefined>;
}
