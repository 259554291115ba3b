/** The data folder that an instance is moved out of. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { dirname } from 'node:path';
import { StartupError } from '../../core/startup-error.ts';
import { engineErrorKind } from '../errors.ts';
import type { MoveSource } from '../move/tables.ts';
import { requireNoRestore } from './atomic-restore.ts';
import { openDataFolder, pathsIn, requireDatabase } from './data-folder.ts';
import { chownToOwnerOf } from './file-owner.ts';
import { requireInstance } from './find-instance.ts';
import { requireInstanceKey } from './instance-key-file.ts';
import { type FolderLock, lockDataFolder } from './locks.ts';
import { markMoved, movedTo, requireNotMoved } from './moved-marker.ts';
import { sqliteRows, sqliteSchema } from './move-rows.ts';
import { openReader, openWriter } from './pragmas.ts';

export interface FolderSourceOptions {
  readonly isMoved: (table: string) => boolean;
  /** Name of the target, as the marker shows it. */
  readonly to: string;
}

export interface FolderSource extends MoveSource {
  readonly instanceKeyPath: string;
}

const WAIT_MS = 200;

/**
 * Opens a folder, of a running server too. Without one it is frozen at once.
 *
 * @throws {StartupError} where it is no instance of this binary's schema, or was moved elsewhere.
 */
export function openFolderSource(path: string, { isMoved, to }: FolderSourceOptions): FolderSource {
  requireNoRestore(path);
  requireDatabase(pathsIn(path));
  const folder = openDataFolder(path);
  const { databasePath } = folder;
  // A move that was killed after its marker goes on.
  if (movedTo(databasePath) !== to) requireNotMoved(databasePath);
  const { key, secret } = requireInstanceKey(folder, requireInstance(folder).mark);
  let lock = tryLock(folder.path);
  let writer = lock && holdWriter(databasePath);

  function openLive(): SqliteDatabase {
    const reader = openReader(databasePath);
    chownToOwnerOf(folder.path, [`${databasePath}-wal`, `${databasePath}-shm`]);
    return reader;
  }

  async function onReader<Result>(work: (reader: SqliteDatabase) => Promise<Result>): Promise<Result> {
    if (writer) return work(writer);
    const reader = openLive();
    try {
      reader.run('BEGIN');
      return await work(reader);
    } finally {
      reader.close();
    }
  }

  const reader = writer ?? openLive();
  const schema = sqliteSchema(reader, isMoved);
  if (reader !== writer) reader.close();

  return {
    schema,
    key,
    keyBytes: secret,
    instanceKeyPath: folder.instanceKeyPath,
    get isLive() {
      return writer === null;
    },
    snapshot: (work) => onReader((from) => work(sqliteRows(from))),
    async freeze(onWait) {
      if (writer) return;
      lock = tryLock(folder.path);
      if (lock === null) onWait();
      while (lock === null) {
        await Bun.sleep(WAIT_MS);
        lock = tryLock(folder.path);
      }
      writer = holdWriter(databasePath);
    },
    async retire() {
      markMoved(databasePath, to);
    },
    async close() {
      writer?.close();
      writer = null;
      lock?.release();
    },
  };
}

/** @returns null while a server has the folder. */
function tryLock(path: string): FolderLock | null {
  try {
    return lockDataFolder(path);
  } catch (error) {
    if (error instanceof StartupError && engineErrorKind(error.cause) === 'busy') return null;
    throw error;
  }
}

/** Keeps commands without the folder's lock, such as `setup-link`, from changing the database. */
function holdWriter(databasePath: string): SqliteDatabase {
  const writer = openWriter(databasePath);
  chownToOwnerOf(dirname(databasePath), [`${databasePath}-wal`, `${databasePath}-shm`]);
  writer.run('BEGIN IMMEDIATE');
  return writer;
}
