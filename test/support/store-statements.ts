/**
 * Prints every statement of the store as JSON, for SQLite and for PostgreSQL: raw and prepared ones as each store file
 * declares them, and all shapes of those that are built at each use. Runs in a process of its own, since a recorder
 * replaces `db/statements.ts` and `db/lookups.ts`. Usage: bun test/support/store-statements.ts
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { plugin } from 'bun';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import { join } from 'node:path';
import type { Reader } from '../../src/db/database.ts';
import { compile, type Dialect, type Sql, sqlOf } from '../../src/db/dialect.ts';
import { sqliteDialect } from '../../src/db/sqlite/dialect.ts';
import { postgresDialect } from '../../src/db/postgres/dialect.ts';

export interface StoreStatement {
  /** File and line of the declaration. */
  readonly place: string;
  readonly sqlite: string;
  readonly postgres: string;
}

interface Built {
  readonly sql: string;
}

const STORE = join(import.meta.dir, '../../src/store');

const found: StoreStatement[] = [];
let dialect: Dialect = sqliteDialect;
/** Texts of builders, of which a shape for each engine is built. */
const built = new Map<Dialect, { place: string; sql: string }[]>([
  [sqliteDialect, []],
  [postgresDialect, []],
]);

/** Returns the innermost place in the store. */
function placeOf({ stack = '' }: Error): string {
  return /src\/store\/([\w-]+\.ts:\d+)/.exec(stack)?.[1] ?? '';
}

function record(sqlite: string, postgres: string): void {
  const place = placeOf(new Error());
  if (!found.some((one) => one.sqlite === sqlite && one.place === place)) found.push({ place, sqlite, postgres });
}

function declare(sql: Sql) {
  const { sql: text, names } = compile(sql, sqliteDialect);
  record(text, compile(sql, postgresDialect).sql);
  const place = placeOf(new Error());
  return async (_: Reader, given: Readonly<Record<string, unknown>>) => {
    const missing = names.filter((name) => given[name] === undefined);
    if (missing.length > 0) throw new Error(`${place}: no value is given for ${missing.join(', ')}`);
    return [];
  };
}

const orm = drizzle({ client: { prepare: () => ({}) } as unknown as SqliteDatabase });

const shapes = Object.fromEntries(
  ['rows', 'row', 'values', 'value', 'aggregate', 'count', 'exists'].map((shape) => [shape, declare]),
);

const recorder = {
  query: shapes,
  longRead: shapes,
  change: Object.assign((sql: Sql) => declare(sql), shapes),
  hold: declare,
  changeReturningIds: declare,
  note: Object.assign((sql: Sql) => declare(sql), shapes),
  pipelinedChange: declare,
  uncachedRow: declare,
  cachedRow({ sql, dependents = [] }: Built & { readonly dependents?: readonly { readonly query: Built }[] }) {
    for (const { query } of dependents) declare(query.sql);
    return declare(sql);
  },
  prepared(build: (db: typeof orm) => { getQuery(): Built }) {
    const { sql } = build(orm).getQuery();
    record(sql, postgresDialect.fromBuilder(sql));
    return async () => [];
  },
  async longReadOf(_: Reader, query: { toSQL(): Built }) {
    const { sql } = query.toSQL();
    built.get(dialect)?.push({ place: placeOf(new Error()), sql });
    // One batch of ids, so that its rows are read.
    return sql.includes('string_agg') ? [{ ids: '1' }] : [];
  },
  orm: () => orm,
  ormFor: () => orm,
  dialectOf: () => dialect,
  sqlOf,
  idsOf: () => [],
  savepoint: (_: unknown, run: () => unknown) => run(),
  pipelined: (_: unknown, run: () => unknown) => run(),
};

plugin({
  name: 'recorder',
  setup(build) {
    build.onLoad({ filter: /src\/db\/(?:statements|lookups)\.ts$/ }, () => ({ loader: 'object', exports: recorder }));
  },
});

for await (const name of new Bun.Glob('*.ts').scan(STORE)) await import(join(STORE, name));

const { BUILT } = await import('./built-statements.ts');
for (const build of BUILT) {
  for (dialect of [sqliteDialect, postgresDialect]) await build({} as Reader);
  const [sqlite = [], postgres = []] = [...built.values()];
  for (const [index, { sql, place }] of sqlite.entries())
    found.push({ place, sqlite: sql, postgres: postgresDialect.fromBuilder(postgres[index]?.sql ?? '') });
  sqlite.length = postgres.length = 0;
}

console.log(JSON.stringify(found));
