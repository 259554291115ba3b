/**
 * Makes a table of the target equal to the source's, range by range. Digests find every difference, whatever made it: an
 * earlier pass that was killed, or changes since then. Memory stays constant.
 */
import { StartupError } from '../../core/startup-error.ts';
import {
  type RangeDigest,
  type Key,
  keyOf,
  type MoveTarget,
  type KeyRange,
  type MovedRow,
  type RowReader,
  type MovedTable,
  type TableSize,
} from './tables.ts';

export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 over the digests of all ranges, equal on both sides. */
  readonly sha256: string;
}

/** Ranges that are read or written at the same time. */
const IN_FLIGHT = 2;

/** Rows of a range by the largest row: some megabytes at most. In steps, so that a few larger rows change no digest. */
const RANGE_SIZES = [
  { largestRowBytes: 4 * 1024, rows: 2000 },
  { largestRowBytes: 64 * 1024, rows: 100 },
  { largestRowBytes: Number.POSITIVE_INFINITY, rows: 5 },
] as const;

export interface TablePass {
  readonly source: RowReader;
  readonly target: MoveTarget;
  readonly table: MovedTable;
  /** Size of the source's table when the pass began. */
  readonly size: TableSize;
  /** Called with the number of rows that were copied or compared. */
  readonly onRows: (rows: number) => void;
}

/** Brings the target's table to the source's state. */
export async function copyTable(pass: TablePass): Promise<void> {
  const { source, target, table } = pass;
  if ((await target.keyAhead(table, null, 1)) === null) {
    await eachRange(pass, async (range) => {
      const rows = await source.read(table, range);
      await target.insert(table, rows);
      pass.onRows(rows.length);
    });
    return;
  }
  const differing: KeyRange[] = [];
  await eachRange(pass, async (range) => {
    const [ours, theirs] = await digests(pass, range);
    if (ours.sha256 === theirs.sha256) pass.onRows(ours.rows);
    else differing.push(range);
  });
  await repair(pass, differing);
}

/** Copies a table whose source nothing changes, and compares both sides. @throws {StartupError} where they differ. */
export async function copyAndVerifyTable(pass: TablePass): Promise<CopiedTable> {
  const { source, target, table } = pass;
  const found = new Map<number, RangeDigest>();
  const differing: { readonly at: number; readonly range: KeyRange }[] = [];
  await eachRange(pass, async (range, at) => {
    const [ours, theirs] = await digests(pass, range);
    if (ours.sha256 === theirs.sha256) {
      found.set(at, theirs);
      pass.onRows(ours.rows);
    } else differing.push({ at, range });
  });
  await repair(
    pass,
    differing.map(({ range }) => range),
  );
  for (const { at, range } of differing) {
    const [ours, theirs] = await digests(pass, range);
    if (ours.sha256 !== theirs.sha256) throw differs(table);
    found.set(at, theirs);
  }
  const whole = new Bun.CryptoHasher('sha256');
  const inOrder = [...found].sort(([left], [right]) => left - right).map(([, digest]) => digest);
  for (const { sha256 } of inOrder) whole.update(sha256);
  const rows = inOrder.reduce((sum, digest) => sum + digest.rows, 0);
  const [ours, theirs] = await Promise.all([source.size(table), target.size(table)]);
  if (ours.rows !== rows || theirs.rows !== rows) throw differs(table);
  return { name: table.name, rows, sha256: whole.digest('hex') };
}

function differs({ name }: MovedTable): StartupError {
  return new StartupError(`${name} still differs after it was copied. Nothing was switched over; run the move again.`);
}

/**
 * Removes what differs before anything is inserted, in the whole table, so that a unique value that moved from one row
 * to another is free.
 */
async function repair(pass: TablePass, ranges: readonly KeyRange[]): Promise<void> {
  const { source, target, table, onRows } = pass;
  const kept = (rows: readonly MovedRow[]) => new Set(rows.map((row) => JSON.stringify(row)));
  for (const range of ranges) {
    const theirs = await target.read(table, range);
    if (theirs.length === 0) continue;
    const ours = kept(await source.read(table, range));
    const stale = theirs.filter((row) => !ours.has(JSON.stringify(row))).map((row) => keyOf(table, row));
    if (stale.length > 0) await target.remove(table, stale);
  }
  for (const range of ranges) {
    const [ours, theirs] = await Promise.all([source.read(table, range), target.read(table, range)]);
    const present = kept(theirs);
    const missing = ours.filter((row) => !present.has(JSON.stringify(row)));
    if (missing.length > 0) await target.insert(table, missing);
    onRows(ours.length);
  }
}

function digests({ source, target, table }: TablePass, range: KeyRange): Promise<[RangeDigest, RangeDigest]> {
  // The target works on its digest while the source is read.
  const theirs = target.digest(table, range);
  return Promise.all([source.digest(table, range), theirs]);
}

function rangeRowsOf({ size: { largestRowBytes: bytes } }: TablePass): number {
  return RANGE_SIZES.find(({ largestRowBytes }) => bytes <= largestRowBytes)?.rows ?? 1;
}

/** Runs work on each range of the source, two at a time. The last range is open, so that it has surplus rows too. */
async function eachRange(pass: TablePass, work: (range: KeyRange, at: number) => Promise<void>): Promise<void> {
  const { source, table } = pass;
  const rangeRows = rangeRowsOf(pass);
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  let after: Key | null = null;
  try {
    for (let at = 0; failure === null; at += 1) {
      const last: Key | null = await source.keyAhead(table, after, rangeRows);
      const done: Promise<void> = work({ after, last }, at)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => running.delete(done));
      running.add(done);
      if (last === null) break;
      after = last;
      if (running.size >= IN_FLIGHT) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
