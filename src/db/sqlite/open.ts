/**
 * Opens a data folder. Each step is one call below, and refuses what it names before anything is changed:
 * folder (others can write it) → lock (another server) → unfinished restore → unfinished move, or moved away → lost frames
 * of the log → instance (another program's database, a newer schema) → key (missing, damaged, another instance's) →
 * upgrade (no room) → engine.
 */
import type { Random } from '../../core/random.ts';
import { StartupError } from '../../core/startup-error.ts';
import { engineErrorKind } from '../errors.ts';
import type { OpenedData } from '../opened-data.ts';
import { finishRestore, requireNoMove, requireNoRestore } from './atomic-restore.ts';
import { type DataFolder, openDataFolder, pathsIn, requireDatabase } from './data-folder.ts';
import { openEngine } from './engine.ts';
import { findInstance, type FoundInstance, requireInstance } from './find-instance.ts';
import { folderError } from './folder-error.ts';
import { type FolderLock, lockDataFolder } from './locks.ts';
import { openInstanceKey } from './instance-key-file.ts';
import { openLeaseHolder } from './lease-holder.ts';
import { migrate } from './migrate.ts';
import { requireNotMoved } from './moved-marker.ts';
import type { EngineEvents, EngineOptions } from './parts.ts';
import { openWriter } from './pragmas.ts';
import { removeStaleNote, serverNotes, waitForRelock } from './running-server.ts';
import { upgradeData, type UpgradeOptions } from './upgrade.ts';
import { findWalLoss, type WalLoss } from './wal-check.ts';

export interface OpenOptions extends UpgradeOptions, Pick<EngineOptions, 'slow' | 'probe' | 'changes' | 'maxCached'> {
  readonly random: Random;
  readonly events: EngineEvents &
    UpgradeOptions['events'] & {
      onLockRecreated(): void;
      /** @returns one sentence about the damage; null unless damage is certain. */
      onWalLoss(loss: WalLoss): string | null;
    };
}

/** Opens a folder for a command, which needs a database of this binary's schema. @throws {StartupError} */
export async function openForCommand(path: string, options: OpenOptions): Promise<OpenedData> {
  requireNoRestore(path);
  requireNoMove(path);
  requireDatabase(pathsIn(path));
  requireNotMoved(pathsIn(path).databasePath);
  const folder = openDataFolder(path);
  return explained(folder, async () => openInstance(folder, requireInstance(folder), options));
}

/** Opens a folder for the one server on it, and makes it if it is missing. @throws {StartupError} */
export async function openForServer(path: string, options: OpenOptions): Promise<OpenedData> {
  const { clock, events } = options;
  const folder = openDataFolder(path);
  return explained(folder, async () => {
    await waitForRelock(folder.path);
    const lock = lockDataFolder(folder.path, events.onLockRecreated);
    try {
      const isAfterCrash = removeStaleNote(folder.path);
      finishRestore(folder.path);
      requireNoMove(folder.path);
      requireNotMoved(folder.databasePath);
      const loss = findWalLoss(folder.databasePath, clock.now());
      const damage = loss && events.onWalLoss(loss);
      const instance = findInstance(folder.databasePath);
      return { ...(await openInstance(folder, instance, options, { lock, damage })), isAfterCrash };
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

/** Opens key and database, after an upgrade where the schema is older. */
async function openInstance(
  folder: DataFolder,
  instance: FoundInstance | null,
  options: OpenOptions,
  server: { readonly lock: FolderLock; readonly damage: string | null } | null = null,
): Promise<OpenedData> {
  const { key, bindTo } = openInstanceKey(folder, instance, options.random);
  const upgradeCopy = instance && (await upgradeData(folder, instance.schema, options));
  const writer = openWriter(folder.databasePath, options);
  if (instance === null) migrate(writer, folder.databasePath);
  bindTo(writer);
  const db = await openEngine(writer, folder.databasePath, {
    ...options,
    isServer: server !== null,
    ...(server && { damage: server.damage, isFolderHeld: server.lock.isHeld }),
  });
  return {
    db,
    instanceKey: key,
    leaseHolder: server === null ? '' : openLeaseHolder(folder.path, options.random),
    upgradeCopy,
    isAfterCrash: false,
    notes: serverNotes(folder.path),
    explained: (error) =>
      (engineErrorKind(error) === 'unreadable' ? folderError(error, folder.databasePath) : null) ?? error,
    async close(deadline) {
      await db.close(deadline);
      server?.lock.release();
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
