/** Times by id for hundreds of thousands of entries, without work for the garbage collector. */
import { ask, KeyTable } from './key-table.ts';

/** Many small tables: a table that grows moves all its entries at once. */
const PARTS = 64;

/** A table without removal; it is discarded as a whole. */
export class TimesById {
  readonly #parts: (Part | undefined)[] = new Array<undefined>(PARTS).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param id ASCII, 32 letters at most. */
  get(id: string): number | undefined {
    const hash = ask(id);
    const part = this.#parts[hash & (PARTS - 1)];
    const entry = part?.keys.find(hash) ?? -1;
    return entry < 0 ? undefined : part?.times[entry];
  }

  set(id: string, time: number): void {
    const hash = ask(id);
    const { keys, times } = (this.#parts[hash & (PARTS - 1)] ??= { keys: new KeyTable(), times: [] });
    const known = keys.find(hash);
    if (known >= 0) {
      times[known] = time;
      return;
    }
    keys.add(hash, times.length);
    times.push(time);
    this.#size += 1;
  }

  /** Yields the ids in no particular order. */
  *ids(): Generator<string, undefined> {
    for (const part of this.#parts)
      for (let entry = 0; part && entry < part.times.length; entry += 1) yield part.keys.textOf(entry);
  }
}

interface Part {
  readonly keys: KeyTable;
  /** By number of the entry. */
  readonly times: number[];
}
