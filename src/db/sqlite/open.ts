/**
 * Opens a data folder for a server or for a command: the steps in their order, each with what it refuses. Everything
 * that can refuse does so before anything is changed.
 */
import type { Clock } from '../../core/clock.ts';
import type { Deadline } from '../../core/deadline.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { Database } from '../database.ts';
import { finishRestore, requireNoRestore } from './atomic-restore.ts';
import { type DataFolder, openDataFolder, pathsIn, requireDatabase } from './data-folder.ts';
import { type EngineEvents, type EngineOptions, openEngine } from './engine.ts';
import { findInstance, type FoundInstance, requireInstance } from './find-instance.ts';
import { folderError } from './folder-error.ts';
import { type FolderLock, lockDataFolder } from './folder-lock.ts';
import { openInstanceKey } from './instance-key-file.ts';
import { migrate } from './migrate.ts';
import { openWriter } from './pragmas.ts';
import { removeStaleNote, waitForRelock } from './running-server.ts';
import { upgradeData } from './upgrade.ts';
import { findWalLoss, type WalLoss } from './wal-check.ts';

/** A data folder opened by one process, with its key loaded. A server also migrates it. */
export interface OpenedData {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** The copy made before an upgrade, if there was one. */
  readonly upgradeCopy: string | null;
  /** True if the previous server did not stop cleanly. */
  readonly isAfterCrash: boolean;
  close(deadline?: Deadline): Promise<void>;
}

/** Events for the operator's log. */
export interface DataEvents extends EngineEvents {
  onLockRecreated(): void;
  /** @returns one sentence about the damage; null unless damage is certain. */
  onWalLoss(loss: WalLoss): string | null;
  /** Called at the start of an upgrade, and every few seconds of a long one. */
  onUpgrade(progress: string): void;
}

export interface OpenOptions extends Pick<EngineOptions, 'isDurable' | 'slow' | 'probe'> {
  readonly clock: Clock;
  readonly random: Random;
  /** Version of this binary. */
  readonly version: string;
  readonly events: DataEvents;
}

/** State of a folder before its database is opened. */
interface Found {
  readonly folder: DataFolder;
  readonly instance: FoundInstance | null;
  /** Null for a command, which runs beside a server. */
  readonly lock: FolderLock | null;
  readonly isAfterCrash: boolean;
  readonly damage: string | null;
}

/**
 * Opens a folder for a command, which changes no schema and makes no folder.
 *
 * @throws {StartupError} during a restore, without a current database, or where the folder or its key is refused.
 */
export async function openForCommand(path: string, options: OpenOptions): Promise<OpenedData> {
  requireNoRestore(path);
  requireDatabase(pathsIn(path));
  const folder = openDataFolder(path);
  return explained(folder, async () => {
    const instance = requireInstance(folder);
    return openFound({ folder, instance, lock: null, isAfterCrash: false, damage: null }, options);
  });
}

/**
 * Opens a folder for the one server on it: makes it if missing, finishes a restore, upgrades the database.
 *
 * @throws {StartupError} where another server holds the folder, the database is a newer or a foreign one, or the folder
 *   or its key is refused.
 */
export async function openForServer(path: string, options: OpenOptions): Promise<OpenedData> {
  const { clock, events } = options;
  const folder = openDataFolder(path);
  return explained(folder, async () => {
    await waitForRelock(folder.path);
    const lock = lockDataFolder(folder.path, events.onLockRecreated);
    try {
      const isAfterCrash = removeStaleNote(folder.path);
      finishRestore(folder.path);
      const loss = findWalLoss(folder.databasePath, clock.now());
      const damage = loss && events.onWalLoss(loss);
      const instance = findInstance(folder.databasePath);
      return await openFound({ folder, instance, lock, isAfterCrash, damage }, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

/** Opens key and database, after an upgrade where the schema is older. */
async function openFound(
  { folder, instance, lock, isAfterCrash, damage }: Found,
  { clock, random, isDurable, version, slow, probe, events }: OpenOptions,
): Promise<OpenedData> {
  const { key, bindTo } = openInstanceKey(folder, instance, random);
  const upgrade = { clock, version, isDurable, report: events.onUpgrade };
  const upgradeCopy = instance && (await upgradeData(folder, instance.schema, upgrade));
  const writer = openWriter(folder.databasePath, { isDurable });
  if (instance === null) migrate(writer, folder.databasePath);
  bindTo(writer);
  const db = await openEngine(writer, folder.databasePath, {
    clock,
    isDurable,
    isServer: lock !== null,
    slow,
    probe,
    damage,
    events,
    ...(lock && { isFolderHeld: lock.isHeld }),
  });
  return {
    db,
    instanceKey: key,
    upgradeCopy,
    isAfterCrash,
    async close(deadline) {
      await db.close(deadline);
      lock?.release();
    },
  };
}

/** Explains errors of the file system and of SQLite to the operator. @throws {StartupError} */
async function explained<Result>({ databasePath }: DataFolder, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw folderError(error, databasePath) ?? error;
  }
}
