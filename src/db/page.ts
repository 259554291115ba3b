/** Keyset paging: opaque cursors that neither skip nor repeat rows while rows are being added. */
import { AppError } from '../core/error.ts';

/** Part of a list. `nextCursor` asks for the next part; null at the end. */
export interface Page<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}

/** Far more than any cursor of ours has; longer ones are not decoded. */
const MAX_CURSOR_LENGTH = 500;

/** Encodes the sort key of the last row seen, as base64url JSON. */
export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** @param shape types of the key, in order. @throws {AppError} invalid_cursor */
export function decodeCursor<const Shape extends readonly ('string' | 'number')[]>(
  cursor: string,
  shape: Shape,
): { [Index in keyof Shape]: Shape[Index] extends 'number' ? number : string } {
  if (cursor.length > MAX_CURSOR_LENGTH) throw new AppError('invalid_cursor');
  let key: unknown;
  try {
    key = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (cause) {
    throw new AppError('invalid_cursor', { cause });
  }
  const fits =
    Array.isArray(key) && key.length === shape.length && key.every((part, index) => typeof part === shape[index]);
  // `Buffer` skips invalid characters, so the cursor must equal its key's own encoding.
  if (!fits || encodeCursor(key as (string | number)[]) !== cursor) throw new AppError('invalid_cursor');
  return key as never;
}

/** Cuts a list that was read with one extra row into a page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  key: (row: Row) => readonly (string | number)[],
  present: (row: Row) => Item,
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(present), nextCursor: rows.length > limit && last ? encodeCursor(key(last)) : null };
}
