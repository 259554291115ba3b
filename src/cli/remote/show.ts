/** Prints results: JSON with `--json`, otherwise tables, records and sentences. */
import { isColoured } from '../colour.ts';
import { type Column, shortTime, table } from '../table.ts';
import { type CommandFailure, commandFailureText } from '../failure.ts';
import { jsonText, printable, printableLines } from '../sanitize.ts';
import type { Terminal } from './terminal.ts';

export interface ListPage<Row> {
  readonly items: readonly Row[];
  readonly nextCursor: string | null;
}

export interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface Paging {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly isAll: boolean;
}

/** A field's name, or a function of the whole row. A field that ends in `At` holds a time. */
export type Value<Row> = (keyof Row & string) | ((row: Row, show: Show) => Cell);

type Cell = string | number | boolean | null | undefined | readonly string[];

/** Columns of a table by their titles. A cut column may be truncated when space is short. */
export type Columns<Row> = Readonly<Record<string, Value<Row> | { readonly cut: Value<Row> }>>;

/** Facts of a record by their names; a function that returns undefined leaves its fact out. */
export type Facts<Data> = Readonly<Record<string, Value<Data>>> | ((data: Data, show: Show) => readonly Fact[]);

type Fact = readonly [name: string, value: Cell];

export interface Listing<Row> {
  readonly columns: Columns<Row>;
  readonly page: (query: ListQuery) => Promise<ListPage<Row>>;
  readonly empty: string;
}

const LARGEST_PAGE = 200;

export class Show {
  private readonly bold: (text: string) => string;

  constructor(
    private readonly terminal: Terminal,
    readonly isJson: boolean,
  ) {
    this.bold = isColoured(terminal.isTty, terminal.env) ? (text) => `\u001b[1m${text}\u001b[0m` : (text) => text;
  }

  json(data: unknown): Promise<void> {
    return this.terminal.out(`${jsonText(data, 2)}\n`);
  }

  jsonLine(data: unknown): Promise<void> {
    return this.terminal.out(`${jsonText(data)}\n`);
  }

  /** Prints what was done: the API's data as JSON, otherwise words. */
  done(data: unknown, words: string): Promise<void> {
    return this.isJson ? this.json(data) : this.terminal.out(`${printableLines(words)}\n`);
  }

  /** Prints why the command failed to stderr: as JSON in one line, otherwise as words. */
  failure(failure: CommandFailure, words = failure.message): void {
    this.terminal.err(commandFailureText(failure, this.isJson, words));
  }

  async say(words: string): Promise<void> {
    if (!this.isJson) await this.terminal.out(`${printableLines(words)}\n`);
  }

  async record<Data>(data: Data, facts: Facts<Data>): Promise<void> {
    if (this.isJson) return this.json(data);
    const listed =
      typeof facts === 'function'
        ? facts(data, this)
        : Object.entries(facts).map(([name, value]): Fact => [name, this.cell(data, value)]);
    const rows = listed.filter(([, value]) => value !== undefined);
    const width = Math.max(...rows.map(([name]) => name.length));
    const lines = rows.map(([name, value]) => `${this.bold(name.padEnd(width))}  ${shown(value, ', ')}\n`);
    await this.terminal.out(lines.join(''));
  }

  private cell<Row>(row: Row, value: Value<Row>): Cell {
    if (typeof value === 'function') return value(row, this);
    const found = row[value] as Cell;
    return value.endsWith('At') && typeof found === 'string' ? this.time(found) : found;
  }

  private async table<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<void> {
    const { isTty, columns: width } = this.terminal;
    const cells = Object.entries(columns).map(([title, column]): Column<Row> => {
      const isCut = typeof column === 'object';
      return { title, isCut, of: (row) => shown(this.cell(row, isCut ? column.cut : column), ',') };
    });
    await this.terminal.out(table(cells, rows, { columns: isTty ? width : null, bold: this.bold }));
  }

  /** Prints one page with its cursor, or all pages. As JSON a page is one document, all pages are one line per item. */
  async list<Row>({ columns, page, empty }: Listing<Row>, { limit, cursor, isAll }: Paging): Promise<void> {
    let query: ListQuery = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
    if (isAll) query = { limit: LARGEST_PAGE, ...query };
    let count = 0;
    for (;;) {
      const { items, nextCursor } = await page(query);
      count += items.length;
      if (this.isJson && !isAll) return this.json({ items, nextCursor });
      if (this.isJson) for (const item of items) await this.jsonLine(item);
      else if (items.length > 0) await this.table(columns, items);
      if (nextCursor === null) break;
      if (!isAll) {
        this.terminal.err(`more: --cursor ${nextCursor}, or --all\n`);
        break;
      }
      query = { ...query, cursor: nextCursor };
    }
    if (count === 0 && !this.isJson) this.terminal.err(`${empty}\n`);
  }

  time(iso: string | null | undefined): string | null {
    return shortTime(iso, this.terminal.now());
  }
}

function shown(value: Cell, separator: string): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text =
    value === null || value === undefined ? '' : Array.isArray(value) ? value.join(separator) : String(value);
  return printable(text) || '-';
}
