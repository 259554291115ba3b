/** Finds the instance in a database file, and refuses files that are not its own. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { StartupError } from '../../core/startup-error.ts';
import { type DataFolder, noDatabaseIn } from './data-folder.ts';
import { DATABASE_HEADER_BYTES, isDatabaseHeader, readHead } from './file-head.ts';
import { refuseNewer, SCHEMA_VERSION, schemaVersion } from './migrate.ts';
import { openReadOnly } from './read-only.ts';
import { findServer } from './running-server.ts';

/** Tables of every Gatehouse since its first schema. */
const OWN_TABLES = ['workspaces', 'applications', 'application_users'];

/** An instance in a database file, its log included. */
export interface FoundInstance {
  /** Number of migrations applied. */
  readonly schema: number;
  /** The mark of its instance key; 0 until a start has bound the two. */
  readonly mark: number;
}

/**
 * Finds the instance by a read-only connection. @returns null where there is no file, or nothing was made in it yet.
 *
 * @throws {StartupError} where it is not Gatehouse's, or was written by a newer binary.
 */
export function findInstance(path: string): FoundInstance | null {
  if (!existsSync(path)) return null;
  const head = readHead(path, DATABASE_HEADER_BYTES);
  if (head.length === 0) return null;
  if (!isDatabaseHeader(head))
    throw new StartupError(`${path} is not a SQLite database; point --data at a Gatehouse folder or an empty one.`);
  using opened = openReadOnly(path);
  return instanceIn(opened.sqlite, path);
}

/**
 * Finds the instance through an open connection, as a server must: closing a second descriptor of its database drops
 * SQLite's locks on it (https://www.sqlite.org/howtocorrupt.html, section 2.2). @throws {StartupError}
 */
export function instanceIn(sqlite: SqliteDatabase, path: string): FoundInstance | null {
  const names = sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const tables = names.map(({ name }) => name);
  const isOwn = OWN_TABLES.every((table) => tables.includes(table));
  if (!isOwn && tables.length > 0)
    throw new StartupError(
      `${path} is the database of something else than Gatehouse; point --data at a Gatehouse folder or an empty one. ` +
        'Nothing was changed.',
    );
  const schema = schemaVersion(sqlite);
  refuseNewer(schema, path);
  const { application_id: mark } = sqlite.query('PRAGMA application_id').get() as { application_id: number };
  return isOwn ? { schema, mark } : null;
}

/**
 * Finds the instance that a command uses. Commands never upgrade, as an earlier server may be using the database.
 *
 * @throws {StartupError} where there is none, or its schema is older.
 */
export function requireInstance({ path, databasePath }: DataFolder): FoundInstance {
  const instance = findInstance(databasePath);
  if (instance === null) throw noDatabaseIn(path);
  requireCurrentSchema(path, instance.schema);
  return instance;
}

function requireCurrentSchema(folder: string, version: number): void {
  if (version >= SCHEMA_VERSION) return;
  const server = findServer(folder);
  const which = `The database in ${folder} has schema ${version}, this binary knows ${SCHEMA_VERSION}`;
  if (server === null)
    throw new StartupError(
      `${which}. Start the server once with this binary, which upgrades the database and keeps a copy. Nothing was changed.`,
    );
  const { note } = server;
  if (note === null)
    throw new StartupError(
      `${which}: a server that says nothing of itself holds it, of an earlier version or upgrading it just now. Wait, or restart it ` +
        'with this binary, which upgrades the database and keeps a copy. Nothing was changed.',
    );
  throw new StartupError(
    `${which}: the server that runs on it is of version ${note.version}, process ${note.pid}. Restart it with this binary, which ` +
      'upgrades the database and keeps a copy; or use the binary that it was started with. Nothing was changed.',
  );
}
