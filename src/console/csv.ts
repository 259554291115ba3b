/** Tables as CSV (RFC 4180), which no spreadsheet carries out: what begins like a formula gets an apostrophe before it. */

export type Cell = string | number | boolean | null | undefined;

/**
 * Where spreadsheets see a formula begin: at the beginning of a cell, and behind what those of other countries split at. They
 * open the same file by their own separator, and in the middle of a line quotes mean nothing to them.
 */
const FORMULA = /^(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t\r\n])(?=[=+\-@＝＋－＠])/g;
const GUARD = /^'(?=[=+\-@＝＋－＠\t\r\n])|(?<=[;\t\r\n])'(?=[=+\-@＝＋－＠])/g;
const QUOTED = /[",;\t\r\n]/;
/** Without it spreadsheets take UTF-8 for the encoding of their system. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** Each row ends its line, so that what is made in parts can be put together. */
export function csvOf(rows: Iterable<readonly Cell[]>): string {
  let text = '';
  for (const row of rows) text += `${row.map(cellOf).join(',')}\r\n`;
  return text;
}

function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  // A number cannot be a formula, even below zero.
  if (typeof cell !== 'string') return String(cell);
  const text = cell.replace(FORMULA, "'");
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell as it was before {@link csvOf} wrote it. */
export function unguarded(cell: string): string {
  return cell.replace(GUARD, '');
}

/** Has the browser save a file. */
export function saveFile(name: string, type: string, parts: BlobPart[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveCsv(name: string, rows: Iterable<readonly Cell[]>): void {
  saveFile(name, 'text/csv;charset=utf-8', [BYTE_ORDER_MARK, csvOf(rows)]);
}
