/** Connection to SQLite that prepares each statement once. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import type { ChangeScope, Connection, Running, SqlValue } from '../connection.ts';
import { sqliteDialect } from './dialect.ts';
import { type QueryCache, tablesChangedBy, type ChangedRows } from '../query-cache.ts';

export interface ConnectionHooks {
  enter(): void;
  /** Counts built and executed changes, to detect a missing `await`, and collects the rows that they change. */
  readonly changes?: { built(): void; executed(): void; changed(rows: ChangedRows): void };
  /** Called with each statement's duration; cached lookups run none. */
  readonly onStatement?: (sql: string, durationMs: number) => void;
  readonly cache?: QueryCache;
  readonly lookups?: Connection['lookups'];
}

/** Limit of prepared texts, far above the shapes of ours: texts built at each use vary with lists and filters. */
const MAX_STATEMENTS = 2000;

export function createConnection(
  sqlite: SqliteDatabase,
  hooks: ConnectionHooks | null = null,
  readInThread: Connection['readInThread'] = null,
): Connection {
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
  const connection: Connection = {
    dialect: sqliteDialect,
    orm,
    prepared: new Map(),
    plainOrm: drizzle({ client: preparing as unknown as SqliteDatabase }),
    statement,
    enter: () => hooks?.enter(),
    cache: hooks?.cache ?? null,
    lookups: hooks?.lookups ?? (() => connection),
    readInThread,
  };
  return connection;
}
