/**
 * Lookups in PostgreSQL. None is cached, since another instance may have changed its row. Those that are asked for in
 * one turn of the event loop travel as one statement, with the rows they depend on: one round trip for all of them.
 */
import { compile, type Sql } from '../dialect.ts';
import type { CachedQuery, Dependent, DependentLookup, Lookups, Make, UncachedQuery } from '../lookup-queries.ts';
import { requireDeclared } from '../lookups.ts';
import { binder, type Binder, withBooleans } from '../statements.ts';
import { postgresDialect } from './dialect.ts';
import type { Run } from './driver.ts';

/** Lookups of one statement: more keys wait for the next. */
const MAX_KEYS = 200;

/** Rows that a row depends on: each dependent's by id. */
type DependentRows = ReadonlyMap<CachedQuery<never>, ReadonlyMap<string, object>>;

interface Found {
  readonly row: object;
  readonly dependents: DependentRows;
}

type Waiting = PromiseWithResolvers<Found | undefined> & { readonly key: Uint8Array };

/** SQL of lookups, compiled once. */
export interface LookupStatements {
  /** Returns the statement for a list of keys. */
  byKeys(query: CachedQuery<never>): BatchStatement;
  one(query: UncachedQuery): Binder;
}

interface BatchStatement {
  readonly text: string;
  readonly booleans: readonly string[];
}

export function lookupStatements(): LookupStatements {
  const batches = new Map<CachedQuery<never>, BatchStatement>();
  const binders = new Map<UncachedQuery, Binder>();
  return {
    byKeys(query) {
      let batch = batches.get(query);
      if (batch === undefined) batches.set(query, (batch = batchSql(query)));
      return batch;
    },
    one(query) {
      let bind = binders.get(query);
      if (bind === undefined) binders.set(query, (bind = binder(singleSql(query))));
      return bind;
    },
  };
}

/**
 * @param run runs a statement; in a change on its connection, so that lookups see what it has written.
 * @param onBatch called for each statement of lookups by key, with their number.
 */
export function postgresLookups(run: Run, statements: LookupStatements, onBatch: (count: number) => void): Lookups {
  /** Lookups of this turn, by their query. */
  const turn = new Map<CachedQuery<never>, Waiting[]>();

  function runBatch(query: CachedQuery<never>): void {
    const waiting = turn.get(query) ?? [];
    turn.delete(query);
    const { text, booleans } = statements.byKeys(query);
    for (let from = 0; from < waiting.length; from += MAX_KEYS)
      void answer(waiting.slice(from, from + MAX_KEYS), query, text, booleans);
  }

  async function answer(
    part: readonly Waiting[],
    query: CachedQuery<never>,
    text: string,
    booleans: readonly string[],
  ): Promise<void> {
    onBatch(part.length);
    try {
      const { rows } = await run(text, [{ type: 'BYTEA', items: part.map(({ key }) => key) }]);
      for (const row of rows as ({ '#': number } & object)[])
        part[row['#'] - 1]?.resolve(foundIn(row, query, booleans));
      // A key without a row; the others are resolved already.
      for (const { resolve } of part) resolve(undefined);
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  }

  function find(query: CachedQuery<never>, key: Uint8Array): Promise<Found | undefined> {
    const waiting: Waiting = { ...Promise.withResolvers<Found | undefined>(), key };
    const known = turn.get(query);
    if (known) known.push(waiting);
    else {
      turn.set(query, [waiting]);
      setImmediate(() => runBatch(query));
    }
    return waiting.promise;
  }

  return {
    async byKey(query, key, make) {
      return made(query, await find(query, key), make);
    },
    async one(query, given, make) {
      const { compiled, values } = statements.one(query)(postgresDialect, given);
      const [row] = (await run(compiled.sql, values)).rows;
      return made(query, row && foundIn(row, query, compiled.booleans), make);
    },
  };
}

function made<Row, Answer>(
  query: UncachedQuery,
  found: Found | undefined,
  make: Make<Row, Answer>,
): Answer | undefined {
  if (found === undefined) return undefined;
  const look: DependentLookup = (dependent, id, makeOf) => {
    requireDeclared(query, dependent);
    const row = found.dependents.get(dependent)?.get(id);
    return row === undefined ? undefined : makeOf(row as never);
  };
  return make(found.row as Row, look);
}

/** Column with the rows of one dependent, as JSON pairs of id and row. */
const dependentColumn = (index: number) => `+${index}`;

/** Takes the dependents' columns out of a row. */
function foundIn(row: object, { dependents = [] }: UncachedQuery, booleans: readonly string[]): Found {
  const columns = row as Record<string, unknown>;
  const rows = new Map<CachedQuery<never>, Map<string, object>>();
  for (const [index, { query }] of dependents.entries()) {
    const pairs = columns[dependentColumn(index)] as readonly [string, object][] | null;
    rows.set(query, new Map(pairs ?? []));
  }
  return { row: withBooleans({ sql: '', names: [], booleans }, row), dependents: rows };
}

/** Selects the rows that a row `found` depends on. */
function withDependents(dependents: readonly Dependent[]): string {
  return dependents
    .map(
      ({ query, ids }, index) =>
        `, (SELECT json_agg(json_build_array(lookup_id.id, row_to_json(dependent)))
            FROM unnest(string_to_array(found."${ids}", ' ')) lookup_id (id) CROSS JOIN LATERAL (${inner(query.sql, 'lookup_id.id')}) dependent) AS "${dependentColumn(index)}"`,
    )
    .join('');
}

/** Returns a lookup's SQL for a value that another part of the statement supplies. */
function inner(sql: Sql, value: string): string {
  return compile(sql, { ...postgresDialect, placeholder: () => value }).sql;
}

function batchSql({ sql, dependents = [] }: CachedQuery<never>): BatchStatement {
  const { booleans } = compile(sql, postgresDialect);
  const text = `SELECT lookup_key.n AS "#", found.*${withDependents(dependents)}
    FROM unnest($1::bytea[]) WITH ORDINALITY lookup_key (value, n)
    CROSS JOIN LATERAL (${inner(sql, 'lookup_key.value')}) found`;
  return { text, booleans };
}

function singleSql({ sql, dependents = [] }: UncachedQuery): Sql {
  return (dialect) => {
    const text = typeof sql === 'string' ? sql : sql(dialect);
    return `SELECT found.*${withDependents(dependents)} FROM (${text}) found`;
  };
}
