/** Opens the parts of an engine, which its database takes over and closes. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { dirname } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import type { FileLoss, Unit } from '../database.ts';
import { databaseMetrics, type SlowStatements, slowStatementMonitor } from '../metrics.ts';
import { noDurability, walDurability } from './durability.ts';
import { flush } from './flush.ts';
import { openFiles } from './open-files.ts';
import { openReader, prepareForQueue } from './pragmas.ts';
import { databaseWorker } from './worker-client.ts';

/** Events for the operator's log. */
export interface EngineEvents {
  /** Called with the error when the disk begins to refuse changes, and with null when it takes them again. */
  onRefusal(error: unknown): void;
  /** Called when an open file's name leads elsewhere. @param isKept whether the database file has all acknowledged data. */
  onLoss(loss: FileLoss, isKept: boolean): void;
  /** Called where closing leaves frames in the log, with the failure, or with null where the time was over. */
  onWalLeft(error: unknown): void;
}

export interface EngineOptions {
  readonly clock: Clock;
  /** False only for a folder deleted on exit: nothing is flushed then. */
  readonly isDurable: boolean;
  /** Adds a thread for checkpoints and long reads, and shared snapshots. Without it SQLite checkpoints on commit. */
  readonly isServer: boolean;
  /** Monitor of slow statements; without it none is timed. */
  readonly slow?: SlowStatements;
  /** Whether this server still holds its folder; called several times a second. */
  readonly isFolderHeld?: () => boolean;
  /** Writes this many KiB in a change and leaves no row. */
  readonly probe?: (unit: Unit, kibibytes: number) => Promise<void>;
  /** Damage found before the file was opened, in a sentence. */
  readonly damage?: string | null;
  readonly events?: EngineEvents;
  /** Memory of a change log for the threads that verify; absent without them. */
  readonly changes?: SharedArrayBuffer | null;
  /** Bound of the query cache, for each of its queries. */
  readonly maxCached?: number;
}

export type EngineParts = Awaited<ReturnType<typeof openParts>>;

export async function openParts(writer: SqliteDatabase, path: string, options: EngineOptions) {
  const { clock, isDurable, isServer, slow, isFolderHeld = () => true } = options;
  prepareForQueue(writer, isDurable, isServer);
  const reader = openReader(path);
  // The log's name in the folder must survive a power cut too.
  if (isDurable) flush(dirname(path));
  /** For checkpoints and long reads; null where this thread does them. */
  const worker = isServer ? databaseWorker(path) : null;
  // Not awaited: it starts beside the rest, and calls wait for it in order.
  void worker?.start();
  const metrics = databaseMetrics();
  const files = openFiles(path, isServer ? isFolderHeld : null);
  const durability = isDurable ? await walDurability(path, files, metrics) : noDurability(files);
  const onStatement = slow && slowStatementMonitor(slow, metrics);
  return { path, clock, writer, reader, worker, metrics, files, durability, onStatement };
}
