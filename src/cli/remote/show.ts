/** Prints results: JSON with `--json`, otherwise tables, records and sentences. */
import { isColoured } from '../colour.ts';
import { type Column, shortTime, table } from '../table.ts';
import { jsonText, printable, printableLines } from '../printable.ts';
import type { Terminal } from './terminal.ts';

export interface ListPage<Item> {
  readonly items: readonly Item[];
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

export interface Listing<Item> {
  readonly columns: readonly Column<Item>[];
  readonly page: (query: ListQuery) => Promise<ListPage<Item>>;
  readonly empty: string;
}

export type Fact = readonly [name: string, value: string | number | boolean | null | undefined];

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

  async say(words: string): Promise<void> {
    if (!this.isJson) await this.terminal.out(`${printableLines(words)}\n`);
  }

  async record(data: unknown, facts: readonly Fact[]): Promise<void> {
    if (this.isJson) return this.json(data);
    const width = Math.max(...facts.map(([name]) => name.length));
    const lines = facts.map(([name, value]) => `${this.bold(name.padEnd(width))}  ${shown(value)}\n`);
    await this.terminal.out(lines.join(''));
  }

  async table<Item>(columns: readonly Column<Item>[], items: readonly Item[]): Promise<void> {
    const { isTty, columns: room } = this.terminal;
    await this.terminal.out(table(columns, items, { columns: isTty ? room : null, bold: this.bold }));
  }

  /** Prints one page with its cursor, or all pages. As JSON a page is one document, all pages are one line per item. */
  async list<Item>({ columns, page, empty }: Listing<Item>, { limit, cursor, isAll }: Paging): Promise<void> {
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

function shown(value: Fact[1]): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return printable(String(value));
}
