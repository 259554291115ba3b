/** Connection to SQLite that prepares each statement once. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import type { ChangeScope, Connection, SqlValue } from '../connection.ts';
import { withBooleans } from '../statements.ts';
import { sqliteDialect } from './dialect.ts';
import { type LookupConnection, settle, sqliteLookups } from './lookups.ts';
import { type QueryCache, tablesChangedBy, type ChangedRows } from '../query-cache.ts';

interface Running {
  run(...values: SqlValue[]): { readonly changes: number };
  all(...values: SqlValue[]): unknown[];
  values(...values: SqlValue[]): unknown[][];
  get(...values: SqlValue[]): unknown;
  finalize(): void;
}

/** Connection to SQLite. */
export interface SqliteConnection extends Connection {
  readonly forLookups: LookupConnection;
}

export interface ConnectionHooks {
  enter(): void;
  /** Counts built and executed changes, to detect a missing `await`, and collects the rows that they change. */
  readonly changes?: { built(): void; executed(): void; changed(rows: ChangedRows): void };
  /** Called with each statement's duration; cached lookups run none. */
  readonly onStatement?: (sql: string, durationMs: number) => void;
  readonly cache?: QueryCache;
  /** Returns the best connection for a lookup of one row now. */
  readonly lookups?: () => SqliteConnection;
}

/** Limit of prepared texts, far above the shapes of ours: texts built at each use vary with lists and filters. */
const MAX_STATEMENTS = 2000;

export function createConnection(
  sqlite: SqliteDatabase,
  hooks: ConnectionHooks | null = null,
  readInThread: ((sql: string, values: SqlValue[]) => Promise<unknown[]>) | null = null,
): SqliteConnection {
  const statements = new Map<string, Running>();
  const { changes, onStatement } = hooks ?? {};

  /** Prepares a statement that reports its duration, and which tables or row it changes, each time it runs. */
  function prepare(sql: string, scope?: ChangeScope): Running {
    const prepared = sqlite.prepare<unknown, SqlValue[]>(sql);
    const tables = changes && scope !== 'nothing cached' ? tablesChangedBy(sql) : null;
    if (!onStatement && !tables) return prepared;
    const reported =
      <Result>(run: (...values: SqlValue[]) => Result) =>
      (...values: SqlValue[]): Result => {
        const since = performance.now();
        const result = run(...values);
        onStatement?.(sql, performance.now() - since);
        if (tables) changes?.changed(typeof scope === 'object' ? { id: values[scope.idAt] as string } : { tables });
        return result;
      };
    return {
      run: reported((...values) => prepared.run(...values)),
      all: reported((...values) => prepared.all(...values)),
      values: reported((...values) => prepared.values(...values)),
      get: reported((...values) => prepared.get(...values)),
      finalize: () => prepared.finalize(),
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
        hooks?.enter();
        if (isWrite) changes?.executed();
        return use(statement(sql));
      };
      return {
        run: (...values: SqlValue[]) => run((known) => known.run(...values)),
        all: (...values: SqlValue[]) => run((known) => known.all(...values)),
        values: (...values: SqlValue[]) => run((known) => known.values(...values)),
      };
    },
  };
  const orm = drizzle({ client: client as unknown as SqliteDatabase });
  if (changes)
    for (const method of ['insert', 'update', 'delete'] as const) {
      const begin = orm[method].bind(orm) as (table: never) => unknown;
      orm[method] = ((table: never) => {
        changes.built();
        return begin(table);
      }) as never;
    }

  const preparing = { prepare: (sql: string) => prepare(sql) };
  const forLookups: LookupConnection = {
    dialect: sqliteDialect,
    cache: hooks?.cache ?? null,
    enter: () => hooks?.enter(),
    get: (sql, values) => statement(sql).get(...values),
  };
  const best = hooks?.lookups;
  return {
    dialect: sqliteDialect,
    orm,
    prepared: new Map(),
    plainOrm: drizzle({ client: preparing as unknown as SqliteDatabase }),
    enter: () => hooks?.enter(),
    rows: ({ compiled, values }) =>
      settle(() => {
        const rows = statement(compiled.sql).all(...values) as object[];
        if (compiled.booleans.length > 0) for (const row of rows) withBooleans(compiled, row);
        return rows;
      }),
    changes: ({ compiled, values }, scope) => settle(() => statement(compiled.sql, scope).run(...values).changes),
    execute: (prepared, values) => settle(() => (prepared.execute(values) as { sync(): unknown }).sync()),
    longRows(sql, values) {
      if (readInThread) return readInThread(sql, values) as Promise<object[]>;
      return settle(() => {
        hooks?.enter();
        return statement(sql).all(...values) as object[];
      });
    },
    // A failed statement of SQLite changes nothing, and the transaction goes on.
    savepoint: (run) => run(),
    pipelined: (run) => run() as Promise<void>,
    lookups: sqliteLookups(best ? () => best().forLookups : () => forLookups),
    forLookups,
  };
}
