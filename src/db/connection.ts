/** Interface of a connection, through which the statements of the store run. */
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core';
import type { CompiledSql, Dialect } from './dialect.ts';
import type { Lookups } from './lookup-queries.ts';

/** Builders of statements. Both engines take the SQL of drizzle's SQLite dialect, and the values it binds. */
export type Orm = BaseSQLiteDatabase<'sync', void>;

export type SqlValue = string | number | bigint | boolean | Uint8Array | null;

/**
 * Scope of a change: nothing cached, or the rows whose ids it names, and what depends on them: the value at index `idAt`,
 * or the column `id` that it returns.
 */
export type ChangeScope = 'nothing cached' | 'returned ids' | { readonly idAt: number };

/** A statement that is ready to run: its text for the engine, and the values in the order of their placeholders. */
export interface BoundStatement {
  readonly compiled: CompiledSql;
  readonly values: SqlValue[];
}

/** A prepared builder of drizzle. */
export interface PreparedBuilder {
  execute(values?: Record<string, unknown>): unknown;
}

export interface Connection {
  readonly dialect: Dialect;
  /** For statements built at each use. */
  readonly orm: Orm;
  /** For changes of these rows alone, and what depends on them. Absent where nothing is cached. */
  readonly ormFor?: (ids: readonly string[]) => Orm;
  /** Statements built once for this connection, by their declaration. */
  readonly prepared: Map<object, unknown>;
  /** For building kept statements. */
  readonly plainOrm: Orm;
  /** Called before each statement. @throws where the connection must not be used now. */
  enter(): void;
  /** Runs a statement, now rather than when awaited. @returns its rows, with booleans in columns `is…` and `has…`. */
  rows(statement: BoundStatement, scope?: ChangeScope): Promise<object[]>;
  /** Runs a change. @param scope of a change to less than the named tables. @returns the number of changed rows. */
  changes(statement: BoundStatement, scope?: ChangeScope): Promise<number>;
  /** Runs a prepared builder. */
  execute(prepared: PreparedBuilder, values?: Record<string, unknown>): Promise<unknown>;
  /** Runs a read as long as a tenant where it holds up nothing else. @returns rows as the driver returns them. */
  longRows(sql: string, values: SqlValue[]): Promise<object[]>;
  /** Runs a part of a change whose failure leaves the rest of the change as it is. */
  savepoint<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Runs a change, at most one statement, without its outcome: a failure fails what follows, at the latest the commit. */
  pipelined(run: () => Promise<unknown>): Promise<void>;
  readonly lookups: Lookups;
}
