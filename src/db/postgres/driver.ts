/** Statements of Bun's driver for PostgreSQL, with values and results as the store knows them. */
import type { ReservedSQL, SQL } from 'bun';
import type { SqlValue } from '../connection.ts';

/** List bound as an array of PostgreSQL. */
export interface ArrayValue {
  readonly type: 'TEXT' | 'BYTEA' | 'BIGINT';
  readonly items: readonly (string | Uint8Array | number)[];
}

export type Bindable = SqlValue | ArrayValue;

export interface StatementResult<Row = object> {
  readonly rows: Row[];
  /** Number of rows that were returned or changed. */
  readonly count: number;
  readonly command: string;
}

/** Runs one statement. @param isList returns each row as a list of its columns, in order. */
export type Run = (text: string, values: readonly Bindable[], isList?: boolean) => Promise<StatementResult>;

type Result = unknown[] & { readonly count: number; readonly command: string };

/** Starts a statement now; its promise fails if the statement does. */
export async function execute(
  sql: SQL | ReservedSQL,
  text: string,
  values: readonly Bindable[],
  isList = false,
): Promise<StatementResult> {
  const query =
    values.length === 0
      ? sql.unsafe(text)
      : sql.unsafe(
          text,
          values.map((value) => bound(sql, value)),
        );
  const result = (await (isList ? query.values() : query).catch(rejectWithoutValues)) as Result;
  for (const row of result) withNumbers(row as Record<string, unknown>);
  return { rows: result as object[], count: result.count, command: result.command };
}

/** Rejects with the server's error without the parts that quote values of rows: it is logged. */
function rejectWithoutValues(error: unknown): never {
  if (error instanceof Error) Object.assign(error, { detail: undefined, where: undefined });
  throw error;
}

/** Integers are bound as `bigint`, so that a text is prepared once, whatever the size of its values. */
function bound(sql: SQL | ReservedSQL, value: Bindable): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return withoutNul(value);
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return sql.array(
    value.items.map((item) => (typeof item === 'string' ? withoutNul(item) : item)),
    value.type,
  );
}

/** PostgreSQL refuses NUL in a text. Stored texts have none; a cursor or an id of a request may, and matches nothing. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** Turns the driver's `BigInt`s into numbers; times and counts of ours are far below 2^53. */
function withNumbers(row: Record<string, unknown>): void {
  for (const column in row) if (typeof row[column] === 'bigint') row[column] = Number(row[column]);
}
