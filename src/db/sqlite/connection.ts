/** Connection to SQLite that prepares each statement once. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import type { ChangeScope, Connection, Orm, SqlValue } from '../connection.ts';
import { withBooleans } from '../statements.ts';
import { sqliteDialect } from './dialect.ts';
import { type LookupConnection, settle, sqliteLookups } from './lookups.ts';
import { type QueryCache, tablesChangedBy, type ChangedRows } from '../query-cache.ts';

/** Results of a prepared statement's methods. */
interface Results {
  readonly run: { readonly changes: number };
  readonly all: unknown[];
  readonly values: unknown[][];
  readonly get: unknown;
}

type Running = { [Method in keyof Results]: (...values: SqlValue[]) => Results[Method] } & { finalize(): void };

interface PreparedStatement {
  readonly sql: string;
  readonly running: Running;
  /** Tables that it changes; null for a read. */
  readonly tables: readonly string[] | null;
}

/** Scope of a change as in {@link ChangeScope}, or rows with these ids; undefined for all rows of its tables. */
type Scope = ChangeScope | { readonly ids: readonly string[] } | undefined;

/** Returns whether a change is known to have changed no row. */
function isWithoutEffect(result: unknown): boolean {
  return (result as Partial<Results['run']>).changes === 0;
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
  const statements = new Map<string, PreparedStatement>();
  const { changes, onStatement } = hooks ?? {};

  function prepare(sql: string): PreparedStatement {
    return { sql, running: sqlite.prepare<unknown, SqlValue[]>(sql), tables: changes ? tablesChangedBy(sql) : null };
  }

  function statement(sql: string): PreparedStatement {
    let known = statements.get(sql);
    if (known === undefined) {
      if (statements.size >= MAX_STATEMENTS) {
        for (const { running } of statements.values()) running.finalize();
        statements.clear();
      }
      known = prepare(sql);
      statements.set(sql, known);
    }
    return known;
  }

  /** Runs a statement, and reports its duration and which rows it changes. */
  function execute<Method extends keyof Results>(
    { sql, running, tables }: PreparedStatement,
    method: Method,
    values: readonly SqlValue[],
    scope?: Scope,
  ): Results[Method] {
    const since = onStatement ? performance.now() : 0;
    const result = (running[method] as (...values: readonly SqlValue[]) => Results[Method])(...values);
    onStatement?.(sql, performance.now() - since);
    if (tables !== null) reportChange(tables, values, scope, result);
    return result;
  }

  function reportChange(tables: readonly string[], values: readonly SqlValue[], scope: Scope, result: unknown): void {
    if (scope === 'nothing cached' || isWithoutEffect(result)) return;
    if (scope === undefined) changes?.changed({ tables });
    else if (scope === 'returned ids') changes?.changed({ ids: (result as { id: string }[]).map(({ id }) => id) });
    else changes?.changed({ ids: 'idAt' in scope ? [values[scope.idAt] as string] : scope.ids });
  }

  /** Part of the driver that drizzle uses. */
  const clientOf = (scope?: Scope) => ({
    prepare(sql: string) {
      const isWrite = changes !== undefined && /^\s*(?:insert|update|delete|replace)/i.test(sql);
      const run =
        <Method extends keyof Results>(method: Method) =>
        (...values: SqlValue[]) => {
          hooks?.enter();
          if (isWrite) changes?.executed();
          return execute(statement(sql), method, values, scope);
        };
      return { run: run('run'), all: run('all'), values: run('values') };
    },
  });

  function buildersFor(scope?: Scope): Orm {
    const orm = drizzle({ client: clientOf(scope) as unknown as SqliteDatabase });
    if (changes)
      for (const method of ['insert', 'update', 'delete'] as const) {
        const begin = orm[method].bind(orm) as (table: never) => unknown;
        orm[method] = ((table: never) => {
          changes.built();
          return begin(table);
        }) as never;
      }
    return orm;
  }

  const preparing = {
    prepare(sql: string) {
      const prepared = prepare(sqliteDialect.hinted(sql));
      const run =
        <Method extends keyof Results>(method: Method) =>
        (...values: SqlValue[]) =>
          execute(prepared, method, values);
      return { run: run('run'), all: run('all'), values: run('values') };
    },
  };
  const forLookups: LookupConnection = {
    dialect: sqliteDialect,
    cache: hooks?.cache ?? null,
    enter: () => hooks?.enter(),
    get: (sql, values) => execute(statement(sql), 'get', values),
  };
  const best = hooks?.lookups;
  return {
    dialect: sqliteDialect,
    orm: buildersFor(),
    ormFor: (ids) => buildersFor({ ids }),
    prepared: new Map(),
    plainOrm: drizzle({ client: preparing as unknown as SqliteDatabase }),
    enter: () => hooks?.enter(),
    rows: ({ compiled, values }, scope) =>
      settle(() => {
        const rows = execute(statement(compiled.sql), 'all', values, scope) as object[];
        if (compiled.booleans.length > 0) for (const row of rows) withBooleans(compiled, row);
        return rows;
      }),
    changes: ({ compiled, values }, scope) =>
      settle(() => execute(statement(compiled.sql), 'run', values, scope).changes),
    execute: (prepared, values) => settle(() => (prepared.execute(values) as { sync(): unknown }).sync()),
    longRows(sql, values) {
      if (readInThread) return readInThread(sql, values) as Promise<object[]>;
      return settle(() => {
        hooks?.enter();
        return execute(statement(sql), 'all', values) as object[];
      });
    },
    // A failed statement of SQLite changes nothing, and the transaction goes on.
    savepoint: (run) => run(),
    pipelined: (run) => run() as Promise<void>,
    lookups: sqliteLookups(best ? () => best().forLookups : () => forLookups),
    forLookups,
  };
}
