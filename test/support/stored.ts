/** Reads everything that an instance has stored. */
import type { Database } from 'bun:sqlite';
import { VERSION_TABLE } from '../../src/db/postgres/schema-version.ts';
import { ENGINE } from './engine.ts';
import type { Instance } from './instance.ts';

/** Written by a flush outside of any request: they record when something was used. */
const USE_COLUMNS = ['last_seen_at', 'last_used_at'];
const USE_TABLES = ['rate_counters', 'member_search', 'address_search'];

/** Mails are sent concurrently with the test, so their sending state varies. */
const SENDING_COLUMNS = [
  'status',
  'attempts',
  'next_attempt_at',
  'leased_until',
  'lease_holder',
  'last_error',
  'sent_at',
];
const CARRIED_COLUMNS = ['subject', 'text', 'html', 'code'];

const isTraceOf = (table: string, column: string): boolean =>
  USE_COLUMNS.includes(column) ||
  (table === 'mails' && (SENDING_COLUMNS.includes(column) || CARRIED_COLUMNS.includes(column)));

const TABLES = {
  sqlite:
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  postgres: `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
    AND relname <> '${VERSION_TABLE}' ORDER BY relname`,
}[ENGINE];

type Rows = Record<string, unknown>[];

interface Stored {
  /** Changes with each commit. */
  version(): string;
  read(): Record<string, Rows>;
  dump?: { readonly of: string; readonly rows: Record<string, unknown[]> };
}

const known = new WeakMap<Database, Stored>();

export function tableNames(sqlite: Database): string[] {
  return sqlite
    .query<{ name: string }, []>(TABLES)
    .all()
    .map(({ name }) => name);
}

/** Prepares one statement per table: preparing them for each dump takes longer than running them. */
function storedInSqlite(sqlite: Database, tables: readonly string[]): Stored {
  const statements = tables.map((name) => [name, sqlite.prepare<Rows[number], []>(`SELECT * FROM ${name}`)] as const);
  const version = sqlite.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const changes = sqlite.prepare<{ changes: number }, []>('SELECT total_changes() AS changes');
  return {
    // The first changes with commits of other connections, the second with those of this one.
    version: () => `${version.get()?.data_version} ${changes.get()?.changes}`,
    read: () => Object.fromEntries(statements.map(([name, statement]) => [name, statement.all()])),
  };
}

/** Reads all tables in one statement, each in an order that an update does not change. */
function storedInPostgres(sqlite: Database, tables: readonly string[]): Stored {
  const all = sqlite.query<{ name: string; rows: string }, []>(
    tables
      .map((name) => `SELECT '${name}' AS name, (SELECT json_agg(t ORDER BY t::text)::text FROM ${name} t) AS rows`)
      .join(' UNION ALL '),
  );
  const version = sqlite.query<{ snapshot: string }, []>('SELECT pg_current_snapshot()::text AS snapshot');
  return {
    version: () => version.get()?.snapshot ?? '',
    read: () => Object.fromEntries(all.all().map(({ name, rows }) => [name, JSON.parse(rows ?? '[]') as Rows])),
  };
}

function storedIn(sqlite: Database): Stored {
  let stored = known.get(sqlite);
  if (!stored) {
    const tables = tableNames(sqlite).filter((name) => !USE_TABLES.includes(name));
    stored = (ENGINE === 'postgres' ? storedInPostgres : storedInSqlite)(sqlite, tables);
    known.set(sqlite, stored);
  }
  return stored;
}

/** Returns every row of every table, without the counters of rate limits. */
export function allRows(sqlite: Database): Record<string, Rows> {
  return storedIn(sqlite).read();
}

/**
 * Returns every row of every table, without last-used times and sending states, to prove that nothing changed. Reads nothing
 * if no connection has committed since the last call.
 */
export function dumpTables({ sqlite }: Instance): Record<string, unknown[]> {
  const stored = storedIn(sqlite);
  const of = stored.version();
  if (stored.dump?.of !== of || sqlite.inTransaction)
    stored.dump = {
      of,
      rows: Object.fromEntries(
        Object.entries(stored.read()).map(([name, rows]) => [name, rows.map((row) => withoutTraces(name, row))]),
      ),
    };
  return { ...stored.dump.rows };
}

function withoutTraces(table: string, row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !isTraceOf(table, column)));
}

/** Returns everything stored as searchable text; blobs as hex and as they are. */
export function storedText({ sqlite }: Instance): string {
  return tableNames(sqlite)
    .flatMap((name) => sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array
        ? `${Buffer.from(value).toString('hex')} ${Buffer.from(value).toString('latin1')}`
        : value,
    )
    .join('\n');
}
