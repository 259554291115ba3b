/**
 * Times by id for hundreds of thousands of entries, in typed arrays, which the garbage collector does not scan. A
 * young-generation GC scans a modified `Map` whole: 5 ms for 200,000 entries.
 */

/** Many small tables: a table that grows moves all its entries at once. */
const PARTS = 64;
const FIRST_ENTRIES = 16;
/** Longest id; shorter ones are padded with zeros. */
const ID_BYTES = 32;
const ID_WORDS = ID_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** A hash table without removal; it is discarded as a whole. */
export class TimesById {
  readonly #parts: (Part | undefined)[] = new Array<undefined>(PARTS).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param id ASCII, 32 letters at most. */
  get(id: string): number | undefined {
    const hash = ask(id);
    return this.#parts[hash & (PARTS - 1)]?.get(hash);
  }

  set(id: string, time: number): void {
    const hash = ask(id);
    if ((this.#parts[hash & (PARTS - 1)] ??= new Part()).set(hash, time)) this.#size += 1;
  }

  /** Yields the ids in no particular order. */
  *ids(): Generator<string, undefined> {
    for (const part of this.#parts) if (part) yield* part.ids();
  }
}

/** The id of the current lookup. */
const asked = new Uint32Array(ID_WORDS);
const askedBytes = Buffer.from(asked.buffer);

/** Copies an id to the buffer of the current lookup. @returns its hash. */
function ask(id: string): number {
  if (id.length > ID_BYTES) throw new RangeError(`an id of more than ${ID_BYTES} letters: ${id}`);
  asked.fill(0);
  askedBytes.write(id, 'latin1');
  return hashAt(asked, 0);
}

/** Ids contain nothing an attacker chose: a multiplication spreads them (Knuth, TAOCP 3, §6.4). */
function hashAt(words: Uint32Array, from: number): number {
  let hash = 0;
  for (let at = from; at < from + ID_WORDS; at += 1) hash = Math.imul(hash ^ (words[at] as number), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** A hash table with open addressing and linear probing, half full at most. */
class Part {
  #count = 0;
  #ids = new Uint32Array(FIRST_ENTRIES * ID_WORDS);
  #times = new Float64Array(FIRST_ENTRIES);
  /** Entry numbers, from 1 on; 0 is an empty slot. */
  #places = new Uint32Array(FIRST_ENTRIES * 2);

  get(hash: number): number | undefined {
    const entry = this.#places[this.#placeOf(hash)] as number;
    return entry === 0 ? undefined : this.#times[entry - 1];
  }

  /** @returns whether the id is new. */
  set(hash: number, time: number): boolean {
    let place = this.#placeOf(hash);
    const known = this.#places[place] as number;
    if (known !== 0) {
      this.#times[known - 1] = time;
      return false;
    }
    if (this.#count === this.#times.length) {
      this.#grow();
      place = this.#placeOf(hash);
    }
    this.#ids.set(asked, this.#count * ID_WORDS);
    this.#times[this.#count] = time;
    this.#count += 1;
    this.#places[place] = this.#count;
    return true;
  }

  *ids(): Generator<string, undefined> {
    const bytes = Buffer.from(this.#ids.buffer);
    for (let from = 0; from < this.#count * ID_BYTES; from += ID_BYTES)
      yield bytes.toString('latin1', from, from + ID_BYTES).replace(/\0+$/, '');
  }

  /** Returns the slot of the current id, or the empty slot where it belongs. */
  #placeOf(hash: number): number {
    let place = this.#firstPlaceOf(hash);
    while (this.#places[place] !== 0 && !this.#isAsked((this.#places[place] as number) - 1)) place = this.#after(place);
    return place;
  }

  #firstPlaceOf(hash: number): number {
    // The lowest bits have selected the part.
    return Math.floor(hash / PARTS) & (this.#places.length - 1);
  }

  #after(place: number): number {
    return (place + 1) & (this.#places.length - 1);
  }

  /** Compares from the end, where ids differ. */
  #isAsked(entry: number): boolean {
    let at = ID_WORDS - 1;
    while (at >= 0 && this.#ids[entry * ID_WORDS + at] === asked[at]) at -= 1;
    return at < 0;
  }

  #grow(): void {
    const entries = this.#times.length * 2;
    const [ids, times] = [this.#ids, this.#times];
    this.#ids = new Uint32Array(entries * ID_WORDS);
    this.#ids.set(ids);
    this.#times = new Float64Array(entries);
    this.#times.set(times);
    this.#places = new Uint32Array(entries * 2);
    for (let entry = 0; entry < this.#count; entry += 1) {
      let place = this.#firstPlaceOf(hashAt(ids, entry * ID_WORDS));
      while (this.#places[place] !== 0) place = this.#after(place);
      this.#places[place] = entry + 1;
    }
  }
}
