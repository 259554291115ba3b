/**
 * Rows of one query with what was made of them, in little memory. Each row is kept as text, in some 350 bytes; of one in
 * three, those used most, the result as well, in 1 KB. Making a result from the text takes half as long as from the
 * file.
 */
import { doorkeeper } from '../core/doorkeeper.ts';
import { ask, KeyTable } from '../core/key-table.ts';
import { SecondChance } from '../core/second-chance.ts';
import type { CachedQuery, Ids } from './lookup-queries.ts';
import { RowPacker } from './packed-row.ts';

/** Rows for each kept result. */
const ROWS_PER_RESULT = 3;

/** Marks of the parts of an entry that were used lately. */
const ROW = 1;
const RESULT = 2;

type Columns = Readonly<Record<string, unknown>>;

interface MadeOfRow {
  /** Its values are text, numbers and booleans. */
  readonly row: object;
  readonly result: unknown;
  /** Called only if the result is kept. */
  readonly idsOf: () => Ids;
  /** The change count at which the row was read. */
  readonly asOf: number;
}

/**
 * Entries are numbered: a number is valid until the next `keep`. Their parts are in lists by that number: a lookup would
 * find an object for each outside the processor's caches.
 */
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
  /** Kept results, by entry; undefined where none is kept. */
  readonly #results: unknown[] = [];
  /** Ids of the rows that results were made of, and their places among the kept ones, by entry. */
  readonly #ids: Ids[] = [];
  readonly #placesOfResults: number[] = [];
  readonly #resultPlaces: SecondChance;
  /** Entries by the place of their result; -1 for a free place. */
  readonly #resultEntries: number[] = [];
  /** Marks by entry. A byte each, as one is written at every use. */
  readonly #used: Uint8Array;
  /** The change count for which an entry is known to be valid. */
  readonly asOf: number[] = [];
  /** The result last made, if it is not kept: it may yet be updated. */
  #made: { readonly entry: number; readonly result: unknown } | null = null;

  constructor({ noted, dependents = [] }: CachedQuery<never>, mostRows: number) {
    this.#used = new Uint8Array(mostRows);
    this.#places = new SecondChance(mostRows, (entry) => this.#wasUsed(entry, ROW));
    const mostResults = Math.ceil(mostRows / ROWS_PER_RESULT);
    this.#resultPlaces = new SecondChance(mostResults, (place) =>
      this.#wasUsed(this.#resultEntries[place] ?? -1, RESULT),
    );
    this.#noted = noted ?? null;
    this.#packer = new RowPacker(dependents.map(({ ids }) => ids));
  }

  /** Returns the entry of a key; -1 for none. */
  find(key: string | Uint8Array): number {
    this.#forgetMade();
    return this.#keys.find(ask(key));
  }

  /** Returns undefined if the result is not kept. */
  resultOf(entry: number): unknown {
    return this.#results[entry];
  }

  /** Returns the ids of the rows that a kept result was made of. */
  idsOf(entry: number): Ids {
    return this.#ids[entry] as Ids;
  }

  useRow(entry: number): void {
    this.#used[entry] = (this.#used[entry] as number) | ROW;
  }

  useResult(entry: number): void {
    this.#used[entry] = ROW | RESULT;
  }

  /** @param entry -1 for none. */
  #wasUsed(entry: number, what: number): boolean {
    const used = this.#used[entry] ?? 0;
    if ((used & what) === 0) return false;
    this.#used[entry] = used & ~what;
    return true;
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
    this.#results[entry] = result;
    this.#ids[entry] = idsOf();
    this.#placesOfResults[entry] = place;
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
    if (this.#results[entry] === undefined) return this.keepResult(entry, result, idsOf);
    this.#results[entry] = result;
    this.#ids[entry] = idsOf();
  }

  #newEntry(hash: number): number | null {
    const entry = this.#places.next();
    if (entry === null) return null;
    if (entry < this.#packed.length) {
      this.#keys.remove(entry);
      this.#dropResult(entry);
    } else {
      this.#results.push(undefined);
      this.#ids.push(null);
      this.#placesOfResults.push(0);
    }
    this.#keys.add(hash, entry);
    return entry;
  }

  /** @param entry -1 for none. */
  #dropResult(entry: number): void {
    const kept = this.#results[entry];
    if (kept === undefined) return;
    this.#carryOver(entry, kept);
    this.#results[entry] = undefined;
    this.#ids[entry] = null;
    this.#used[entry] = (this.#used[entry] as number) & ROW;
    this.#resultEntries[this.#placesOfResults[entry] as number] = -1;
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
