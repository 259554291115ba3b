/** One connection to SQLite with the statements that were prepared on it, each once. */
import type { Database as SqliteDatabase, SQLQueryBindings, Statement } from 'bun:sqlite';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import { type Remembered, tablesChangedBy, type Touched } from './remembered.ts';

export type Orm = BunSQLiteDatabase;

/** What is asked of the driver's statements. */
export type Running = Pick<Statement<unknown, SQLQueryBindings[]>, 'run' | 'all' | 'values' | 'get' | 'finalize'>;

/** What a change touches: nothing that is remembered, or the row whose id is the value at this place, and what hangs on it. */
export type ChangeScope = 'nothing remembered' | { readonly idAt: number };

/** A connection as the statements of the store see it. */
export interface Connection {
  /** For statements that are built at each use. */
  readonly orm: Orm;
  /** What was built once for this connection, by the declaration it was built from. */
  readonly kept: Map<object, unknown>;
  /** For building statements that are kept. */
  readonly plainOrm: Orm;
  /**
   * The driver's statement for an SQL text, prepared once.
   *
   * @param scope what it changes, where that is less than the tables that it names; of one text always the same.
   */
  statement(sql: string, scope?: ChangeScope): Running;
  /** Called before each statement. @throws where the connection may not be used now. */
  enter(): void;
  /** Where one row is best looked up now; mostly itself. */
  readonly lookUps: () => Connection;
  /** Answers that need not be read again; null inside a change, which sees what it has changed. */
  readonly remembered: Remembered | null;
  /** Runs a read in another thread; null where there is none, or inside a change. */
  readonly far: ((sql: string, values: SQLQueryBindings[]) => Promise<unknown[]>) | null;
}

/** Watches what is done on a connection. */
export interface Watch {
  /** Called before each statement. */
  enter(): void;
  /** For changes: one was built, or run; what was built and never run is found by that. */
  readonly changes?: { begun(): void; ran(): void; touched(what: Touched): void };
  /** Told how long each statement took; look-ups that are remembered run none. */
  readonly ran?: (sql: string, durationMs: number) => void;
  readonly remembered?: Remembered;
  readonly lookUps?: Connection['lookUps'];
}

/** Texts of statements built at each use vary with lists and filters; far more than there are shapes of ours. */
const MAX_STATEMENTS = 2000;

/** @param watch told of each statement; null where nothing has to know. */
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
    // Written out: a function around each call would cost as much again.
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

  /** Whoever keeps rows in memory is told which tables a change touches, each time it runs. */
  function prepare(sql: string, scope?: ChangeScope): Running {
    const statement = timed(sql, sqlite.prepare<unknown, SQLQueryBindings[]>(sql));
    const tables = changes && scope !== 'nothing remembered' ? tablesChangedBy(sql) : null;
    if (!changes || !tables) return statement;
    const whole: Touched = { tables };
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

  /** The part of the driver that drizzle uses. */
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
