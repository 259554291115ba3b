/** Connection of the store to PostgreSQL: drizzle's builders and raw statements over one way to run a statement. */
import { drizzle } from 'drizzle-orm/sqlite-proxy';
import type { BoundStatement, Connection, Orm, SqlValue } from '../connection.ts';
import type { Lookups } from '../lookup-queries.ts';
import { withBooleans } from '../statements.ts';
import { postgresDialect } from './dialect.ts';
import type { Run } from './driver.ts';

export interface ConnectionParts {
  readonly run: Run;
  /** Defaults to `run`. */
  readonly runLong?: Run;
  /** Called before each statement. */
  readonly enter?: () => void;
  readonly lookups: Lookups;
  /** Present inside a change. */
  readonly savepoint?: Connection['savepoint'];
}

/** Texts of builders, as the server takes them; built at each use, they vary with lists and filters. */
const MAX_TEXTS = 2000;

export function postgresConnection({
  run,
  runLong = run,
  enter = () => {},
  lookups,
  savepoint,
}: ConnectionParts): Connection {
  const texts = new Map<string, string>();

  function textOf(sql: string): string {
    let text = texts.get(sql);
    if (text === undefined) {
      if (texts.size >= MAX_TEXTS) texts.clear();
      texts.set(sql, (text = postgresDialect.fromBuilder(sql)));
    }
    return text;
  }

  const proxied = (before: () => void) =>
    drizzle(async (sql, values) => {
      before();
      return run(textOf(sql), values as SqlValue[], true) as Promise<{ rows: unknown[] }>;
    }) as unknown as Orm;

  async function rows({ compiled, values }: BoundStatement): Promise<object[]> {
    const found = (await run(compiled.sql, values)).rows;
    if (compiled.booleans.length > 0) for (const row of found) withBooleans(compiled, row);
    return found;
  }

  return {
    dialect: postgresDialect,
    orm: proxied(enter),
    prepared: new Map(),
    plainOrm: proxied(() => {}),
    enter,
    rows,
    changes: async ({ compiled, values }) => (await run(compiled.sql, values)).count,
    execute: async (prepared, values) => prepared.execute(values),
    async longRows(sql, values) {
      enter();
      return (await runLong(sql, values)).rows;
    },
    savepoint: savepoint ?? ((part) => part()),
    lookups,
  };
}
