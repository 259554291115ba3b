/** Reads everything that an instance has stored. */
import type { Database, Statement } from 'bun:sqlite';
import type { Instance } from './instance.ts';

/** Written by a flush outside of any request: they record when something was used. */
const USE_COLUMNS = ['last_seen_at', 'last_used_at'];
const USE_TABLES = ['rate_counters'];

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

interface Stored {
  /** One prepared statement per table: preparing them for each dump takes longer than running them. */
  readonly tables: readonly (readonly [name: string, statement: Statement<Record<string, unknown>>])[];
  readonly version: Statement<{ data_version: number }>;
  readonly changes: Statement<{ changes: number }>;
  dump?: { readonly of: string; readonly rows: Record<string, unknown[]> };
}

const known = new WeakMap<Database, Stored>();

function storedIn(sqlite: Database): Stored {
  let stored = known.get(sqlite);
  if (!stored) {
    const names = sqlite
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
      .flatMap(({ name }) => (USE_TABLES.includes(name) ? [] : name));
    stored = {
      tables: names.sort().map((name) => [name, sqlite.prepare(`SELECT * FROM ${name}`)] as const),
      version: sqlite.prepare('PRAGMA data_version'),
      changes: sqlite.prepare('SELECT total_changes() AS changes'),
    };
    known.set(sqlite, stored);
  }
  return stored;
}

/**
 * Returns every row of every table, without last-used times and sending states, to prove that nothing changed. Reads nothing
 * if no connection has committed since the last call.
 */
export function dumpTables({ sqlite }: Instance): Record<string, unknown[]> {
  const stored = storedIn(sqlite);
  // The first changes with commits of other connections, the second with those of this one.
  const of = `${stored.version.get()?.data_version} ${stored.changes.get()?.changes}`;
  if (stored.dump?.of !== of || sqlite.inTransaction)
    stored.dump = {
      of,
      rows: Object.fromEntries(
        stored.tables.map(([name, statement]) => [name, statement.all().map((row) => withoutTraces(name, row))]),
      ),
    };
  return { ...stored.dump.rows };
}

function withoutTraces(table: string, row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !isTraceOf(table, column)));
}

/** Returns everything stored as searchable text; blobs as hex and as they are. */
export function storedText({ sqlite }: Instance): string {
  const names = sqlite.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  return names
    .flatMap(({ name }) => sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[])
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array
        ? `${Buffer.from(value).toString('hex')} ${Buffer.from(value).toString('latin1')}`
        : value,
    )
    .join('\n');
}
