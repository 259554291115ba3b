/** One connection to SQLite with the statements that were prepared on it, each once. */
import type { Database as SqliteDatabase, SQLQueryBindings, Statement } from 'bun:sqlite';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';

export type Orm = BunSQLiteDatabase;

/** A connection as the statements of the store see it. */
export interface Connection {
  /** For statements that are built at each use. */
  readonly orm: Orm;
  /** What was built once for this connection, by the declaration it was built from. */
  readonly kept: Map<object, unknown>;
  /** For building statements that are kept. */
  readonly plainOrm: Orm;
  /** The driver's statement for an SQL text, prepared once. */
  statement(sql: string): Statement<unknown, SQLQueryBindings[]>;
  /** Called before each statement. @throws where the connection may not be used now. */
  enter(): void;
  /** Rows of the present snapshot that more than one request asks for; null where there is none. */
  readonly shared: Map<string, unknown[]> | null;
  /** Runs a read in another thread; null where there is none, or inside a change. */
  readonly far: ((sql: string, values: SQLQueryBindings[]) => Promise<unknown[]>) | null;
}

/** Watches what is done on a connection. */
export interface Watch {
  /** Called before each statement. */
  enter(): void;
  /** For changes: one was built, or run; what was built and never run is found by that. */
  readonly changes?: { begun(): void; ran(): void };
  readonly shared?: Map<string, unknown[]> | null;
}

/** Texts of statements built at each use vary with lists and filters; far more than there are shapes of ours. */
const MAX_STATEMENTS = 2000;

export function createConnection(
  sqlite: SqliteDatabase,
  watch: Watch | null = null,
  far: Connection['far'] = null,
): Connection {
  const statements = new Map<string, Statement<unknown, SQLQueryBindings[]>>();

  function statement(sql: string): Statement<unknown, SQLQueryBindings[]> {
    let known = statements.get(sql);
    if (known === undefined) {
      if (statements.size >= MAX_STATEMENTS) {
        for (const old of statements.values()) old.finalize();
        statements.clear();
      }
      known = sqlite.prepare<unknown, SQLQueryBindings[]>(sql);
      statements.set(sql, known);
    }
    return known;
  }

  /** The part of the driver that drizzle uses. */
  const client = {
    prepare(sql: string) {
      const isWrite = watch?.changes !== undefined && /^\s*(?:insert|update|delete|replace)/i.test(sql);
      const run = <Result>(use: (statement: Statement<unknown, SQLQueryBindings[]>) => Result): Result => {
        watch?.enter();
        if (isWrite) watch?.changes?.ran();
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
  const changes = watch?.changes;
  if (changes)
    for (const method of ['insert', 'update', 'delete'] as const) {
      const begin = orm[method].bind(orm) as (table: never) => unknown;
      orm[method] = ((table: never) => {
        changes.begun();
        return begin(table);
      }) as never;
    }

  const kept = { prepare: (sql: string) => sqlite.prepare(sql) };
  return {
    orm,
    kept: new Map(),
    plainOrm: drizzle({ client: kept as unknown as SqliteDatabase }),
    statement,
    enter: () => watch?.enter(),
    shared: watch?.shared ?? null,
    far,
  };
}
