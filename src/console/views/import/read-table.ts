/** Reads CSV or JSON files of any common encoding, separator or nesting into a table of texts. */
import { BrokenCsv, rowsOfCsv } from '../../../core/csv.ts';
import { count } from '../../components/format.ts';

export const MAX_MEBIBYTES = 20;
const MAX_BYTES = MAX_MEBIBYTES * 1024 * 1024;
export const MAX_ROWS = 100_000;
/** Each column is shown with a select field. */
const MAX_COLUMNS = 200;

interface TableRow {
  /** Spreadsheet row, or position in a JSON list starting at 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Table {
  readonly fileName: string;
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  /** Assumption made about the file, such as its encoding. */
  readonly note: string | null;
}

/** Error with a sentence for the person who chose the file. */
export class UnreadableFile extends Error {}

/** @throws {UnreadableFile} */
export async function readTable(file: File): Promise<Table> {
  if (file.size > MAX_BYTES) throw new UnreadableFile(`The file is larger than ${MAX_MEBIBYTES} MiB. Split it in two.`);
  const { text, note } = decode(new Uint8Array(await file.arrayBuffer()));
  const isJson = /\.json$/i.test(file.name) || /^\s*[[{]/.test(text.slice(0, 100));
  const { columns, rows } = isJson ? readJson(text) : await readCsv(text);
  if (rows.length === 0) throw new UnreadableFile('There is no row in this file.');
  if (columns.length > MAX_COLUMNS)
    throw new UnreadableFile(`The file has more than ${MAX_COLUMNS} columns. Remove the ones you do not need.`);
  if (rows.length > MAX_ROWS)
    throw new UnreadableFile(
      `The file has more than ${count(MAX_ROWS)} rows. Split it; parts can be imported one after the other.`,
    );
  return { fileName: file.name, columns, rows, note };
}

/** Decodes UTF-8, UTF-16 or the older Windows encoding, the formats that spreadsheets save. */
function decode(bytes: Uint8Array): { text: string; note: string | null } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: new TextDecoder('utf-16le').decode(bytes), note: null };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), note: null };
  } catch {
    const note = 'The file is not in UTF-8; it was read as Windows-1252. Check that letters with accents are right.';
    return { text: new TextDecoder('windows-1252').decode(bytes), note };
  }
}

type Read = Pick<Table, 'columns' | 'rows'>;

async function readCsv(text: string): Promise<Read> {
  const data = await recordsIn(text);
  const head = data[0] ?? [];
  // An address in the first row means that there is no header.
  const hasHead = !head.some((cell) => cell.includes('@'));
  const width = data.reduce((most, { length }) => Math.max(most, length), 0);
  const columns = Array.from(
    { length: width },
    (_, index) => (hasHead && head[index]?.trim()) || `Column ${index + 1}`,
  );
  const rows: TableRow[] = [];
  data.forEach((cells, index) => {
    if ((index === 0 && hasHead) || cells.every((cell) => cell.trim() === '')) return;
    rows.push({ line: index + 1, cells: cells.map((cell) => cell.trim()) });
  });
  return { columns, rows };
}

async function recordsIn(text: string): Promise<string[][]> {
  try {
    // One extra row for the header, and one to detect that there are too many.
    return await rowsOfCsv(text, MAX_ROWS + 2);
  } catch (error) {
    if (!(error instanceof BrokenCsv)) throw error;
    throw new UnreadableFile(`The file cannot be read: ${error.message}.`);
  }
}

function readJson(text: string): Read {
  const entries = entriesOf(parsed(text));
  const columns: string[] = [];
  const indexes = new Map<string, number>();
  const rows = entries.map((entry, index): TableRow => {
    const cells: string[] = [];
    for (const [name, value] of flatten(entry)) {
      let column = indexes.get(name);
      if (column === undefined) {
        indexes.set(name, (column = columns.length));
        columns.push(name);
      }
      cells[column] = value;
    }
    return { line: index + 1, cells };
  });
  return { columns, rows };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableFile('The file begins like JSON, but is not. A list of objects is expected.');
  }
}

/** Accepts a list, or an object that contains one list, such as an API response. */
function entriesOf(value: unknown): object[] {
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value).find(Array.isArray) : undefined;
  if (!list || !list.every(isObject))
    throw new UnreadableFile('A list of objects is expected, such as [{ "email": "ada@example.com" }].');
  return list;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* flatten(entry: object): Generator<[name: string, value: string]> {
  for (const [name, value] of Object.entries(entry)) {
    if (isObject(value)) yield* flatten(value);
    else if (Array.isArray(value)) yield [name, value.map(itemText).filter(Boolean).join(';')];
    else yield [name, value === null || value === undefined ? '' : String(value).trim()];
  }
}

function itemText(item: unknown): string {
  if (!isObject(item)) return String(item ?? '');
  const { code, level, slug, name } = item as Partial<Record<string, unknown>>;
  if (typeof code === 'string') return typeof level === 'string' ? `${code}:${level}` : code;
  return String(slug ?? name ?? '');
}
