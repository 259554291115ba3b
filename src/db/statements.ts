/** Runs the store's statements: builders, prepared statements, and raw SQL where speed needs it. For `store/` alone. */
import type { ChangeScope, Connection, Orm, SqlValue } from './connection.ts';
import { CONNECTION, type Reader } from './database.ts';
import type { CachedQuery } from './query-cache.ts';

export type { CachedQuery, Orm };

/** Builders for statements whose shape varies: `await orm(reader).select()…`, never `.get()`, `.all()`, `.run()`. */
export function orm(reader: Reader): Orm {
  const connection = reader[CONNECTION];
  connection.enter();
  return connection.orm;
}

interface Kept {
  execute(values?: Record<string, unknown>): { sync(): unknown };
}

type ResultOf<Statement> = Statement extends { execute(values?: Record<string, unknown>): PromiseLike<infer Result> }
  ? Result
  : Statement extends { execute(values?: Record<string, unknown>): infer Result }
    ? Result extends { sync(): infer Rows }
      ? Rows
      : Awaited<Result>
    : never;

/**
 * Returns a statement that drizzle builds once per connection: that takes about 100 µs, ten times as long as running.
 *
 * @param build ends in `.prepare()`; its values are `sql.placeholder('name')`.
 * @returns runs it with the values by name, and returns the rows.
 */
export function prepared<Statement>(
  build: (orm: Orm) => Statement,
): (reader: Reader, values?: Record<string, unknown>) => Promise<ResultOf<Statement>> {
  return (reader, values) =>
    settle(() => {
      const connection = reader[CONNECTION];
      connection.enter();
      return keptOn(connection, build).execute(values).sync() as ResultOf<Statement>;
    });
}

function keptOn(connection: Connection, build: (orm: Orm) => unknown): Kept {
  let statement = connection.prepared.get(build) as Kept | undefined;
  if (statement === undefined) connection.prepared.set(build, (statement = build(connection.plainOrm) as Kept));
  return statement;
}

/**
 * Returns a raw statement, prepared once per connection, for the hot path and for SQL that drizzle cannot express. Use
 * only what both engines understand. `= +?` instead of `= ?` keeps SQLite from re-planning a join at every call
 * (test/bench/statements.ts).
 *
 * @returns runs it and returns its rows: none for a change without RETURNING.
 */
export function raw<Row, Values extends SqlValue[] = SqlValue[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<Row[]> {
  return (reader, ...values) =>
    settle(() => {
      const connection = reader[CONNECTION];
      connection.enter();
      return connection.statement(sql).all(...values) as Row[];
    });
}

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
export function rawByHash<Row>(query: CachedQuery<Row>) {
  return <Answer extends object>(reader: Reader, hash: Uint8Array, make: (row: Row, look: DependentLookup) => Answer) =>
    settle(() => {
      const connection = lookupConnection(reader);
      const key = connection.cache ? hash.toHex() : '';
      return cachedRow(connection, query, key, hash, (row: Row) => make(row, dependentsOf(connection, query)));
    });
}

/** Reads one row, uncached. @returns as that of {@link rawByHash}. */
export function rawRow<Row, Values extends SqlValue[]>(sql: string) {
  return <Answer>(reader: Reader, values: Values, make: (row: Row, look: DependentLookup) => Answer) =>
    settle(() => {
      const connection = lookupConnection(reader);
      const row = connection.statement(sql).get(...values) as Row | null;
      return row === null ? undefined : make(row, dependentsOf(connection));
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
    return cachedRow(connection, dependent, id, id, make);
  };
}

function cachedRow<Row, Answer>(
  { cache, statement }: Connection,
  query: CachedQuery<Row>,
  key: string,
  value: Uint8Array | string,
  make: (row: Row) => Answer,
): Answer | undefined {
  const entries = cache?.entriesOf(query);
  const known = entries?.get(key);
  if (known !== undefined) return known as Answer;
  const row = statement(query.sql).get(value) as Row | null;
  if (row === null) return undefined;
  const answer = make(row);
  entries?.set(key, answer, query.rowIds(row));
  return answer;
}

/**
 * @param scope of a change to less than the named tables: changing a whole table makes verifications miss the cache.
 * @returns runs it and returns the number of rows changed.
 */
export function rawChange<Values extends SqlValue[] = SqlValue[]>(
  sql: string,
  scope?: ChangeScope,
): (reader: Reader, ...values: Values) => Promise<number> {
  return (reader, ...values) =>
    settle(() => {
      const connection = reader[CONNECTION];
      connection.enter();
      return connection.statement(sql, scope).run(...values).changes;
    });
}

/** Returns a raw change of nothing cached, such as a last-seen time. */
export function rawNote<Values extends SqlValue[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<number> {
  return rawChange<Values>(sql, 'nothing cached');
}

/** Returns a read as long as a tenant, run in another thread if there is one; it sees only what is committed. */
export function longRead<Row, Values extends SqlValue[] = SqlValue[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<Row[]> {
  const near = raw<Row, Values>(sql);
  return (reader, ...values) => {
    const { readInThread } = reader[CONNECTION];
    return readInThread ? (readInThread(sql, values) as Promise<Row[]>) : near(reader, ...values);
  };
}

/** SQLite answers at once; the promise is for engines that do not. The statement runs now, awaited or not. */
function settle<Result>(run: () => Result): Promise<Result> {
  try {
    return Promise.resolve(run());
  } catch (error) {
    return Promise.reject(error);
  }
}
