/** Reads everything that an instance has stored. */
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

/** Returns every row of every table, without last-used times and sending states, to prove that nothing changed. */
export function dumpTables({ sqlite }: Instance): Record<string, unknown[]> {
  const names = sqlite
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[];
  return Object.fromEntries(
    names
      .filter(({ name }) => !USE_TABLES.includes(name))
      .map(({ name }) => [
        name,
        (sqlite.query(`SELECT * FROM ${name}`).all() as Record<string, unknown>[]).map((row) =>
          Object.fromEntries(Object.entries(row).filter(([column]) => !isTraceOf(name, column))),
        ),
      ]),
  );
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
