/** Lookups in SQLite, answered at once and cached. */
import type { SqlValue } from '../connection.ts';
import { compile, type CompiledSql, type Dialect } from '../dialect.ts';
import type { CachedQuery, DependentLookup, Lookups, Make, UncachedQuery } from '../lookup-queries.ts';
import { requireDeclared } from '../lookups.ts';
import type { CacheKey, QueryCache } from '../query-cache.ts';
import { binder, type Binder, withBooleans } from '../statements.ts';

/** Part of a connection that lookups use. */
export interface LookupConnection {
  readonly dialect: Dialect;
  /** Null inside a change, which must see its own writes. */
  readonly cache: QueryCache | null;
  enter(): void;
  /** Returns the first row, or null. */
  get(sql: string, values: readonly SqlValue[]): unknown;
}

/** @param best returns the best connection for a lookup now. */
export function sqliteLookups(best: () => LookupConnection): Lookups {
  const compiled = new Map<object, CompiledSql>();
  const binders = new Map<UncachedQuery, Binder>();

  function compiledFor(query: CachedQuery<never>, { dialect }: LookupConnection): CompiledSql {
    let known = compiled.get(query);
    if (known === undefined) compiled.set(query, (known = compile(query.sql, dialect)));
    return known;
  }

  function bound(query: UncachedQuery, { dialect }: LookupConnection, given: unknown) {
    let bind = binders.get(query);
    if (bind === undefined) binders.set(query, (bind = binder(query.sql)));
    return bind(dialect, given);
  }

  function dependentsOf(connection: LookupConnection, query: UncachedQuery): DependentLookup {
    return (dependent, id, make) => {
      requireDeclared(query, dependent);
      return cached(connection, dependent, id) ?? missed(connection, dependent, id, make);
    };
  }

  function cached<Answer>({ cache }: LookupConnection, query: CachedQuery<never>, key: CacheKey): Answer | undefined {
    return cache === null ? undefined : (cache.entriesOf(query).get(key) as Answer | undefined);
  }

  /** Apart from `cached`, which allocates nothing. */
  function missed<Row, Answer>(
    connection: LookupConnection,
    query: CachedQuery<Row>,
    key: CacheKey,
    make: Make<Row, Answer>,
  ): Answer | undefined {
    const entries = connection.cache?.entriesOf(query);
    const kept = entries?.row(key) as Row | undefined;
    const row = kept ?? read(connection, query, key);
    if (row === null) return undefined;
    const answer = make(row, dependentsOf(connection, query));
    if (kept === undefined) entries?.set(key, row as object, answer);
    else entries?.made(key, row as object, answer);
    return answer;
  }

  function read<Row>(connection: LookupConnection, query: CachedQuery<Row>, key: CacheKey): Row | null {
    const statement = compiledFor(query, connection);
    const row = connection.get(statement.sql, [key]) as Row | null;
    return row && withBooleans(statement, row);
  }

  return {
    byKey(query, key, make) {
      const connection = best();
      connection.enter();
      return cached(connection, query, key) ?? missed(connection, query, key, make);
    },
    one: <Row, Answer>(query: UncachedQuery, given: unknown, make: (row: Row, look: DependentLookup) => Answer) =>
      settle(() => {
        const connection = best();
        connection.enter();
        const { compiled: statement, values } = bound(query, connection, given);
        const row = connection.get(statement.sql, values) as Row | null;
        return row === null ? undefined : make(withBooleans(statement, row), dependentsOf(connection, query));
      }),
  };
}

/** SQLite answers at once; the promise is for engines that do not. */
export function settle<Result>(run: () => Result): Promise<Result> {
  try {
    return Promise.resolve(run());
  } catch (error) {
    return Promise.reject(error);
  }
}
