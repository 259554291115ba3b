/** How the store asks: builders, statements prepared once, and raw SQL where speed needs it. For `store/` alone. */
import type { SQLQueryBindings } from 'bun:sqlite';
import type { ChangeScope, Connection, Orm } from './connection.ts';
import { CONNECTION, type Reader } from './database.ts';
import type { LookUp } from './remembered.ts';

export type { LookUp, Orm };

/** Drizzle's builders, for statements whose shape varies: `await orm(reader).select()…`, never `.get()`, `.all()`, `.run()`. */
export function orm(reader: Reader): Orm {
  const connection = reader[CONNECTION];
  connection.enter();
  return connection.orm;
}

/** What a drizzle statement gives that was built with `.prepare()`. */
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
 * A statement of one shape, built by drizzle once for each connection: building takes it about 100 µs, ten times what
 * running does.
 *
 * @param build ends in `.prepare()`; its values are `sql.placeholder('name')`.
 * @returns a function that runs it with the values by name, and gives the rows.
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
  let statement = connection.kept.get(build) as Kept | undefined;
  if (statement === undefined) connection.kept.set(build, (statement = build(connection.plainOrm) as Kept));
  return statement;
}

/**
 * A raw statement, prepared once for each connection. For the hot path and for what drizzle cannot say; keep to what both
 * engines understand. `= +?` instead of `= ?` keeps SQLite from re-planning a join at every call (test/bench/statements.ts).
 *
 * @returns a function that runs it and gives its rows: none for a change without RETURNING.
 */
export function raw<Row, Values extends SQLQueryBindings[] = SQLQueryBindings[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<Row[]> {
  return (reader, ...values) =>
    settle(() => {
      const connection = reader[CONNECTION];
      connection.enter();
      return connection.statement(sql).all(...values) as Row[];
    });
}

/** Looks up, within another look-up, what many rows of that share; gives what `make` makes of it, undefined where it is not there. */
export type LookBeside = <Row, Answer>(
  lookUp: LookUp<Row>,
  id: string,
  make: (row: Row) => Answer,
) => Answer | undefined;

/**
 * A raw read of one row by the hash of a credential, which is sent again and again: what is made of the row is remembered until
 * something changes that it was read from. What was not found is looked for each time.
 *
 * @returns a function that gives what `make` makes of the row, always the same `make`; it is shared by all who ask. What `make` looks
 * up is named in `besides`.
 */
export function rawByHash<Row>(lookUp: LookUp<Row>) {
  return <Answer extends object>(reader: Reader, hash: Uint8Array, make: (row: Row, look: LookBeside) => Answer) =>
    settle(() => {
      const connection = entered(reader);
      const key = connection.remembered ? hash.toHex() : '';
      return lookedUp(connection, lookUp, key, hash, (row: Row) => make(row, lookOn(connection, lookUp.besides ?? [])));
    });
}

/** A raw read of one row, which is looked for each time. @returns as that of {@link rawByHash}. */
export function rawRow<Row, Values extends SQLQueryBindings[]>(sql: string) {
  return <Answer>(reader: Reader, values: Values, make: (row: Row, look: LookBeside) => Answer) =>
    settle(() => {
      const connection = entered(reader);
      const row = connection.statement(sql).get(...values) as Row | null;
      return row === null ? undefined : make(row, lookOn(connection));
    });
}

function entered(reader: Reader): Connection {
  const connection = reader[CONNECTION].lookUps();
  connection.enter();
  return connection;
}

/** @param named what may be looked up; without it anything. */
function lookOn(connection: Connection, named: LookUp<never>['besides'] | null = null): LookBeside {
  return (lookUp, id, make) => {
    if (named?.includes(lookUp) === false) throw new Error('what an answer rests on must be named in `besides`');
    return lookedUp(connection, lookUp, id, id, make);
  };
}

function lookedUp<Row, Answer>(
  { remembered, statement }: Connection,
  lookUp: LookUp<Row>,
  key: string,
  value: Uint8Array | string,
  make: (row: Row) => Answer,
): Answer | undefined {
  const answers = remembered?.answersOf(lookUp);
  const known = answers?.get(key);
  if (known !== undefined) return known as Answer;
  const row = statement(lookUp.sql).get(value) as Row | null;
  if (row === null) return undefined;
  const answer = make(row);
  answers?.set(key, answer, lookUp.ids(row));
  return answer;
}

/**
 * A raw change; gives the number of rows changed.
 *
 * @param scope what it changes, where that is less than the tables that it names: each change of a whole table makes those who
 * are verified next be looked up again.
 */
export function rawChange<Values extends SQLQueryBindings[] = SQLQueryBindings[]>(
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

/** A change of what nobody remembers, such as when something was last seen. Gives the number of rows changed. */
export function rawNote<Values extends SQLQueryBindings[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<number> {
  return rawChange<Values>(sql, 'nothing remembered');
}

/**
 * A read that is as long as a tenant, such as a count of all its sessions: runs in another thread where there is one, so
 * that nobody waits for it. It sees what is committed, so it is no part of a change.
 */
export function longRead<Row, Values extends SQLQueryBindings[] = SQLQueryBindings[]>(
  sql: string,
): (reader: Reader, ...values: Values) => Promise<Row[]> {
  const near = raw<Row, Values>(sql);
  return (reader, ...values) => {
    const { far } = reader[CONNECTION];
    return far ? (far(sql, values) as Promise<Row[]>) : near(reader, ...values);
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
