/** Reads schema and rows of a SQLite database while an instance is moved. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { type BoundSql, keyAheadSql, type MoveDialect, readSql, sizeSql, textSql } from '../move/sql.ts';
import type {
  MovedColumn,
  ColumnType,
  RangeDigest,
  MovedRow,
  RowReader,
  MovedSchema,
  MovedTable,
} from '../move/tables.ts';
import { schemaVersion } from './migrate.ts';

const VALUES: Readonly<Record<ColumnType, (placeholder: string) => string>> = {
  text: (placeholder) => placeholder,
  integer: (placeholder) => `CAST(${placeholder} AS INTEGER)`,
  bytes: (placeholder) => `unhex(${placeholder})`,
};

export const sqliteMoveDialect: MoveDialect = {
  hex: (column) => `iif(${column} IS NULL, NULL, hex(${column}))`,
  value: (position, { type }) => VALUES[type](`?${position}`),
};

const TYPES: Readonly<Record<string, ColumnType>> = { TEXT: 'text', INTEGER: 'integer', BLOB: 'bytes' };

/** Returns the tables, but those that `isMoved` refuses. */
export function sqliteSchema(sqlite: SqliteDatabase, isMoved: (table: string) => boolean): MovedSchema {
  const names = all<{ name: string }>(sqlite, {
    sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    values: [],
  }).map(({ name }) => name);
  return { version: schemaVersion(sqlite), tables: names.filter(isMoved).map((name) => tableOf(sqlite, name)) };
}

function tableOf(sqlite: SqliteDatabase, name: string): MovedTable {
  // `hidden` is 2 or 3 for a generated column.
  const found = all<{ name: string; type: string; pk: number }>(sqlite, {
    sql: 'SELECT name, type, pk FROM pragma_table_xinfo(?1) WHERE hidden = 0 ORDER BY name',
    values: [name],
  });
  const columns = found.map(({ name: column, type }): MovedColumn => {
    const known = TYPES[type];
    if (known === undefined) throw new Error(`${name}.${column} is of type ${type}, which cannot be moved`);
    return { name: column, type: known };
  });
  const key = columns
    .map((column, at) => ({ column, position: Number(found[at]?.pk ?? 0) }))
    .filter(({ position }) => position > 0)
    .sort((left, right) => left.position - right.position)
    .map(({ column }) => column);
  return { name, columns, key };
}

/** Reads through a connection, in the state that it sees. */
export function sqliteRows(sqlite: SqliteDatabase): RowReader {
  const values = (bound: BoundSql) => {
    using statement = sqlite.prepare<unknown, string[]>(bound.sql);
    return statement.values(...bound.values) as MovedRow[];
  };
  return {
    async size(table) {
      const [row] = all<{ rows: number; bytes: number }>(sqlite, { sql: sizeSql(table), values: [] });
      return { rows: Number(row?.rows ?? 0), largestRowBytes: Number(row?.bytes ?? 0) };
    },
    async keyAhead(table, after, count) {
      const [row] = values(keyAheadSql(sqliteMoveDialect, table, after, count));
      return row === undefined ? null : row.map(String);
    },
    async digest(table, range): Promise<RangeDigest> {
      const [row] = all<{ rows: number; whole: string }>(
        sqlite,
        textSql(sqliteMoveDialect, table, range, 'group_concat'),
      );
      const sha256 = new Bun.CryptoHasher('sha256').update(row?.whole ?? '').digest('hex');
      return { rows: Number(row?.rows ?? 0), sha256 };
    },
    read: async (table, range) => values(readSql(sqliteMoveDialect, table, range)),
  };
}

/** Leaves no statement behind, which would keep a closed connection open. */
function all<Found>(sqlite: SqliteDatabase, { sql, values }: BoundSql): Found[] {
  using statement = sqlite.prepare<Found, string[]>(sql);
  return statement.all(...values);
}
