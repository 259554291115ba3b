/**
 * The instance key on the disk, and that it belongs to the database beside it. Until a first start has made both, the key has
 * a name of its own: a kill in between is no loss, and a database that is gone later is noticed.
 */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { INSTANCE_KEY_BYTES, type InstanceKey, instanceKey } from '../core/instance-key.ts';
import type { Random } from '../core/random.ts';
import { StartupError } from '../core/startup-error.ts';
import { type DataFolder, PRIVATE_FILE } from './data-folder.ts';

/** The key of a folder. */
export interface InstanceKeyFile {
  readonly key: InstanceKey;
  /**
   * To be called once the database has a schema: the two belong together from then on.
   *
   * @throws {StartupError} when the database belongs to another key; it is closed then.
   */
  bindTo(sqlite: SqliteDatabase): void;
}

/**
 * Reads the key, or makes it at the very first start.
 *
 * @param hasInstance whether there is an instance in the folder's database.
 * @throws {StartupError} when the key is damaged, or when the database or the key is missing beside the other.
 */
export function openInstanceKey(folder: DataFolder, hasInstance: boolean, random: Random): InstanceKeyFile {
  const { instanceKeyPath: path, databasePath } = folder;
  const newPath = `${path}.new`;
  const isNamed = existsSync(path);
  if (isNamed && !hasInstance)
    throw new StartupError(
      `${databasePath} is missing or empty beside ${path}. Put back the copy that belongs to this key; or, where nothing is ` +
        'to be kept, move the key away to begin a new instance.',
    );
  if (!isNamed && (hasInstance ? !existsSync(newPath) : isStray(databasePath, newPath)))
    throw new StartupError(`${path} is missing beside an existing database; put back the one that belongs to it.`);
  if (!isNamed && !hasInstance) {
    rmSync(newPath, { force: true });
    const made = Buffer.from(random.bytes(INSTANCE_KEY_BYTES)).toString('base64url');
    writeFileSync(newPath, `${made}\n`, { mode: PRIVATE_FILE, flush: true });
  }
  const keyPath = isNamed ? path : newPath;
  const secret = readSecret(keyPath);
  if (secret.length !== INSTANCE_KEY_BYTES)
    throw new StartupError(`${keyPath} is damaged; put back the one that belongs to this database.`);
  const key = instanceKey(secret);
  return {
    key,
    bindTo(sqlite) {
      const { application_id: bound } = sqlite.query('PRAGMA application_id').get() as { application_id: number };
      if (bound === 0) sqlite.run(`PRAGMA application_id = ${key.mark}`);
      else if (bound !== key.mark) {
        sqlite.close();
        throw new StartupError(
          `${keyPath} is the key of another instance than ${databasePath}; put back the one that belongs to it. ` +
            'Nothing was changed.',
        );
      }
      if (!isNamed) renameSync(newPath, path);
    },
  };
}

/** The bytes of a key as its file has them, of whatever length. */
export function readSecret(path: string): Uint8Array {
  return Buffer.from(readFileSync(path, 'utf8').trim(), 'base64url');
}

/** An empty file that no first start of ours has left. */
function isStray(databasePath: string, newPath: string): boolean {
  return existsSync(databasePath) && !existsSync(newPath);
}
