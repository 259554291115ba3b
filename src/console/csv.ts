/** Tables as CSV (RFC 4180), which no spreadsheet carries out: a cell that begins like a formula gets an apostrophe before it. */

export type Cell = string | number | boolean | null | undefined;

/** What spreadsheets take for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const GUARDED = /^'(?=[=+\-@\t\r])/;
/** Also what other spreadsheets split at: a formula would begin behind it. */
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
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell as it was before {@link csvOf} wrote it. */
export function unguarded(cell: string): string {
  return cell.replace(GUARDED, '');
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
