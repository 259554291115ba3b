/** Tables, rows and sides of a move. Cells are text, so that both engines give the same. */
import type { InstanceKey } from '../../core/instance-key.ts';

/** Integers are decimal digits, bytes are upper-case hex; null is NULL. */
export type MovedCell = string | null;
export type MovedRow = readonly MovedCell[];

export type ColumnType = 'text' | 'integer' | 'bytes';

export interface MovedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface MovedTable {
  readonly name: string;
  /** Without generated columns, in order of their names, so that the order of a migration does not matter. */
  readonly columns: readonly MovedColumn[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly MovedColumn[];
}

/** Values of the primary key. */
export type Key = readonly string[];

/** Rows of a table after one key, up to and with another; null is open. */
export interface KeyRange {
  readonly after: Key | null;
  readonly last: Key | null;
}

export interface RangeDigest {
  readonly rows: number;
  /** SHA-256 of the canonical text of the rows in key order, in lower-case hex. */
  readonly sha256: string;
}

export interface TableSize {
  readonly rows: number;
  readonly largestRowBytes: number;
}

/** Reads the rows of one side. Ranges are read in the order of the primary key. */
export interface RowReader {
  size(table: MovedTable): Promise<TableSize>;
  /** Returns the key of the row that is `count` rows after a key; null where fewer are left. */
  keyAhead(table: MovedTable, after: Key | null, count: number): Promise<Key | null>;
  digest(table: MovedTable, range: KeyRange): Promise<RangeDigest>;
  read(table: MovedTable, range: KeyRange): Promise<MovedRow[]>;
}

export interface MovedSchema {
  readonly version: number;
  readonly tables: readonly MovedTable[];
}

export interface MoveSource {
  readonly schema: MovedSchema;
  /** Its mark identifies the instance. */
  readonly key: InstanceKey;
  readonly keyBytes: Uint8Array;
  /** Whether a server may still change it; false after `freeze`. */
  readonly isLive: boolean;
  /** Runs reads that see one moment. */
  snapshot<Result>(work: (rows: RowReader) => Promise<Result>): Promise<Result>;
  /** Waits until nothing can change the source any more, until `close`. @param onWait called once if it must wait. */
  freeze(onWait: () => void): Promise<void>;
  /** Marks the source as moved, for good. Call it after `freeze`, once the copy is verified. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface MoveTarget extends RowReader {
  readonly schema: MovedSchema;
  /** Inserts rows. */
  insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void>;
  remove(table: MovedTable, keys: readonly Key[]): Promise<void>;
  /** Creates the indexes and unique constraints that were left out for the copying; does nothing the second time. */
  createIndexes(): Promise<void>;
  /** Creates or checks foreign keys, and lets new rows be numbered after the copied ones. */
  complete(): Promise<void>;
  /** Makes the target an instance that can be served: the last step. */
  activate(): Promise<void>;
  close(): Promise<void>;
}

/** Returns a row's key. */
export function keyOf({ columns, key }: MovedTable, row: MovedRow): Key {
  return key.map((column) => row[columns.indexOf(column)] ?? '');
}
