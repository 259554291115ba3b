/** Interface of a connection, through which the statements of the store run. */
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import type { Dialect } from './dialect.ts';
import type { QueryCache } from './query-cache.ts';

export type Orm = BaseSQLiteDatabase<'sync', void>;

export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

export interface Running {
  run(...values: SqlValue[]): { readonly changes: number };
  all(...values: SqlValue[]): unknown[];
  values(...values: SqlValue[]): unknown[][];
  get(...values: SqlValue[]): unknown;
  finalize(): void;
}

/** Scope of a change: nothing cached, or the row whose id is the value at index `idAt`, and its dependents. */
export type ChangeScope = 'nothing cached' | { readonly idAt: number };

export interface Connection {
  readonly dialect: Dialect;
  /** For statements built at each use. */
  readonly orm: Orm;
  /** Statements built once for this connection, by their declaration. */
  readonly prepared: Map<object, unknown>;
  /** For building kept statements. */
  readonly plainOrm: Orm;
  /** Prepares an SQL text once. @param scope of a change to less than the named tables; fixed for one text. */
  statement(sql: string, scope?: ChangeScope): Running;
  /** Called before each statement. @throws where the connection must not be used now. */
  enter(): void;
  /** Returns the best connection for a lookup of one row now. */
  readonly lookups: () => Connection;
  /** Cache of answers; null inside a change, which must see its own writes. */
  readonly cache: QueryCache | null;
  /** Runs a read in another thread; null inside a change or without such a thread. */
  readonly readInThread: ((sql: string, values: SqlValue[]) => Promise<unknown[]>) | null;
}
