/**
 * Log of the writer's changes in shared memory, from which the query caches of other threads learn what each commit
 * changed. A change is in the log before it is acknowledged, so a thread that finds nothing new has no stale entry.
 */
import type { Changes } from '../query-cache.ts';

/** Bytes of the ring. A thread that falls further behind invalidates everything. */
const RING_BYTES = 1024 * 1024;
const HEADER_BYTES = 32;
/** Larger changes are published as a change of everything. */
const LARGEST_BYTES = RING_BYTES / 4;
const LENGTH_BYTES = 4;

/** 64-bit words of the header: bytes ever reserved, bytes ever published, commits ever begun and ended. */
const RESERVED = 0;
const PUBLISHED = 1;
const COMMITS = 2;

/** Index of the lower half of `PUBLISHED` among 32-bit words; every platform of ours is little-endian. */
const PUBLISHED_LOWER = 2 * PUBLISHED;

const EVERYTHING = new TextEncoder().encode('null');

export function changeLogMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + RING_BYTES);
}

const lowerHalf = (word: bigint): number => Number(BigInt.asIntN(32, word));

function partsOf(memory: SharedArrayBuffer) {
  return { words: new BigInt64Array(memory, 0, 3), ring: new Uint8Array(memory, HEADER_BYTES) };
}

/** Used by the one writer of a database. */
export interface ChangeLog {
  /** Announces a commit. Readers would take a file that changes before `committed` for another process's change. */
  committing(): void;
  /** Publishes an announced commit. Call it after the commit and before its callers are answered. */
  committed(changes: Changes): void;
  /** Takes an announced commit back, which has changed nothing. */
  failed(): void;
  /** Publishes that anything may have changed. */
  everythingChanged(): void;
}

export function changeLog(memory: SharedArrayBuffer): ChangeLog {
  const { words, ring } = partsOf(memory);
  const encoder = new TextEncoder();
  const length = new Uint8Array(LENGTH_BYTES);
  let end = Number(Atomics.load(words, PUBLISHED));

  function write(bytes: Uint8Array): void {
    const from = end % RING_BYTES;
    const first = bytes.subarray(0, RING_BYTES - from);
    ring.set(first, from);
    ring.set(bytes.subarray(first.length), 0);
    end += bytes.length;
  }

  function publish(bytes: Uint8Array): void {
    new DataView(length.buffer).setUint32(0, bytes.length);
    // Read-modify-writes, which no processor reorders with the bytes between them.
    Atomics.add(words, RESERVED, BigInt(LENGTH_BYTES + bytes.length));
    write(length);
    write(bytes);
    Atomics.add(words, PUBLISHED, BigInt(LENGTH_BYTES + bytes.length));
  }

  const countCommit = () => void Atomics.add(words, COMMITS, 1n);

  return {
    committing: countCommit,
    failed: countCommit,
    committed({ tables, ids }) {
      if (tables.size > 0 || ids.size > 0) {
        const bytes = encoder.encode(JSON.stringify([[...tables], [...ids]]));
        publish(bytes.length > LARGEST_BYTES ? EVERYTHING : bytes);
      }
      countCommit();
    },
    everythingChanged: () => publish(EVERYTHING),
  };
}

/** Used by each thread that reads. */
export interface ChangeLogReader {
  hasNews(): boolean;
  /** Returns the changes since the last call; null where anything may have changed. */
  take(): readonly Changes[] | null;
  /** Returns how many commits have begun and ended: odd during one. */
  commits(): bigint;
}

/** Reads from the present end on: open it before anything is cached. */
export function changeLogReader(memory: SharedArrayBuffer): ChangeLogReader {
  const { words, ring } = partsOf(memory);
  /** The words' halves: reading one allocates no `BigInt`. Every verification does it. */
  const halves = new Int32Array(memory, 0, HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT);
  const decoder = new TextDecoder();
  let position = Atomics.load(words, PUBLISHED);
  let lowerPosition = lowerHalf(position);

  /** Returns a copy: the writer may overwrite the ring meanwhile. */
  function copy(from: number, count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    const first = ring.subarray(from % RING_BYTES, (from % RING_BYTES) + count);
    bytes.set(first);
    bytes.set(ring.subarray(0, count - first.length), first.length);
    return bytes;
  }

  return {
    hasNews: () => Atomics.load(halves, PUBLISHED_LOWER) !== lowerPosition,
    take() {
      const from = position;
      position = Atomics.load(words, PUBLISHED);
      lowerPosition = lowerHalf(position);
      const bytes = copy(Number(from), Math.min(RING_BYTES, Number(position - from)));
      // A read-modify-write, since a load could overtake the copy.
      if (Atomics.add(words, RESERVED, 0n) - from > BigInt(RING_BYTES)) return null;
      return changesIn(bytes, decoder);
    },
    commits: () => Atomics.load(words, COMMITS),
  };
}

function changesIn(bytes: Uint8Array, decoder: TextDecoder): readonly Changes[] | null {
  const view = new DataView(bytes.buffer);
  const found: Changes[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = view.getUint32(at);
    const from = at + LENGTH_BYTES;
    const read = JSON.parse(decoder.decode(bytes.subarray(from, from + length))) as [string[], string[]] | null;
    if (read === null) return null;
    found.push({ tables: new Set(read[0]), ids: new Set(read[1]) });
    at = from + length;
  }
  return found;
}
