/**
 * Moves an instance from one engine to another: copies while the source is served, copies the differences while nothing
 * changes it, verifies every table, and only then makes the target an instance and the source none.
 */
import { StartupError } from '../../core/startup-error.ts';
import { type CopiedTable, copyAndVerifyTable, copyTable, type TablePass } from './copy-table.ts';
import type { MoveSource, MoveTarget, MovedSchema, MovedTable, TableSize } from './tables.ts';

export type MoveStep = 'copy' | 'indexes' | 'catch up' | 'wait' | 'verify' | 'complete';

export interface MoveProgress {
  /** Called at the start of each step. */
  onStep(step: MoveStep): void;
  /** Called after each range. @param rows of all tables so far. */
  onRows(table: string, rows: number, all: number): void;
}

export interface Moved {
  readonly tables: readonly CopiedTable[];
  readonly rows: number;
  /** SHA-256 over the digests of all tables. */
  readonly sha256: string;
}

/** Repeatable at any time: each run goes on from what it finds in the target. */
export async function moveInstance(source: MoveSource, target: MoveTarget, progress: MoveProgress): Promise<Moved> {
  const tables = commonTables(source.schema, target.schema);
  const copy = () => passOver(source, target, tables, progress, copyTable);

  progress.onStep('copy');
  await copy();
  progress.onStep('indexes');
  await target.createIndexes();
  if (source.isLive) {
    progress.onStep('catch up');
    await copy();
  }
  await source.freeze(() => progress.onStep('wait'));
  progress.onStep('verify');
  const copied = await passOver(source, target, tables, progress, copyAndVerifyTable);
  progress.onStep('complete');
  await target.complete();
  // In this order, so that a kill in between leaves no two instances.
  await source.retire();
  await target.activate();
  const whole = new Bun.CryptoHasher('sha256');
  for (const { name, sha256 } of copied) whole.update(`${name}:${sha256}\n`);
  return { tables: copied, rows: copied.reduce((sum, { rows }) => sum + rows, 0), sha256: whole.digest('hex') };
}

/** Each table is read as of one moment. Tables may differ in theirs until the source is frozen. */
async function passOver<Result>(
  source: MoveSource,
  target: MoveTarget,
  tables: readonly MovedTable[],
  progress: MoveProgress,
  each: (pass: TablePass) => Promise<Result>,
): Promise<Result[]> {
  const sizes: TableSize[] = [];
  for (const table of tables) sizes.push(await source.snapshot((rows) => rows.size(table)));
  const all = sizes.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  const results: Result[] = [];
  for (const [at, table] of tables.entries()) {
    const size = sizes[at] ?? { rows: 0, largestRowBytes: 0 };
    const onRows = (rows: number) => progress.onRows(table.name, (done += rows), all);
    results.push(await source.snapshot((rows) => each({ source: rows, target, table, size, onRows })));
  }
  return results;
}

/** @throws {StartupError} where a table or column is on one side only: copying the rest would lose it silently. */
export function commonTables(source: MovedSchema, target: MovedSchema): readonly MovedTable[] {
  if (source.version !== target.version)
    throw new StartupError(`The source has schema ${source.version}, the target ${target.version}.`);
  const described = ({ tables }: MovedSchema) => tables.map((table) => [table.name, shapeOf(table)] as const);
  const known = new Map(described(target));
  const differing = described(source).filter(([name, shape]) => known.get(name) !== shape);
  const unknown = described(target).filter(([name]) => !source.tables.some((table) => table.name === name));
  const names = [...differing, ...unknown].map(([name]) => name);
  if (names.length > 0)
    throw new StartupError(`Source and target differ in ${names.join(', ')}. Migrate both with this binary.`);
  return source.tables;
}

const shapeOf = ({ columns, key }: MovedTable) => JSON.stringify([columns, key]);
