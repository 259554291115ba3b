/** Makes and checks backups: the database as of one moment, with the instance key and origin in an extra table. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { chmodSync, closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { INSTANCE_KEY_BYTES, instanceKey } from '../../core/instance-key.ts';
import { StartupError } from '../../core/startup-error.ts';
import { type DataFolder, noDatabaseIn, PRIVATE_FILE } from './data-folder.ts';
import { refuseLostDatabase, requireInstanceKey } from './instance-key-file.ts';
import { DATABASE_HEADER_BYTES, isDatabaseHeader, readHead } from './file-head.ts';
import { instanceIn } from './find-instance.ts';
import { SCHEMA_VERSION } from './migrate.ts';

export interface BackupOrigin {
  /** In epoch milliseconds. */
  readonly madeAt: number;
  readonly version: string;
}

export interface BackupContents extends BackupOrigin {
  readonly schemaVersion: number;
  /** Mark of its instance key. */
  readonly mark: number;
  /** Rows by table, without the backup's own table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly rowCount: number;
  /** Rows with a broken reference: none, unless a fault of ours let them in. */
  readonly danglingRows: number;
}

const TABLE = 'gatehouse_backup';
const FORMAT = 1;

/**
 * Copies a folder's database and key into a new file while others may write; until then their log cannot restart.
 *
 * @throws {StartupError} see `copyThrough`.
 */
export function copyForBackup(folder: DataFolder, into: string, origin: BackupOrigin): void {
  const source = new SqliteDatabase(folder.databasePath, { readwrite: true, create: false, strict: true });
  try {
    source.run('PRAGMA busy_timeout = 5000');
    copyThrough(source, folder, into, origin);
  } finally {
    source.close();
  }
}

/**
 * Copies through a connection to the folder's database, without freed pages. The copy is bound to its key, even if the
 * database, from before keys were bound, is not.
 *
 * @throws {StartupError} if there is no instance, or the folder's key belongs to another one.
 */
export function copyThrough(source: SqliteDatabase, folder: DataFolder, into: string, origin: BackupOrigin): void {
  const instance = instanceIn(source, folder.databasePath);
  if (instance === null) {
    refuseLostDatabase(folder);
    throw noDatabaseIn(folder.path);
  }
  const { key, secret } = requireInstanceKey(folder, instance.mark);
  rmSync(into, { force: true });
  rmSync(`${into}-journal`, { force: true });
  // New, private from its first byte, and no link: SQLite would use any empty file that somebody else put there.
  closeSync(openSync(into, 'wx', PRIVATE_FILE));
  source.prepare('VACUUM INTO ?').run(into);
  chmodSync(into, PRIVATE_FILE);
  const copy = new SqliteDatabase(into, { readwrite: true, create: false, strict: true });
  try {
    copy.run(`PRAGMA application_id = ${key.mark}`);
    copy.run(
      `CREATE TABLE ${TABLE} (format INTEGER NOT NULL, made_at INTEGER NOT NULL, version TEXT NOT NULL, instance_key BLOB NOT NULL) STRICT`,
    );
    copy
      .prepare(`INSERT INTO ${TABLE} (format, made_at, version, instance_key) VALUES (?, ?, ?, ?)`)
      .run(FORMAT, origin.madeAt, origin.version, secret);
  } finally {
    copy.close();
  }
}

/**
 * Checks a whole backup. @param name as the operator knows it.
 *
 * @throws {StartupError} where it is no backup, damaged, not whole, or newer than this binary.
 */
export function inspectBackup(path: string, name: string): BackupContents {
  requireSqlite(path, name);
  let sqlite: SqliteDatabase | undefined;
  try {
    sqlite = new SqliteDatabase(path, { readonly: true, strict: true });
    const { origin, secret } = originOf(sqlite, name);
    const { mark } = instanceKey(secret);
    if (numberOf(sqlite, 'application_id') !== mark)
      throw new StartupError(`The instance key in ${name} is that of another database. Take another backup.`);
    const schemaVersion = numberOf(sqlite, 'user_version');
    if (schemaVersion > SCHEMA_VERSION)
      throw new StartupError(
        `${name} has schema ${schemaVersion}, this binary knows ${SCHEMA_VERSION}: it was made by version ${origin.version}. ` +
          'Use that one, or a newer. Nothing was changed.',
      );
    const [problem] = sqlite.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all();
    if (problem?.integrity_check !== 'ok') throw damaged(name, problem?.integrity_check ?? 'it cannot be checked');
    const danglingRows = sqlite.query('PRAGMA foreign_key_check').all().length;
    const rows = countRows(sqlite);
    const rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0);
    return { ...origin, schemaVersion, mark, rows, rowCount, danglingRows };
  } catch (error) {
    throw String((error as { code?: unknown }).code).startsWith('SQLITE_')
      ? damaged(name, (error as Error).message, error)
      : error;
  } finally {
    sqlite?.close();
  }
}

/** Converts a verified backup back into a database and a separate key file. */
export function unpackBackup(path: string, keyPath: string): void {
  const sqlite = new SqliteDatabase(path, { readwrite: true, create: false, strict: true });
  try {
    const { secret } = originOf(sqlite, path);
    writeFileSync(keyPath, `${Buffer.from(secret).toString('base64url')}\n`, { mode: PRIVATE_FILE, flush: true });
    // Erases the key's bytes from the database.
    sqlite.run('PRAGMA secure_delete = ON');
    sqlite.run(`DROP TABLE ${TABLE}`);
  } finally {
    sqlite.close();
  }
}

function requireSqlite(path: string, name: string): void {
  const head = readHead(path, DATABASE_HEADER_BYTES);
  const { size } = statSync(path);
  if (!isDatabaseHeader(head))
    throw new StartupError(
      `${name} is no backup of Gatehouse${size === 0 ? ': it is empty' : ''}. Name a file that "gatehouse backup" has made.`,
    );
  const whole = (head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16)) * head.readUInt32BE(28);
  if (size < whole) throw damaged(name, `${size} of its ${whole} bytes are there`);
}

function originOf(sqlite: SqliteDatabase, name: string): { origin: BackupOrigin; secret: Uint8Array } {
  const tables = sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (!tables.some((table) => table.name === TABLE))
    throw new StartupError(
      `${name} is a database, but no backup of Gatehouse: there is no instance key in it. Name a file that "gatehouse backup" has made.`,
    );
  const row = sqlite.query(`SELECT * FROM ${TABLE}`).get() as {
    format: number;
    made_at: number;
    version: string;
    instance_key: Uint8Array;
  } | null;
  if (!row || row.instance_key.length !== INSTANCE_KEY_BYTES) throw damaged(name, 'the instance key is not whole');
  if (row.format > FORMAT)
    throw new StartupError(
      `${name} was made by version ${row.version}, in a form that this one does not know. Use that.`,
    );
  return { origin: { madeAt: row.made_at, version: row.version }, secret: row.instance_key };
}

function countRows(sqlite: SqliteDatabase): Record<string, number> {
  const tables = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .filter(({ name }) => name !== TABLE);
  return Object.fromEntries(
    tables.map(({ name }) => {
      const { rows } = sqlite.prepare(`SELECT count(*) AS rows FROM "${name}"`).get() as { rows: number };
      return [name, rows];
    }),
  );
}

function numberOf(sqlite: SqliteDatabase, pragma: 'application_id' | 'user_version'): number {
  return (sqlite.prepare(`PRAGMA ${pragma}`).get() as Record<string, number>)[pragma] ?? 0;
}

function damaged(name: string, reason: string, cause?: unknown): StartupError {
  return new StartupError(`${name} is damaged or not whole (${reason}). Take another backup; nothing was changed.`, {
    cause,
  });
}
