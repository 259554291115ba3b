/**
 * Times by id for hundreds of thousands of entries, in plain bytes: the collector has nothing to read in them. All of a `Map` that
 * has been changed is gone through each time something new is collected, for 5 ms of 200,000 entries.
 */

/** Many small tables, since one that grows moves all that it has at once. */
const PARTS = 64;
const FIRST_ENTRIES = 16;
/** As long as an id may be; those that are shorter are filled up with zeros. */
const ID_BYTES = 32;
const ID_WORDS = ID_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** Nothing is taken out of it: it is thrown away as a whole. */
export class TimesById {
  /** Each made when it is first needed. */
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

  /** In no order. */
  *ids(): Generator<string, undefined> {
    for (const part of this.#parts) if (part) yield* part.ids();
  }
}

/** The id that is asked for. */
const asked = new Uint32Array(ID_WORDS);
const askedBytes = Buffer.from(asked.buffer);

/** Puts an id where it is compared with. @returns its hash. */
function ask(id: string): number {
  if (id.length > ID_BYTES) throw new RangeError(`an id of more than ${ID_BYTES} letters: ${id}`);
  asked.fill(0);
  askedBytes.write(id, 'latin1');
  return hashAt(asked, 0);
}

/** Ids have nothing of an attacker's in them: a multiplication spreads them (Knuth, The Art of Computer Programming 3, §6.4). */
function hashAt(words: Uint32Array, from: number): number {
  let hash = 0;
  for (let at = from; at < from + ID_WORDS; at += 1) hash = Math.imul(hash ^ (words[at] as number), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Open addressing with linear probing, half full at most. */
class Part {
  #count = 0;
  #ids = new Uint32Array(FIRST_ENTRIES * ID_WORDS);
  #times = new Float64Array(FIRST_ENTRIES);
  /** Numbers of entries, from 1 on; 0 is an empty place. */
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

  /** Of the id that is asked for, or the empty one where it belongs. */
  #placeOf(hash: number): number {
    let place = this.#firstPlaceOf(hash);
    while (this.#places[place] !== 0 && !this.#isAsked((this.#places[place] as number) - 1)) place = this.#after(place);
    return place;
  }

  #firstPlaceOf(hash: number): number {
    // The lowest bits are those of the part.
    return Math.floor(hash / PARTS) & (this.#places.length - 1);
  }

  #after(place: number): number {
    return (place + 1) & (this.#places.length - 1);
  }

  /** From the end, where ids differ. */
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
