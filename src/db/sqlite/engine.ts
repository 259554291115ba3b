/**
 * SQLite engine: one writer connection behind a first-in-first-out queue, and a reader. Changes run one at a time, so
 * what a change reads is still true when it writes, and an `await` inside lets no other change in.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { type Deadline, NO_DEADLINE, waitUntil } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { commitListeners } from '../commit-listeners.ts';
import type { Connection } from '../connection.ts';
import { type Author, CONNECTION, type Database, type DatabaseSize, type FileLoss, type Unit } from '../database.ts';
import { databaseMetrics, type MutableMetrics, type SlowStatements, slowStatementMonitor } from '../metrics.ts';
import { queryCache } from '../query-cache.ts';
import { createConnection } from './connection.ts';
import { asDiskError, diskHealth } from './disk-health.ts';
import { type Durability, noDurability, walDurability } from './durability.ts';
import { flush } from './flush.ts';
import { checkIntegrity } from './integrity-check.ts';
import { lossRefusal, openFiles, type OpenFiles } from './open-files.ts';
import { checkpointAndFlush, openReader, prepareForQueue } from './pragmas.ts';
import { sharedSnapshot, snapshotPerRead } from './snapshot.ts';
import { writeTransaction } from './transaction.ts';
import { walMaintenance } from './wal-maintenance.ts';
import { type DatabaseWorker, databaseWorker } from './worker-client.ts';
import { writeQueue } from './write-queue.ts';

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
}

const NO_EVENTS: EngineEvents = { onRefusal() {}, onLoss() {}, onWalLeft() {} };

/** Parts of a database, which takes them over and closes them. */
interface Parts {
  readonly path: string;
  readonly writer: SqliteDatabase;
  readonly reader: SqliteDatabase;
  /** For checkpoints and long reads; null where this thread does them. */
  readonly worker: DatabaseWorker | null;
  readonly files: OpenFiles;
  readonly metrics: MutableMetrics;
  readonly durability: Durability;
}

/** Makes a migrated connection the writer of a database, and opens the rest. */
export async function openEngine(writer: SqliteDatabase, path: string, options: EngineOptions): Promise<Database> {
  const { isDurable, isServer, isFolderHeld = () => true } = options;
  prepareForQueue(writer, isDurable, isServer);
  const reader = openReader(path);
  // The log's name in the folder must survive a power cut too.
  if (isDurable) flush(dirname(path));
  const worker = isServer ? databaseWorker(path) : null;
  await worker?.start();
  const metrics = databaseMetrics();
  const files = openFiles(path, isServer ? isFolderHeld : null);
  const durability = isDurable
    ? await walDurability({
        logPath: `${path}-wal`,
        checkpointAndFlush: () => checkpointAndFlush(path),
        files,
        metrics,
      })
    : noDurability(files);
  return createDatabase({ path, writer, reader, worker, files, metrics, durability }, options);
}

function createDatabase(parts: Parts, options: EngineOptions): Database {
  const { path, reader, files, metrics, durability } = parts;
  const { probe = async () => {}, events = NO_EVENTS } = options;
  const { queue, reading, snapshots } = connect(parts, options);
  const listeners = commitListeners();
  let damage = options.damage ?? null;
  let isClosed = false;

  async function commitDurably<Result>(author: Author, work: (unit: Unit) => Promise<Result>) {
    if (isClosed) throw new AppError('unavailable');
    const committed = await queue.commit(author, work);
    await durability.settled();
    return committed;
  }

  const disk = diskHealth({
    probe: (kibibytes) => commitDurably(SYSTEM_ACTOR, (unit) => probe(unit, kibibytes)).then(() => {}),
    onChange: events.onRefusal,
    metrics,
  });
  const wal = walMaintenance({ ...parts, snapshots, queue, onWalLeft: events.onWalLeft });
  const lossHandled = files.lost.then(async (loss) =>
    events.onLoss(loss, loss !== 'database_log_gone' || (await wal.rescue())),
  );
  const unwritable = () => (durability.isBroken() || disk.isRefusing() ? ('disk_refuses_writes' as const) : null);

  return {
    engine: 'sqlite',
    reader: { [CONNECTION]: reading },
    metrics,
    async write(author, work) {
      const { result, messages } = await commitDurably(author, work).catch((error: unknown) => {
        throw disk.record(error);
      });
      void disk.probeWhileRefusing();
      listeners.notify(messages);
      return result;
    },
    onCommit: listeners.add,
    status: () => ({
      queued: queue.length(),
      logBytes: durability.logBytes(),
      outage: files.check() ?? (isClosed ? 'database_not_writable' : unwritable()),
      damage,
    }),
    probeDisk: disk.probeWhileRefusing,
    measure: () => measure(path, reader),
    async checkIntegrity() {
      const problems = await checkIntegrity(path);
      if (problems.length > 0) damage = `The database is damaged: ${problems.join('; ')}.`;
      return problems;
    },
    async maintain() {
      await disk.probeWhileRefusing();
      if (isClosed) return;
      await wal.maintain(metrics.changes).catch((error: unknown) => {
        throw asDiskError(error);
      });
    },
    async close(deadline = NO_DEADLINE) {
      if (isClosed) return;
      isClosed = true;
      await queue.idle(deadline);
      await close(parts, deadline, (isLost) => (isLost ? waitUntil(deadline, lossHandled) : wal.finish(deadline)));
    },
  };
}

/** Connects the queue of changes and the reads, which share the query cache and each a snapshot. */
function connect(parts: Parts, { clock, isServer, slow }: EngineOptions) {
  const { writer, reader, worker, files, metrics, durability } = parts;
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const version = writer.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const cache = queryCache(() => version.get()?.data_version);
  const onStatement = slow && slowStatementMonitor(slow, metrics);
  const timing = onStatement && { onStatement };
  // Tests change rows behind the product's back and read them in the same turn.
  const snapshotOn = isServer ? sharedSnapshot : snapshotPerRead;
  const readSnapshot = snapshotOn(reader);
  const lookupSnapshot = snapshotOn(writer, cache.invalidateIfChangedElsewhere);
  const transaction = writeTransaction(writer, lookupSnapshot.end);
  const queue = writeQueue({
    writer,
    transaction,
    clock,
    metrics,
    ...timing,
    requireWritable() {
      durability.refuseWhenBroken();
      const loss = files.loss();
      if (loss !== null) throw lossRefusal(loss);
    },
    onCommit(changes) {
      readSnapshot.end();
      cache.invalidate(changes);
    },
  });
  // Lookups run on the writer, and on the reader only during a change: SQLite drops a connection's cache when another
  // one has changed the file (sqlite3PagerSharedLock, https://sqlite.org/src/file/src/pager.c), and remapping a
  // gigabyte takes milliseconds.
  const lookups = createConnection(writer, { enter: lookupSnapshot.enter, cache: cache, ...timing });
  const reading: Connection = createConnection(
    reader,
    { enter: readSnapshot.enter, lookups: () => (transaction.isOpen() ? reading : lookups), ...timing },
    worker?.read ?? null,
  );
  return { queue, reading, snapshots: [readSnapshot, lookupSnapshot] };
}

/** @param finishLog checkpoints the log, or waits until a lost one is handled. */
async function close(
  { writer, reader, files, durability }: Parts,
  deadline: Deadline,
  finishLog: (isLost: boolean) => Promise<unknown>,
): Promise<void> {
  await waitUntil(
    deadline,
    durability.settled().catch(() => {}),
  );
  const isLost = files.check() !== null;
  await finishLog(isLost);
  files.close();
  await durability.close();
  // SQLite deletes the log by its name as it closes. Once lost, that name may lead to the log of another process.
  if (isLost) return;
  reader.close();
  writer.close();
}

async function measure(path: string, reader: SqliteDatabase): Promise<DatabaseSize> {
  const [file, disk] = await Promise.all([stat(path).catch(() => null), statfs(dirname(path)).catch(() => null)]);
  const { free } = reader
    .query('SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size')
    .get() as { free: number };
  return { bytes: file?.size ?? 0, reusableBytes: free, freeBytes: disk && disk.bavail * disk.bsize };
}
