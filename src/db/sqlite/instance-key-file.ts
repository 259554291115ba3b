/**
 * Keeps the instance key on the disk and checks that it is the database's. The first start writes it under a temporary
 * name until the database exists: a kill loses nothing, and a lost database is noticed.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { INSTANCE_KEY_BYTES, type InstanceKey, instanceKey, parseInstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { StartupError } from '../../core/startup-error.ts';
import { type DataFolder, PRIVATE_FILE } from './data-folder.ts';
import type { FoundInstance } from './find-instance.ts';

export interface StoredKey {
  readonly key: InstanceKey;
  readonly secret: Uint8Array;
  readonly path: string;
}

export interface InstanceKeyFile extends StoredKey {
  /** Marks the database as this key's and gives the file its final name. Call it once the database has its schema. */
  bindTo(sqlite: SqliteDatabase): void;
}

/**
 * Opens the key of a folder; only the very first start makes one. @param instance null where there is none yet.
 *
 * @throws {StartupError} if only one of key and database exists, or the key is damaged or belongs to another instance.
 */
export function openInstanceKey(folder: DataFolder, instance: FoundInstance | null, random: Random): InstanceKeyFile {
  if (instance === null) makeKey(folder, random);
  const stored = instance === null ? readInstanceKey(folder) : requireInstanceKey(folder, instance.mark);
  return {
    ...stored,
    bindTo(sqlite) {
      if (instance?.mark !== stored.key.mark) sqlite.run(`PRAGMA application_id = ${stored.key.mark}`);
      if (stored.path !== folder.instanceKeyPath) renameSync(stored.path, folder.instanceKeyPath);
    },
  };
}

/** @throws {StartupError} where a key or an empty database shows that an instance was here. */
export function refuseLostDatabase({ databasePath, instanceKeyPath: path }: DataFolder): void {
  if (existsSync(path))
    throw new StartupError(
      `${databasePath} is missing or empty, but ${path} exists. Put back the database of this key. To start a new ` +
        'instance without its data, move the key away.',
    );
  // A killed first start leaves an empty database and an unfinished key.
  if (existsSync(databasePath) && !existsSync(unfinished(path)))
    throw new StartupError(
      `${databasePath} is empty and ${path} is missing: there is no instance. Put both back from the same copy; or, where ` +
        'nothing is to be kept, remove the empty file to begin a new instance.',
    );
}

/**
 * Reads the key and checks it. @param mark stored in the database; 0 from before keys were bound: any key is accepted.
 *
 * @throws {StartupError} where the key is missing, damaged or another instance's.
 */
export function requireInstanceKey(folder: DataFolder, mark: number): StoredKey {
  const stored = readInstanceKey(folder);
  if (mark !== 0 && mark !== stored.key.mark)
    throw new StartupError(
      `${stored.path} is the key of another instance than ${folder.databasePath}; put back the one that belongs to it. ` +
        'Nothing was changed.',
    );
  return stored;
}

/** Reads the key of a folder, also under its temporary name. @throws {StartupError} where it is missing or damaged. */
export function readInstanceKey({ instanceKeyPath }: DataFolder): StoredKey {
  const path = [instanceKeyPath, unfinished(instanceKeyPath)].find((file) => existsSync(file));
  if (path === undefined)
    throw new StartupError(
      `${instanceKeyPath} is missing, but the database exists; put back the key that belongs to it.`,
    );
  const secret = parseInstanceKey(readFileSync(path, 'utf8').trim());
  if (secret === null) throw new StartupError(`${path} is damaged; put back the one that belongs to this database.`);
  return { key: instanceKey(secret), secret, path };
}

function makeKey(folder: DataFolder, random: Random): void {
  refuseLostDatabase(folder);
  const path = unfinished(folder.instanceKeyPath);
  rmSync(path, { force: true });
  const made = Buffer.from(random.bytes(INSTANCE_KEY_BYTES)).toString('base64url');
  writeFileSync(path, `${made}\n`, { mode: PRIVATE_FILE, flush: true });
}

const unfinished = (path: string) => `${path}.new`;
