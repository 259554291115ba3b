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

interface Batched {
  readonly text: string;
  readonly booleans: readonly string[];
  waiting: Waiting[];
}

export function postgresLookups(run: Run): Lookups {
  const byKey = new Map<CachedQuery<never>, Batched>();
  const single = new Map<UncachedQuery, { readonly bind: Binder }>();

  function batchOf(query: CachedQuery<never>): Batched {
    let batch = byKey.get(query);
    if (batch === undefined) byKey.set(query, (batch = { ...batchSql(query), waiting: [] }));
    return batch;
  }

  async function runBatch(query: CachedQuery<never>, batch: Batched): Promise<void> {
    const { waiting } = batch;
    batch.waiting = [];
    for (let from = 0; from < waiting.length; from += MAX_KEYS) {
      const part = waiting.slice(from, from + MAX_KEYS);
      try {
        const { rows } = await run(batch.text, [{ type: 'BYTEA', items: part.map(({ key }) => key) }]);
        for (const row of rows as ({ '#': number } & object)[])
          part[row['#'] - 1]?.resolve(foundIn(row, query, batch.booleans));
        // A key without a row; the others are resolved already.
        for (const { resolve } of part) resolve(undefined);
      } catch (error) {
        for (const { reject } of part) reject(error);
      }
    }
  }

  function find(query: CachedQuery<never>, key: Uint8Array): Promise<Found | undefined> {
    const batch = batchOf(query);
    const waiting: Waiting = { ...Promise.withResolvers<Found | undefined>(), key };
    batch.waiting.push(waiting);
    if (batch.waiting.length === 1) setImmediate(() => void runBatch(query, batch));
    return waiting.promise;
  }

  function bound(query: UncachedQuery, given: unknown) {
    let known = single.get(query);
    if (known === undefined) single.set(query, (known = { bind: binder(singleSql(query)) }));
    return known.bind(postgresDialect, given);
  }

  return {
    async byKey(query, key, make) {
      return made(query, await find(query, key), make);
    },
    async one(query, given, make) {
      const { compiled, values } = bound(query, given);
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

function batchSql({ sql, dependents = [] }: CachedQuery<never>): Pick<Batched, 'text' | 'booleans'> {
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
