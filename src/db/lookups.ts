/** Lookups of one row on the hot path, with rows that many rows share. For `store/` alone. */
import { CONNECTION, type Reader } from './database.ts';
import type { Sql } from './dialect.ts';
import type { CachedQuery, Dependent, DependentLookup, Make, UncachedQuery } from './lookup-queries.ts';
import type { GivenValues } from './statements.ts';

export type { CachedQuery, Dependent, DependentLookup };

/**
 * Reads one row by a credential's hash. An engine with one process caches the result of `make` until something it was
 * read from changes; a miss is not cached.
 *
 * @returns applies `make`, always the same one, whose result all callers share; its lookups are named in `dependents`.
 */
export function cachedRow<Row>(query: CachedQuery<Row>) {
  return <Answer extends object>(reader: Reader, hash: Uint8Array, make: Make<Row, Answer>) =>
    reader[CONNECTION].lookups.byKey(query, hash, make);
}

/** Reads one row, uncached. @returns as that of {@link cachedRow}. */
export function uncachedRow<Row, Given extends GivenValues>(sql: Sql, dependents: readonly Dependent[] = []) {
  const query: UncachedQuery = { sql, dependents };
  return <Answer>(reader: Reader, given: Given, make: Make<Row, Answer>) =>
    reader[CONNECTION].lookups.one(query, given, make);
}

/** Refuses a dependent lookup that its query does not declare: its changes would not end the answer. */
export function requireDeclared({ dependents = [] }: UncachedQuery, query: CachedQuery<never>): void {
  if (!dependents.some((dependent) => dependent.query === query))
    throw new Error('the query does not declare this dependent');
}

/** Ids in a column, separated by spaces. */
export function idsOf(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? value.split(' ') : [];
}
