/**
 * Rows of one query as short texts: a JSON list of their values, without those that are null, and with a number for a
 * value that many rows share.
 */

/** Shared values, over all columns. */
const MOST_SHARED = 10_000;
/** Columns that are marked as present or null in one number. */
const COLUMNS_PER_MARK = 30;

type Value = string | number | boolean | null;
type Row = Record<string, Value>;

export class RowPacker {
  /** Names of the columns, which all rows have; those of the first row. */
  #names: readonly string[] = [];
  #empty: Readonly<Row> = {};
  /** By column. */
  #isShared: readonly boolean[] = [];
  #marks = 0;
  readonly #sharedColumns: readonly string[];
  readonly #shared: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** @param sharedColumns whose values are text or null. */
  constructor(sharedColumns: readonly string[]) {
    this.#sharedColumns = sharedColumns;
  }

  /** @param row of text, numbers and booleans. */
  pack(row: object): string {
    if (this.#names.length === 0) this.#learn(Object.keys(row));
    const packed: Value[] = new Array<Value>(this.#marks).fill(0);
    for (let at = 0; at < this.#names.length; at += 1) {
      const value = (row as Row)[this.#names[at] as string] as Value;
      if (value === null) continue;
      const mark = Math.floor(at / COLUMNS_PER_MARK);
      packed[mark] = (packed[mark] as number) | (1 << (at % COLUMNS_PER_MARK));
      packed.push(this.#isShared[at] ? this.#numberOf(value as string) : value);
    }
    return JSON.stringify(packed);
  }

  unpack(text: string): Row {
    const packed = JSON.parse(text) as Value[];
    const row = { ...this.#empty };
    let next = this.#marks;
    for (let at = 0; at < this.#names.length; at += 1) {
      const mark = packed[Math.floor(at / COLUMNS_PER_MARK)] as number;
      if ((mark & (1 << (at % COLUMNS_PER_MARK))) === 0) continue;
      const value = packed[next++] as Value;
      row[this.#names[at] as string] =
        this.#isShared[at] && typeof value === 'number' ? (this.#shared[value] as string) : value;
    }
    return row;
  }

  #learn(names: readonly string[]): void {
    this.#names = names;
    this.#empty = Object.fromEntries(names.map((name) => [name, null]));
    this.#isShared = names.map((name) => this.#sharedColumns.includes(name));
    this.#marks = Math.ceil(names.length / COLUMNS_PER_MARK);
  }

  /** Returns the text itself once too many are shared. */
  #numberOf(text: string): number | string {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#shared.length === MOST_SHARED) return text;
    this.#numbers.set(text, this.#shared.length);
    return this.#shared.push(text) - 1;
  }
}
