/**
 * Memory of one limit's counters that several threads share. Evicts as `rate-limit-table.ts` does: the least used
 * first, then the oldest, and exhausted counters last. The caller holds the lock.
 */

/** Part of the memory of all limits. */
export interface CounterPart {
  /** Number of counters, from which on some are evicted for others. */
  readonly most: number;
  readonly memory: SharedArrayBuffer;
  /** In bytes, a multiple of 8. */
  readonly offset: number;
  /** Taken by the first thread; keeps clients from choosing subjects of one chain. */
  readonly seed: number;
}

/** Bytes of the longest subject: an id has 30, an address prefix at most 24. */
const SUBJECT_BYTES = 32;
/** Levels by the power of two in the count. */
const SPENT = 31;
const LEVELS = SPENT + 1;
/** Counters evicted at a time, in a tenth of a millisecond. */
const ROOM = 250;
export const NO_SLOT = 0;

/** Words of the header; the lock is the first. */
const LOCK_WORDS = 1;
const USED = 1;
const FREE_LIST = 2;
const SEED = 3;
const HEADER_WORDS = 8;

/** Words of each counter, numbered from 1. */
const FIELDS = 6;
const [HASH, COUNT, BEFORE, BEHIND, NEXT, INFO] = [0, 1, 2, 3, 4, 5] as const;

/** Parts of `INFO`: the level, the length of the subject from bit 8 on, and whether the count is yet to be stored. */
const LEVEL_MASK = 0xff;
const LENGTH_SHIFT = 8;
const LENGTH_MASK = 0xff00;
const IS_CHANGED = 0x10000;

const WINDOW_BYTES = 8;

/** A chain for two counters. */
const chainCount = (most: number): number => 2 ** Math.ceil(Math.log2(most / 2 + 1));
const wordCount = (most: number): number => HEADER_WORDS + 2 * LEVELS + chainCount(most) + (most + 1) * FIELDS;

/** Returns the bytes of a limit's memory. The system provides only what is touched. */
export function counterBytes(most: number): number {
  const bytes = WINDOW_BYTES + wordCount(most) * 4 + (most + 1) * SUBJECT_BYTES;
  return Math.ceil(bytes / 8) * 8;
}

export type CounterMemory = ReturnType<typeof counterMemory>;

export function counterMemory({ memory, offset, seed, most }: CounterPart) {
  const window = new Float64Array(memory, offset, 1);
  const words = new Int32Array(memory, offset + WINDOW_BYTES, wordCount(most));
  const texts = new Uint8Array(memory, offset + WINDOW_BYTES + wordCount(most) * 4, (most + 1) * SUBJECT_BYTES);
  const decoder = new TextDecoder();
  const [firsts, lasts, chains] = [HEADER_WORDS, HEADER_WORDS + LEVELS, HEADER_WORDS + 2 * LEVELS];
  const slots = chains + chainCount(most);
  const chainMask = chainCount(most) - 1;
  Atomics.compareExchange(words, SEED, 0, seed | 1);
  const start = words[SEED] as number;

  const get = (slot: number, field: number): number => words[slots + slot * FIELDS + field] as number;
  const set = (slot: number, field: number, value: number): void => {
    words[slots + slot * FIELDS + field] = value;
  };
  const levelAt = (slot: number): number => get(slot, INFO) & LEVEL_MASK;
  const lengthAt = (slot: number): number => (get(slot, INFO) & LENGTH_MASK) >> LENGTH_SHIFT;
  const setLevel = (slot: number, level: number): void => set(slot, INFO, (get(slot, INFO) & ~LEVEL_MASK) | level);
  const setChanged = (slot: number, isChanged: boolean): void =>
    set(slot, INFO, (get(slot, INFO) & ~IS_CHANGED) | (isChanged ? IS_CHANGED : 0));
  const at = (index: number): number => words[index] as number;

  function hashOf(subject: string): number {
    let hash = start;
    for (let index = 0; index < subject.length; index += 1)
      hash = Math.imul(hash ^ subject.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 15;
    return Math.imul(hash, 0x2c1b3c6d) ^ (hash >>> 12);
  }

  const chainOf = (hash: number): number => chains + (hash & chainMask);

  function isOf(slot: number, hash: number, subject: string): boolean {
    if (get(slot, HASH) !== hash || lengthAt(slot) !== subject.length) return false;
    const from = slot * SUBJECT_BYTES;
    for (let index = 0; index < subject.length; index += 1)
      if (texts[from + index] !== subject.charCodeAt(index)) return false;
    return true;
  }

  function find(subject: string, hash: number): number {
    let slot = at(chainOf(hash));
    while (slot !== NO_SLOT && !isOf(slot, hash, subject)) slot = get(slot, NEXT);
    return slot;
  }

  function leaveLevel(slot: number): void {
    const [before, behind, level] = [get(slot, BEFORE), get(slot, BEHIND), levelAt(slot)];
    if (before === NO_SLOT) words[firsts + level] = behind;
    else set(before, BEHIND, behind);
    if (behind === NO_SLOT) words[lasts + level] = before;
    else set(behind, BEFORE, before);
  }

  function enterLevel(slot: number, level: number): void {
    const last = at(lasts + level);
    setLevel(slot, level);
    set(slot, BEFORE, last);
    set(slot, BEHIND, NO_SLOT);
    if (last === NO_SLOT) words[firsts + level] = slot;
    else set(last, BEHIND, slot);
    words[lasts + level] = slot;
  }

  function settle(slot: number, limit: number): void {
    const count = get(slot, COUNT);
    const level = count < limit ? levelOf(count) : SPENT;
    if (level === levelAt(slot)) return;
    leaveLevel(slot);
    enterLevel(slot, level);
  }

  function enterChain(slot: number): void {
    const chain = chainOf(get(slot, HASH));
    set(slot, NEXT, at(chain));
    words[chain] = slot;
  }

  function leaveChain(slot: number): void {
    const chain = chainOf(get(slot, HASH));
    const next = get(slot, NEXT);
    if (at(chain) === slot) {
      words[chain] = next;
      return;
    }
    let before = at(chain);
    while (get(before, NEXT) !== slot) before = get(before, NEXT);
    set(before, NEXT, next);
  }

  /** A counter with no length is free, and its `NEXT` the next free one. */
  function free(slot: number): void {
    set(slot, INFO, 0);
    set(slot, NEXT, at(FREE_LIST));
    words[FREE_LIST] = slot;
  }

  function makeRoom(): void {
    let level = 0;
    while (level < SPENT && at(firsts + level) === NO_SLOT) level += 1;
    for (let left = ROOM; left > 0 && at(firsts + level) !== NO_SLOT; left -= 1) {
      const slot = at(firsts + level);
      leaveLevel(slot);
      leaveChain(slot);
      free(slot);
    }
  }

  function takeSlot(): number {
    if (at(FREE_LIST) === NO_SLOT && at(USED) >= most) makeRoom();
    const freed = at(FREE_LIST);
    if (freed === NO_SLOT) return (words[USED] = at(USED) + 1);
    words[FREE_LIST] = get(freed, NEXT);
    return freed;
  }

  function add(subject: string, hash: number, count: number): number {
    if (subject.length === 0 || subject.length > SUBJECT_BYTES) throw new Error('a limit counts ids and addresses');
    const slot = takeSlot();
    for (let index = 0; index < subject.length; index += 1)
      texts[slot * SUBJECT_BYTES + index] = subject.charCodeAt(index);
    set(slot, HASH, hash);
    set(slot, COUNT, count);
    set(slot, INFO, subject.length << LENGTH_SHIFT);
    enterChain(slot);
    enterLevel(slot, levelOf(count));
    return slot;
  }

  /**
   * Drops everything of another window, also of a later one, as the clock may go back. A thread that was interrupted
   * as the window ended counts in the next one.
   */
  function open(windowEndsAt: number, windowMs: number): void {
    const current = window[0] as number;
    if (current === windowEndsAt || current - windowEndsAt === windowMs) return;
    for (let slot = 1; slot <= at(USED); slot += 1) words[chainOf(get(slot, HASH))] = NO_SLOT;
    words.fill(NO_SLOT, firsts, chains);
    words[USED] = 0;
    words[FREE_LIST] = NO_SLOT;
    window[0] = windowEndsAt;
  }

  const subjectOf = (slot: number): string =>
    decoder.decode(texts.slice(slot * SUBJECT_BYTES, slot * SUBJECT_BYTES + lengthAt(slot)));

  /** Builds chains and lists anew from the counters themselves. */
  function rebuild(): void {
    words.fill(NO_SLOT, firsts, slots);
    words[FREE_LIST] = NO_SLOT;
    for (let slot = 1; slot <= at(USED); slot += 1) {
      if (lengthAt(slot) === 0) {
        free(slot);
        continue;
      }
      enterChain(slot);
      enterLevel(slot, levelAt(slot));
    }
  }

  return {
    lockWords: words.subarray(0, LOCK_WORDS),
    open,
    isOpen: (windowEndsAt: number): boolean => window[0] === windowEndsAt,
    /** Returns `NO_SLOT` where it has no counter. */
    find: (subject: string): number => find(subject, hashOf(subject)),
    findOrAdd(subject: string, count: number): number {
      const hash = hashOf(subject);
      return find(subject, hash) || add(subject, hash, count);
    },
    countOf: (slot: number): number => get(slot, COUNT),
    setCount(slot: number, count: number, limit: number): void {
      set(slot, COUNT, count);
      setChanged(slot, true);
      settle(slot, limit);
    },
    settle,
    subjectOf,
    isChanged: (slot: number): boolean => (get(slot, INFO) & IS_CHANGED) !== 0,
    setChanged,
    /** Returns the numbers of all counters, in the order of the memory. */
    *used(): Generator<number, undefined> {
      for (let slot = 1; slot <= at(USED); slot += 1) if (lengthAt(slot) > 0) yield slot;
    },
    rebuild,
  };
}

function levelOf(count: number): number {
  return count === 0 ? 0 : 31 - Math.clz32(count);
}
