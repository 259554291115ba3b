/** Lookups of one row on the hot path, cached by a credential's hash. For `store/` alone. */
import type { Connection } from './connection.ts';
import { CONNECTION, type Reader } from './database.ts';
import { compile, type CompiledSql, type Sql } from './dialect.ts';
import type { CachedQuery } from './query-cache.ts';
import { binder, settle, type GivenValues, withBooleans } from './statements.ts';

export type { CachedQuery };

/** Dependent lookup of a row that many rows share; returns what `make` returns, undefined where nothing is found. */
export type DependentLookup = <Row, Answer>(
  query: CachedQuery<Row>,
  id: string,
  make: (row: Row) => Answer,
) => Answer | undefined;

/**
 * Reads one row by a credential's hash and caches the result of `make` until something it was read from changes. A miss
 * is not cached.
 *
 * @returns applies `make`, always the same one, whose result all callers share; its lookups are named in `dependents`.
 */
export function cachedRow<Row>(query: CachedQuery<Row>) {
  return <Answer extends object>(reader: Reader, hash: Uint8Array, make: (row: Row, look: DependentLookup) => Answer) =>
    settle(() => {
      const connection = lookupConnection(reader);
      const key = connection.cache ? hash.toHex() : '';
      return lookup(connection, query, key, hash, (row: Row) => make(row, dependentsOf(connection, query)));
    });
}

/** Reads one row, uncached. @returns as that of {@link cachedRow}. */
export function uncachedRow<Row, Given extends GivenValues>(sql: Sql) {
  const bind = binder(sql);
  return <Answer>(reader: Reader, given: Given, make: (row: Row, look: DependentLookup) => Answer) =>
    settle(() => {
      const connection = lookupConnection(reader);
      const { compiled, values } = bind(connection.dialect, given);
      const row = connection.statement(compiled.sql).get(...values) as Row | null;
      return row === null ? undefined : make(withBooleans(compiled, row), dependentsOf(connection));
    });
}

function lookupConnection(reader: Reader): Connection {
  const connection = reader[CONNECTION].lookups();
  connection.enter();
  return connection;
}

/** @param query declares the dependents; without it any is allowed. */
function dependentsOf(connection: Connection, query: CachedQuery<never> | null = null): DependentLookup {
  return (dependent, id, make) => {
    if (query && !query.dependents?.includes(dependent)) throw new Error('the query does not declare this dependent');
    return lookup(connection, dependent, id, id, make);
  };
}

function lookup<Row, Answer>(
  connection: Connection,
  query: CachedQuery<Row>,
  key: string,
  value: Uint8Array | string,
  make: (row: Row) => Answer,
): Answer | undefined {
  const entries = connection.cache?.entriesOf(query);
  const known = entries?.get(key);
  if (known !== undefined) return known as Answer;
  const compiled = compiledOn(connection, query);
  const row = connection.statement(compiled.sql).get(value) as Row | null;
  if (row === null) return undefined;
  const answer = make(withBooleans(compiled, row));
  entries?.set(key, answer, query.rowIds(row));
  return answer;
}

function compiledOn({ prepared, dialect }: Connection, query: CachedQuery<never>): CompiledSql {
  let compiled = prepared.get(query) as CompiledSql | undefined;
  if (compiled === undefined) prepared.set(query, (compiled = compile(query.sql, dialect)));
  return compiled;
}
