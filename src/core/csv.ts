/**
 * CSV (RFC 4180) that spreadsheets do not execute: writing puts an apostrophe before anything that looks like a
 * formula, and reading removes it. Cells survive any number of round trips unchanged.
 */

export type CsvCell = string | number | boolean | null | undefined;

/** Marks a file as UTF-8 for spreadsheets. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Formulas begin at the start of a cell, or after another locale's separator: there a spreadsheet splits the cell, and
 * takes a doubled quote for an empty text. Apostrophes before a formula match too, so that they survive.
 */
const FORMULA = /^(?='*[=+\-@＝＋－＠\t\r\n])|(?<=[;|\t\r\n])(?=['"]*[=+\-@＝＋－＠])/g;
const GUARD = /^'(?='*[=+\-@＝＋－＠\t\r\n])|(?<=[;|\t\r\n])'(?=['"]*[=+\-@＝＋－＠])/g;

/** Separators accepted in files; the first is used for writing. */
const SEPARATORS = [',', ';', '\t', '|'];
const QUOTED = /[",;|\t\r\n]/;

/** Returns rows as CSV. Each row ends its line, so that parts can be concatenated. */
export function csvOf(rows: Iterable<readonly CsvCell[]>): string {
  let text = '';
  for (const row of rows) text += `${row.map(cellOf).join(',')}\r\n`;
  return text;
}

function cellOf(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  // A number cannot be a formula, even below zero.
  if (typeof cell !== 'string') return String(cell);
  const text = cell.replace(FORMULA, "'");
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A file whose quotes do not match. */
export class BrokenCsv extends Error {
  /** @param row of the file, from 1 on. */
  constructor(row: number) {
    super(`the quotes in line ${row} do not match`);
  }
}

/**
 * Reads the rows of {@link csvOf}; an empty line is a row of one empty cell. The separator is the most frequent one in
 * the first row. @param maxRows stops after this many rows; 0 reads all. @throws {BrokenCsv}
 */
export async function rowsOfCsv(text: string, maxRows = 0): Promise<string[][]> {
  // Imported lazily, so that the console loads it only for an import.
  const { default: Papa } = await import('papaparse');
  const content = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  const { data, errors } = Papa.parse<string[]>(content, { delimiter: separatorOf(content), preview: maxRows });
  const broken = errors.find(({ type }) => type === 'Quotes');
  if (broken) throw new BrokenCsv((broken.row ?? 0) + 1);
  const isEnded = /[\r\n]$/.test(content) && data.at(-1)?.join('') === '';
  return (isEnded ? data.slice(0, -1) : data).map((cells) => cells.map((cell) => cell.replace(GUARD, '')));
}

function separatorOf(text: string): string {
  const head = /^(?:[^"\r\n]|"(?:[^"]|"")*")*/.exec(text)?.[0].replace(/"(?:[^"]|"")*"/g, '') ?? '';
  const amounts = SEPARATORS.map((separator) => head.split(separator).length);
  return SEPARATORS[amounts.indexOf(Math.max(...amounts))] ?? ',';
}
