/**
 * Rows of one query with what was made of them, in little memory. Each row is kept as text, in some 350 bytes; of one in
 * three, those used most, the result as well, in 1.2 KB. Making a result from the text takes half as long as from the
 * file.
 */
import { doorkeeper } from '../core/doorkeeper.ts';
import { ask, KeyTable } from '../core/key-table.ts';
import { SecondChance } from '../core/second-chance.ts';
import type { CachedQuery, Ids } from './lookup-queries.ts';
import { RowPacker } from './packed-row.ts';

/** Rows for each kept result. */
const ROWS_PER_RESULT = 3;

type Columns = Readonly<Record<string, unknown>>;

interface KeptResult {
  readonly result: unknown;
  /** Ids of the rows that it was made of. */
  readonly ids: Ids;
  /** Its place among the kept results. */
  readonly place: number;
}

interface MadeOfRow {
  /** Its values are text, numbers and booleans. */
  readonly row: object;
  readonly result: unknown;
  /** Called only if the result is kept. */
  readonly idsOf: () => Ids;
  /** The change count at which the row was read. */
  readonly asOf: number;
}

/** Entries are numbered: a number is valid until the next `keep`. */
export class CachedRows {
  readonly #isRequestedAgain = doorkeeper();
  readonly #keys = new KeyTable();
  readonly #noted: string | null;
  readonly #packer: RowPacker;
  readonly #places: SecondChance;
  /** Packed rows, by entry. */
  readonly #packed: string[] = [];
  /** The column that results update, by entry. */
  readonly #times: unknown[] = [];
  /** Kept results, by entry. */
  readonly #results: (KeptResult | null)[] = [];
  readonly #resultPlaces: SecondChance;
  /** Entries by the place of their result; -1 for a free place. */
  readonly #resultEntries: number[] = [];
  /** The change count for which an entry is known to be valid. */
  readonly asOf: number[] = [];
  /** The result last made, if it is not kept: it may yet be updated. */
  #made: { readonly entry: number; readonly result: unknown } | null = null;

  constructor({ noted, dependents = [] }: CachedQuery<never>, mostRows: number) {
    this.#places = new SecondChance(mostRows);
    this.#resultPlaces = new SecondChance(Math.ceil(mostRows / ROWS_PER_RESULT));
    this.#noted = noted ?? null;
    this.#packer = new RowPacker(dependents.map(({ ids }) => ids));
  }

  /** Returns the entry of a key; -1 for none. */
  find(key: string | Uint8Array): number {
    this.#forgetMade();
    return this.#keys.find(ask(key));
  }

  /** Returns null if the result is not kept. */
  resultOf(entry: number): KeptResult | null {
    return this.#results[entry] as KeptResult | null;
  }

  use(entry: number): void {
    this.#places.use(entry);
    const place = this.#results[entry]?.place;
    if (place !== undefined) this.#resultPlaces.use(place);
  }

  rowOf(entry: number): object {
    const row: Record<string, unknown> = this.#packer.unpack(this.#packed[entry] as string);
    if (this.#noted !== null) row[this.#noted] = this.#times[entry];
    return row;
  }

  /** Keeps what was made of the row of an entry, if it has no result and one of the places is not in use. */
  keepResult(entry: number, result: unknown, idsOf: () => Ids): void {
    const place = this.#resultPlaces.next();
    if (place === null) {
      this.#made = { entry, result };
      return;
    }
    this.#dropResult(this.#resultEntries[place] ?? -1);
    this.#resultEntries[place] = entry;
    this.#results[entry] = { result, ids: idsOf(), place };
  }

  /** Keeps a row under its key, from the key's second request on, and what was made of it. */
  keep(key: string | Uint8Array, { row, result, idsOf, asOf }: MadeOfRow): void {
    this.#forgetMade();
    const hash = ask(key);
    if (!this.#isRequestedAgain(hash)) return;
    const known = this.#keys.find(hash);
    const entry = known >= 0 ? known : this.#newEntry(hash);
    if (entry === null) return;
    this.#packed[entry] = this.#packer.pack(row);
    this.#carryOver(entry, row);
    this.asOf[entry] = asOf;
    const replaced = this.#results[entry] ?? null;
    if (replaced === null) this.keepResult(entry, result, idsOf);
    else this.#results[entry] = { result, ids: idsOf(), place: replaced.place };
  }

  #newEntry(hash: number): number | null {
    const entry = this.#places.next();
    if (entry === null) return null;
    if (entry < this.#packed.length) {
      this.#keys.remove(entry);
      this.#dropResult(entry);
    } else this.#results.push(null);
    this.#keys.add(hash, entry);
    return entry;
  }

  /** @param entry -1 for none. */
  #dropResult(entry: number): void {
    const kept = this.#results[entry] ?? null;
    if (kept === null) return;
    this.#carryOver(entry, kept.result);
    this.#results[entry] = null;
    this.#resultEntries[kept.place] = -1;
  }

  #forgetMade(): void {
    if (this.#made === null) return;
    this.#carryOver(this.#made.entry, this.#made.result);
    this.#made = null;
  }

  /** Carries over what a row or its result has noted to the results made of the row later. */
  #carryOver(entry: number, from: unknown): void {
    if (this.#noted !== null) this.#times[entry] = (from as Columns)[this.#noted];
  }
}
