/** A real database for a test, on the engine of this run. */
import type { Database as SqliteDatabase } from 'bun:sqlite';
import type { Clock } from '../../src/core/clock.ts';
import { CONNECTION, type Database, type Reader } from '../../src/db/database.ts';
import { ENGINE } from './engine.ts';
import { postgresDatabases } from './postgres-instances.ts';
import { sqliteDatabases } from './sqlite-instances.ts';

export { freshDatabaseFile } from './sqlite-instances.ts';

export interface TestDatabase {
  readonly db: Database;
  /** The test's own connection to the same database, to read and insert rows. */
  readonly sqlite: SqliteDatabase;
  readonly path: string;
}

/** Opens a database without rows until the end of the test or, outside of tests, of the file. */
export async function openTestDatabase(clock: Clock): Promise<TestDatabase> {
  const { db, rows, name } =
    ENGINE === 'postgres' ? await postgresDatabases.lease(clock) : await sqliteDatabases.lease(clock);
  return { db, sqlite: rows as unknown as SqliteDatabase, path: name };
}

/** Opens a further engine on the database of an instance, as another instance on PostgreSQL does. */
export function openBeside(name: string, clock: Clock): Promise<Database> {
  return postgresDatabases.leaseBeside(name, clock);
}

/** Returns a reader that counts its statements. */
export function countingReader(reader: Reader): { reader: Reader; count(): number } {
  const connection = reader[CONNECTION];
  let statements = 0;
  const enter = () => {
    statements += 1;
    connection.enter();
  };
  return { reader: { [CONNECTION]: { ...connection, enter } }, count: () => statements };
}
