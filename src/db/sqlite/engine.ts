/**
 * SQLite engine: one writer connection behind a first-in-first-out queue, and a reader. Changes run one at a time, so
 * what a change reads is still true when it writes, and an `await` inside lets no other change in.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Deadline, deadlineIn, earlier, NO_DEADLINE, waitUntil } from '../../core/deadline.ts';
import { AppError } from '../../core/error.ts';
import { commitListeners } from '../commit-listeners.ts';
import { type Author, CONNECTION, type Database, type DatabaseSize, type Unit } from '../database.ts';
import { queryCache } from '../query-cache.ts';
import { changeLog } from './change-log.ts';
import { createConnection, type SqliteConnection } from './connection.ts';
import { diskHealth, throwDiskError } from './disk-health.ts';
import { checkIntegrity } from './integrity-check.ts';
import { isSchemaCurrent, SCHEMA_VERSION } from './migrate.ts';
import { type EngineEvents, type EngineOptions, type EngineParts, openParts } from './parts.ts';
import { sharedSnapshot, snapshotPerRead } from './snapshot.ts';
import { writeTransaction } from './transaction.ts';
import { walMaintenance } from './wal-maintenance.ts';
import { writeQueue } from './write-queue.ts';

/** A batch holds the only writer, and the event loop. */
const BATCH_MS = 4;
/** Longest wait of a stop for the integrity check of the start, whose connection would leave the log behind. */
const CHECK_MS = 500;

const NO_EVENTS: EngineEvents = { onRefusal() {}, onLoss() {}, onWalLeft() {} };

/** Makes a migrated connection the writer of a database, and opens the rest. */
export async function openEngine(writer: SqliteDatabase, path: string, options: EngineOptions): Promise<Database> {
  return createDatabase(await openParts(writer, path, options), options);
}

function createDatabase(parts: EngineParts, options: EngineOptions): Database {
  const { path, reader, files, metrics, durability } = parts;
  const { probe = async () => {}, events = NO_EVENTS } = options;
  const { queue, reading, snapshots, noticeOthers } = connect(parts, options);
  const listeners = commitListeners();
  let damage = options.damage ?? null;
  let isClosed = false;
  let check: Promise<unknown> = Promise.resolve();

  async function commitDurably<Result>(author: Author, work: (unit: Unit) => Promise<Result>) {
    if (isClosed) throw new AppError('unavailable');
    const committed = await queue.commit(author, work);
    await durability.settled();
    return committed;
  }

  const tryChange = (kibibytes: number) => commitDurably(SYSTEM_ACTOR, (unit) => probe(unit, kibibytes));
  const disk = diskHealth({ probe: tryChange, onChange: events.onRefusal, metrics });
  const wal = walMaintenance(parts, { snapshots, queue, onWalLeft: events.onWalLeft });
  const lossHandled = files.lost.then(async (loss) =>
    events.onLoss(loss, loss !== 'database_log_gone' || (await wal.rescue())),
  );
  const diskOutage = () => (durability.isBroken() || disk.isRefusing() ? 'disk_refuses_writes' : null);

  return {
    engine: 'sqlite',
    batchMs: BATCH_MS,
    reader: { [CONNECTION]: reading },
    metrics,
    async write(author, work) {
      const { result, messages } = await commitDurably(author, work).catch(disk.reject);
      void disk.probeWhileRefusing();
      listeners.notify(messages);
      return result;
    },
    onCommit: listeners.add,
    onNewsMissed: listeners.addMissed,
    status: () => ({
      queued: queue.length(),
      logBytes: durability.logBytes(),
      pool: null,
      outage: files.check() ?? (isClosed ? 'database_not_writable' : diskOutage()),
      damage,
    }),
    schemaVersion: SCHEMA_VERSION,
    isSchemaCurrent: () => isSchemaCurrent(reading),
    probeDisk: disk.probeWhileRefusing,
    measure: () => measure(path, reader),
    async checkIntegrity() {
      const running = checkIntegrity(path);
      check = running.catch(() => {});
      const problems = await running;
      if (problems.length > 0) damage = `The database is damaged: ${problems.join('; ')}.`;
      return problems;
    },
    async maintain() {
      noticeOthers();
      await disk.probeWhileRefusing();
      if (!isClosed) await wal.maintain(metrics.changes).catch(throwDiskError);
    },
    async close(deadline = NO_DEADLINE) {
      if (isClosed) return;
      isClosed = true;
      await queue.idle(deadline);
      await waitUntil(earlier(deadline, deadlineIn(CHECK_MS)), check);
      await close(parts, deadline, (isLost) => (isLost ? waitUntil(deadline, lossHandled) : wal.finish(deadline)));
    },
  };
}

/** Connects the queue of changes and the reads, which share the query cache and each a snapshot. */
function connect(parts: EngineParts, { isServer, changes: changesMemory = null, maxCached }: EngineOptions) {
  const { writer, reader, worker, onStatement } = parts;
  // https://www.sqlite.org/pragma.html#pragma_data_version
  const version = writer.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const log = changesMemory && changeLog(changesMemory);
  const cache = queryCache(() => version.get()?.data_version, {
    ...(maxCached !== undefined && { maxEntries: maxCached }),
    onChangedElsewhere: () => log?.everythingChanged(),
  });
  // Tests change rows behind the product's back and read them in the same turn.
  const snapshotOn = isServer ? sharedSnapshot : snapshotPerRead;
  const readSnapshot = snapshotOn(reader);
  const lookupSnapshot = snapshotOn(writer, cache.invalidateIfChangedElsewhere);
  const transaction = writeTransaction(writer, lookupSnapshot.end);
  const queue = writeQueue(parts, transaction, {
    committing: () => log?.committing(),
    failed: () => log?.failed(),
    committed(changes) {
      readSnapshot.end();
      cache.invalidate(changes);
      if (log === null) return;
      try {
        // The caches of other threads learn of other processes here, at the latest with the next `maintain`.
        cache.invalidateIfChangedElsewhere();
      } finally {
        // Even if the file cannot be read: the threads must not keep what this commit has changed.
        log.committed(changes);
      }
    },
  });
  // Lookups run on the writer, and on the reader only during a change: SQLite drops a connection's cache when another
  // one has changed the file (sqlite3PagerSharedLock, https://sqlite.org/src/file/src/pager.c), and remapping a
  // gigabyte takes milliseconds.
  const lookups = createConnection(writer, { enter: lookupSnapshot.enter, cache, onStatement });
  const reading: SqliteConnection = createConnection(
    reader,
    { enter: readSnapshot.enter, lookups: () => (transaction.isOpen() ? reading : lookups), onStatement },
    worker?.read ?? null,
  );
  const noticeOthers = () => void (log && cache.invalidateIfChangedElsewhere());
  return { queue, reading, snapshots: [readSnapshot, lookupSnapshot], noticeOthers };
}

/** @param finishLog checkpoints the log, or waits until a lost one is handled. */
async function close(
  { writer, reader, files, durability }: EngineParts,
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
  return { bytes: file?.size ?? 0, reusableBytes: free, freeBytes: disk && disk.bavail * disk.bsize, server: null };
}
