/** Runs the store's statements: raw SQL with named values, drizzle's builders, and prepared builders. For `store/` alone. */
import { onlyOne } from '../core/required.ts';
import type { BoundStatement, ChangeScope, Connection, Orm, PreparedBuilder, SqlValue } from './connection.ts';
import { CONNECTION, type Reader, type Unit } from './database.ts';
import { compile, type CompiledSql, type Dialect, type Sql } from './dialect.ts';

export { type Dialect, type Sql, sqlOf } from './dialect.ts';
export type { Orm };

/** Builders for statements whose shape varies: `await orm(reader).select()…`, never `.get()`, `.all()`, `.run()`. */
export function orm(reader: Reader): Orm {
  const connection = reader[CONNECTION];
  connection.enter();
  return connection.orm;
}

/**
 * Builders of changes to rows with these ids alone: cached results of other rows stay. A link between a member and a
 * grant counts as a row of its member, a workspace's member as one of the person.
 */
export function ormFor(unit: Unit, ids: readonly string[]): Orm {
  const connection = unit[CONNECTION];
  connection.enter();
  return connection.ormFor?.(ids) ?? connection.orm;
}

export function dialectOf(reader: Reader): Dialect {
  return reader[CONNECTION].dialect;
}

type ResultOf<Builder> = Builder extends { execute(values?: Record<string, unknown>): PromiseLike<infer Result> }
  ? Result
  : Builder extends { execute(values?: Record<string, unknown>): infer Result }
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
export function prepared<Builder>(
  build: (orm: Orm) => Builder,
): (reader: Reader, values?: Record<string, unknown>) => Promise<ResultOf<Builder>> {
  return (reader, values) =>
    settled(() => {
      const connection = reader[CONNECTION];
      connection.enter();
      return connection.execute(preparedOn(connection, build), values) as Promise<ResultOf<Builder>>;
    });
}

function preparedOn(connection: Connection, build: (orm: Orm) => unknown): PreparedBuilder {
  let statement = connection.prepared.get(build) as PreparedBuilder | undefined;
  if (statement === undefined)
    connection.prepared.set(build, (statement = build(connection.plainOrm) as PreparedBuilder));
  return statement;
}

/** Values given to a statement: an object by name; for a statement with one value, the value itself. */
export type GivenValues = SqlValue | object | void;

type Statement<From, Given, Result> = (from: From, values: Given) => Promise<Result>;

/** Binds values to a statement. @param now the value of `:now`. */
export type Binder = (dialect: Dialect, values: unknown, now?: number) => BoundStatement;

/** Returns a function that binds values; it compiles the statement once per engine. */
export function binder(sql: Sql): Binder {
  let last: { readonly dialect: Dialect; readonly compiled: CompiledSql } | undefined;
  return (dialect, values, now) => {
    if (last?.dialect !== dialect) last = { dialect, compiled: compile(sql, dialect) };
    return { compiled: last.compiled, values: inOrder(last.compiled, values, now) };
  };
}

/** @throws if a value is missing. */
function inOrder({ sql, names }: CompiledSql, given: unknown, now: number | undefined): SqlValue[] {
  const isSingle = !isObject(given) || Array.isArray(given);
  if (isSingle && names.length > 1 && names.filter((name) => name !== 'now' || now === undefined).length > 1)
    throw new Error(`one value is given for several in ${sql}`);
  return names.map((name) => {
    const value =
      name === 'now' && now !== undefined ? now : isSingle ? given : (given as Record<string, unknown>)[name];
    if (value === undefined) throw new Error(`the value :${name} is missing in ${sql}`);
    return isObject(value) ? JSON.stringify(value) : (value as SqlValue);
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** Turns the boolean columns of a row into booleans: SQLite returns numbers, PostgreSQL a column's number or a boolean. */
export function withBooleans<Row>({ booleans }: CompiledSql, row: Row): Row {
  for (const name of booleans) (row as Record<string, unknown>)[name] = Boolean((row as Record<string, unknown>)[name]);
  return row;
}

function firstColumn(row: object): unknown {
  return Object.values(row)[0];
}

/** Offers the results that a statement can have. Lists and objects among its values are bound as JSON. */
function results<From extends Reader>(run: (sql: Sql) => Statement<From, unknown, object[]>) {
  function shaped<Given, Result>(sql: Sql, pick: (rows: object[]) => unknown): Statement<From, Given, Result> {
    const rows = run(sql);
    return async (from, values) => pick(await rows(from, values)) as Result;
  }
  return {
    /** Columns named `is…` and `has…` are booleans. */
    rows: <Row, Given extends GivenValues = void>(sql: Sql) => run(sql) as Statement<From, Given, Row[]>,
    row: <Row, Given extends GivenValues = void>(sql: Sql) => shaped<Given, Row | undefined>(sql, ([row]) => row),
    /** First column of every row. */
    values: <Value, Given extends GivenValues = void>(sql: Sql) =>
      shaped<Given, Value[]>(sql, (rows) => rows.map(firstColumn)),
    /** First column of the first row, if any. */
    value: <Value, Given extends GivenValues = void>(sql: Sql) =>
      shaped<Given, Value | undefined>(sql, ([row]) => row && firstColumn(row)),
    /** The only column of a statement that always has one row. */
    aggregate: <Value, Given extends GivenValues = void>(sql: Sql) =>
      shaped<Given, Value>(sql, (rows) => firstColumn(onlyOne(rows))),
    count: <Given extends GivenValues = void>(sql: Sql) =>
      shaped<Given, number>(sql, (rows) => Number(firstColumn(onlyOne(rows)))),
    exists: <Given extends GivenValues = void>(sql: Sql) => shaped<Given, boolean>(sql, (rows) => rows.length > 0),
  };
}

function rowsOf<From extends Reader>(sql: Sql, timeOf: (from: From) => number | undefined, scope?: ChangeScope) {
  const bind = binder(sql);
  return (from: From, given: unknown): Promise<object[]> =>
    settled(() => {
      const connection = from[CONNECTION];
      connection.enter();
      return connection.rows(bind(connection.dialect, given, timeOf(from)), scope);
    });
}

/** Raw reads, for the hot path and for SQL that drizzle cannot express. Use only SQL that all engines understand. */
export const query = results<Reader>((sql) => rowsOf(sql, () => undefined));

/** Reads as long as a tenant, run where they hold up nothing else; outside a change they see only what is committed. */
export const longRead = results<Reader>((sql) => {
  const bind = binder(sql);
  return async (reader, given) => {
    const connection = reader[CONNECTION];
    const { compiled, values } = bind(connection.dialect, given);
    return (await connection.longRows(compiled.sql, values)).map((row) => withBooleans(compiled, row));
  };
});

/** Runs a builder's query like a {@link longRead}. @returns rows as the driver returns them, by column name. */
export function longReadOf<Row>(
  reader: Reader,
  query: { toSQL(): { readonly sql: string; readonly params: unknown[] } },
): Promise<Row[]> {
  const { sql, params } = query.toSQL();
  const connection = reader[CONNECTION];
  return connection.longRows(connection.dialect.fromBuilder(sql), params as SqlValue[]) as Promise<Row[]>;
}

/** Scope of a change: nothing cached, or the row whose id is the named value, and its dependents. */
type Scope = 'nothing cached' | { readonly rowId: string };

function changeOf<Given extends GivenValues>(sql: Sql, scope?: Scope): Statement<Unit, Given, number> {
  const bind = binder(sql);
  return (unit, given) =>
    settled(() => {
      const connection = unit[CONNECTION];
      connection.enter();
      const bound = bind(connection.dialect, given, unit.now);
      const changed = typeof scope === 'object' ? { idAt: bound.compiled.names.indexOf(scope.rowId) } : scope;
      return connection.changes(bound, changed);
    });
}

/**
 * Raw changes; `:now` in them is the time of the change. `change(sql)` returns the number of rows changed, the others
 * what `RETURNING` names.
 *
 * @param scope of a change to less than the named tables: changing a whole table makes verifications miss the cache.
 */
export const change = Object.assign(
  <Given extends GivenValues = void>(sql: Sql, scope?: Scope) => changeOf<Given>(sql, scope),
  results<Unit>((sql) => rowsOf(sql, ({ now }) => now)),
);

/**
 * Raw change that returns the column `id`, and thus which cached rows it changes.
 *
 * @returns the number of rows changed.
 */
export const changeReturningIds = <Given extends GivenValues = void>(sql: Sql): Statement<Unit, Given, number> => {
  const run = rowsOf<Unit>(sql, ({ now }) => now, 'returned ids');
  return async (unit, given) => (await run(unit, given)).length;
};

/** Raw change that is {@link pipelined}. */
export const pipelinedChange = <Given extends GivenValues = void>(sql: Sql, scope?: Scope) => {
  const run = changeOf<Given>(sql, scope);
  return (unit: Unit, given: Given): Promise<void> => pipelined(unit, () => run(unit, given));
};

/**
 * Raw update that changes nothing, so that its rows stay as they are until the end of a `read committed` change, and
 * serializable changes that have read them run again. Other changes, and SQLite with its one writer, need no statement.
 */
export const hold = <Given extends GivenValues = void>(sql: Sql) => {
  const run = changeOf<Given>(sql, 'nothing cached');
  return async (unit: Unit, given: Given): Promise<void> => {
    if (!unit.isSerializable) await pipelined(unit, () => run(unit, given));
  };
};

/** Raw change of nothing cached, such as a last-seen time. Returns what {@link change} does. */
export const note = Object.assign(
  <Given extends GivenValues = void>(sql: Sql) => changeOf<Given>(sql, 'nothing cached'),
  results<Unit>((sql) => rowsOf(sql, ({ now }) => now, 'nothing cached')),
);

/** Runs a part of a change whose failure, such as a unique value that is taken, leaves the rest of the change as it is. */
export function savepoint<Result>(unit: Unit, run: () => Promise<Result>): Promise<Result> {
  return unit[CONNECTION].savepoint(run);
}

/**
 * Runs one statement of a change whose outcome the change does not use. PostgreSQL gets it with the next statement, which
 * saves a round trip; its failure fails that one or the commit, so it cannot be caught.
 */
export function pipelined(unit: Unit, run: () => Promise<unknown>): Promise<void> {
  return unit[CONNECTION].pipelined(run);
}

/** Turns an error thrown at once into a rejection. */
function settled<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return run();
  } catch (error) {
    return Promise.reject(error);
  }
}
