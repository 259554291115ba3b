/** Reads schema and rows of a PostgreSQL database while an instance is moved. */
import type { SQL } from 'bun';
import { type BoundSql, keyAheadSql, type MoveDialect, readSql, sizeSql, textSql } from '../move/sql.ts';
import type { MovedColumn, ColumnType, RangeDigest, MovedRow, RowReader, MovedSchema } from '../move/tables.ts';
import { findSchemaVersion } from './schema-version.ts';

/** The part of a client that runs statements: a pool, a reserved connection, or a transaction. */
export type MoveStatements = Pick<SQL, 'unsafe'>;

/** Tables and functions with this prefix belong to the engine, not to the schema that both engines share. */
export const OWN_PREFIX = 'gatehouse_';

const VALUES: Readonly<Record<ColumnType, (text: string) => string>> = {
  text: (text) => text,
  integer: (text) => `CAST(${text} AS bigint)`,
  bytes: (text) => `decode(${text}, 'hex')`,
};

/** Returns the expression that turns a cell into a column's value. */
export const valueOfCell = (text: string, { type }: MovedColumn): string => VALUES[type](text);

export const postgresMoveDialect: MoveDialect = {
  hex: (column) => `upper(encode(${column}, 'hex'))`,
  value: (position, column) => valueOfCell(`CAST($${position} AS text)`, column),
};

const TYPES: Readonly<Record<string, ColumnType>> = { text: 'text', bigint: 'integer', bytea: 'bytes' };

interface FoundColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** Position in the primary key from 1; null outside it. */
  readonly position: number | null;
}

/** Returns the tables of the current schema, but those that `isMoved` refuses. */
export async function postgresSchema(sql: SQL, isMoved: (table: string) => boolean): Promise<MovedSchema> {
  const { version } = await findSchemaVersion(sql);
  const found: FoundColumn[] = await sql.unsafe(
    `SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
       array_position(CAST(k.conkey AS int[]), CAST(a.attnum AS int)) AS position
     FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
     WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'
     ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"`,
  );
  const isShared = (table: string) => !table.startsWith(OWN_PREFIX) && isMoved(table);
  const byTable = Map.groupBy(found, ({ table }) => table);
  const tables = [...byTable].filter(([name]) => isShared(name)).map(([name, columns]) => tableOf(name, columns));
  return { version, tables };
}

function tableOf(name: string, found: readonly FoundColumn[]) {
  const known = found.map((column) => {
    const type = TYPES[column.type];
    if (type === undefined) throw new Error(`${name}.${column.name} is of type ${column.type}, which cannot be moved`);
    return { column: { name: column.name, type }, position: column.position };
  });
  const key = known
    .filter(({ position }) => position !== null)
    .sort((left, right) => Number(left.position) - Number(right.position))
    .map(({ column }) => column);
  return { name, columns: known.map(({ column }) => column), key };
}

/** Reads through a connection, in the state that it sees; a pool sees a later one with each statement. */
export function postgresRows(sql: MoveStatements): RowReader {
  const values = async (bound: BoundSql): Promise<MovedRow[]> => sql.unsafe(bound.sql, [...bound.values]).values();
  return {
    async size(table) {
      const [row] = await values({ sql: sizeSql(table), values: [] });
      return { rows: Number(row?.[0] ?? 0), largestRowBytes: Number(row?.[1] ?? 0) };
    },
    async keyAhead(table, after, count) {
      const [row] = await values(keyAheadSql(postgresMoveDialect, table, after, count));
      return row === undefined ? null : row.map(String);
    },
    async digest(table, range): Promise<RangeDigest> {
      const { sql: text, values: bound } = textSql(postgresMoveDialect, table, range, 'string_agg');
      const digest = `SELECT "rows", encode(sha256(convert_to(whole, 'UTF8')), 'hex') FROM (${text}) AS joined`;
      const [row] = await values({ sql: digest, values: bound });
      return { rows: Number(row?.[0] ?? 0), sha256: String(row?.[1]) };
    },
    read: (table, range) => values(readSql(postgresMoveDialect, table, range)),
  };
}
