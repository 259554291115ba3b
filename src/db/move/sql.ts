/** Builds the statements that read and compare rows while an instance is moved, alike in both engines. */
import type { MovedColumn, Key, KeyRange, MovedTable } from './tables.ts';

/** Fragments that differ between engines. */
export interface MoveDialect {
  /** Returns bytes as upper-case hex; null for null. */
  hex(column: string): string;
  /** Returns the expression of a bound cell. @param position from 1. */
  value(position: number, column: MovedColumn): string;
}

export interface BoundSql {
  readonly sql: string;
  readonly values: readonly string[];
}

export const quotedName = (name: string) => `"${name.replaceAll('"', '""')}"`;

export const columnList = (columns: readonly MovedColumn[]) => columns.map(({ name }) => quotedName(name)).join(', ');

/** Returns the cell of a column, as text. */
export function cell({ hex }: MoveDialect, { name, type }: MovedColumn): string {
  const column = quotedName(name);
  if (type === 'bytes') return hex(column);
  return type === 'integer' ? `CAST(${column} AS text)` : column;
}

/** Returns a text from which a row can be told from every other: each cell with its length in bytes before it. */
export function rowText(dialect: MoveDialect, { columns }: MovedTable): string {
  const cells = columns.map((column) => {
    const text = cell(dialect, column);
    return `CASE WHEN ${quotedName(column.name)} IS NULL THEN '-' ELSE CAST(octet_length(${text}) AS text) || ':' || ${text} END`;
  });
  return cells.join(' || ');
}

/** Returns the bytes of a row, roughly. */
export function rowBytes({ columns }: MovedTable): string {
  return columns
    .map(({ name, type }) => (type === 'integer' ? '8' : `coalesce(octet_length(${quotedName(name)}), 0)`))
    .join(' + ');
}

/** Returns the condition of a range, and the values that it binds. */
export function rangeCondition({ value }: MoveDialect, { key }: MovedTable, { after, last }: KeyRange): BoundSql {
  const compared = (operator: string, limit: Key, position: number) => {
    const bound = key.map((column, at) => value(position + at, column));
    return limit.length > 0 ? [`(${columnList(key)}) ${operator} (${bound.join(', ')})`] : [];
  };
  const [from, to] = [after ?? [], last ?? []];
  const conditions = [...compared('>', from, 1), ...compared('<=', to, from.length + 1)];
  return { sql: conditions.length > 0 ? conditions.join(' AND ') : '1 = 1', values: [...from, ...to] };
}

export function readSql(dialect: MoveDialect, table: MovedTable, range: KeyRange): BoundSql {
  const { sql, values } = rangeCondition(dialect, table, range);
  const cells = table.columns.map((column, at) => `${cell(dialect, column)} AS c${at}`);
  return {
    sql: `SELECT ${cells.join(', ')} FROM ${quotedName(table.name)} WHERE ${sql} ORDER BY ${columnList(table.key)}`,
    values,
  };
}

export function keyAheadSql(dialect: MoveDialect, table: MovedTable, after: Key | null, count: number): BoundSql {
  const { sql, values } = rangeCondition(dialect, table, { after, last: null });
  const cells = table.key.map((column, at) => `${cell(dialect, column)} AS k${at}`);
  return {
    sql:
      `SELECT ${cells.join(', ')} FROM ${quotedName(table.name)} WHERE ${sql} ` +
      `ORDER BY ${columnList(table.key)} LIMIT 1 OFFSET ${count - 1}`,
    values,
  };
}

/** Returns the statement for the number of rows in a range and their text, joined in key order. */
export function textSql(dialect: MoveDialect, table: MovedTable, range: KeyRange, join: string): BoundSql {
  const { sql, values } = rangeCondition(dialect, table, range);
  const key = columnList(table.key);
  return {
    sql:
      `SELECT count(*) AS "rows", coalesce(${join}(part, '' ORDER BY ${key}), '') AS whole ` +
      `FROM (SELECT ${key}, ${rowText(dialect, table)} AS part FROM ${quotedName(table.name)} WHERE ${sql}) AS parts`,
    values,
  };
}

export function sizeSql(table: MovedTable): string {
  return `SELECT count(*) AS "rows", coalesce(max(${rowBytes(table)}), 0) AS bytes FROM ${quotedName(table.name)}`;
}

export function removeSql({ value }: MoveDialect, table: MovedTable, keys: readonly Key[]): BoundSql {
  const width = table.key.length;
  const tuples = keys.map((_, row) => {
    const bound = table.key.map((column, at) => value(row * width + at + 1, column));
    return `(${bound.join(', ')})`;
  });
  return {
    values: keys.flat(),
    sql: `DELETE FROM ${quotedName(table.name)} WHERE (${columnList(table.key)}) IN (VALUES ${tuples.join(', ')})`,
  };
}
