/** Connection to SQLite that prepares each statement once. */
import type { Database as SqliteDatabase, SQLQueryBindings, Statement } from 'bun:sqlite';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import { type QueryCache, tablesChangedBy, type ChangedRows } from '../query-cache.ts';

export type Orm = BunSQLiteDatabase;

export type Running = Pick<Statement<unknown, SQLQueryBindings[]>, 'run' | 'all' | 'values' | 'get' | 'finalize'>;

/** Scope of a change: nothing cached, or the row whose id is the value at index `idAt`, and its dependents. */
export type ChangeScope = 'nothing remembered' | { readonly idAt: number };

export interface Connection {
  /** For statements built at each use. */
  readonly orm: Orm;
  /** Statements built once for this connection, by their declaration. */
  readonly kept: Map<object, unknown>;
  /** For building kept statements. */
  readonly plainOrm: Orm;
  /** Prepares an SQL text once. @param scope of a change to less than the named tables; fixed for one text. */
  statement(sql: string, scope?: ChangeScope): Running;
  /** Called before each statement. @throws where the connection must not be used now. */
  enter(): void;
  /** Returns the best connection for a lookup of one row now. */
  readonly lookUps: () => Connection;
  /** Cache of answers; null inside a change, which must see its own writes. */
  readonly remembered: QueryCache | null;
  /** Runs a read in another thread; null inside a change or without such a thread. */
  readonly far: ((sql: string, values: SQLQueryBindings[]) => Promise<unknown[]>) | null;
}

export interface Watch {
  /** Called before each statement. */
  enter(): void;
  /** Counts built and executed changes, to detect a missing `await`. */
  readonly changes?: { begun(): void; ran(): void; touched(what: ChangedRows): void };
  /** Notified of each statement's duration; cached lookups run none. */
  readonly ran?: (sql: string, durationMs: number) => void;
  readonly remembered?: QueryCache;
  readonly lookUps?: Connection['lookUps'];
}

/** Limit of prepared texts, far above the shapes of ours: texts built at each use vary with lists and filters. */
const MAX_STATEMENTS = 2000;

export function createConnection(
  sqlite: SqliteDatabase,
  watch: Watch | null = null,
  far: Connection['far'] = null,
): Connection {
  const statements = new Map<string, Running>();
  const changes = watch?.changes;

  /** Takes some 100 ns. */
  function timed(sql: string, statement: Running): Running {
    const ran = watch?.ran;
    if (ran === undefined) return statement;
    // Written out: a wrapper function would double the cost.
    return {
      run(...values) {
        const since = performance.now();
        const result = statement.run(...values);
        ran(sql, performance.now() - since);
        return result;
      },
      all(...values) {
        const since = performance.now();
        const rows = statement.all(...values);
        ran(sql, performance.now() - since);
        return rows;
      },
      values(...values) {
        const since = performance.now();
        const rows = statement.values(...values);
        ran(sql, performance.now() - since);
        return rows;
      },
      get(...values) {
        const since = performance.now();
        const row = statement.get(...values);
        ran(sql, performance.now() - since);
        return row;
      },
      finalize: () => statement.finalize(),
    };
  }

  /** Prepares a statement that reports which tables or row it changes, each time it runs. */
  function prepare(sql: string, scope?: ChangeScope): Running {
    const statement = timed(sql, sqlite.prepare<unknown, SQLQueryBindings[]>(sql));
    const tables = changes && scope !== 'nothing remembered' ? tablesChangedBy(sql) : null;
    if (!changes || !tables) return statement;
    const whole: ChangedRows = { tables };
    const told = <Result>(values: readonly SQLQueryBindings[], result: Result): Result => {
      changes.touched(typeof scope === 'object' ? { id: values[scope.idAt] as string } : whole);
      return result;
    };
    return {
      run: (...values) => told(values, statement.run(...values)),
      all: (...values) => told(values, statement.all(...values)),
      values: (...values) => told(values, statement.values(...values)),
      get: (...values) => told(values, statement.get(...values)),
      finalize: () => statement.finalize(),
    };
  }

  function statement(sql: string, scope?: ChangeScope): Running {
    let known = statements.get(sql);
    if (known === undefined) {
      if (statements.size >= MAX_STATEMENTS) {
        for (const old of statements.values()) old.finalize();
        statements.clear();
      }
      known = prepare(sql, scope);
      statements.set(sql, known);
    }
    return known;
  }

  /** Part of the driver that drizzle uses. */
  const client = {
    prepare(sql: string) {
      const isWrite = changes !== undefined && /^\s*(?:insert|update|delete|replace)/i.test(sql);
      const run = <Result>(use: (statement: Running) => Result): Result => {
        watch?.enter();
        if (isWrite) changes?.ran();
        return use(statement(sql));
      };
      return {
        run: (...values: SQLQueryBindings[]) => run((known) => known.run(...values)),
        all: (...values: SQLQueryBindings[]) => run((known) => known.all(...values)),
        values: (...values: SQLQueryBindings[]) => run((known) => known.values(...values)),
      };
    },
  };
  const orm = drizzle({ client: client as unknown as SqliteDatabase });
  if (changes)
    for (const method of ['insert', 'update', 'delete'] as const) {
      const begin = orm[method].bind(orm) as (table: never) => unknown;
      orm[method] = ((table: never) => {
        changes.begun();
        return begin(table);
      }) as never;
    }

  const kept = { prepare: (sql: string) => prepare(sql) };
  const connection: Connection = {
    orm,
    kept: new Map(),
    plainOrm: drizzle({ client: kept as unknown as SqliteDatabase }),
    statement,
    enter: () => watch?.enter(),
    remembered: watch?.remembered ?? null,
    lookUps: watch?.lookUps ?? (() => connection),
    far,
  };
  return connection;
}
