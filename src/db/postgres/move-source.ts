/** The PostgreSQL database that an instance is moved out of. */
import type { ReservedSQL, SQL } from 'bun';
import { StartupError } from '../../core/startup-error.ts';
import { quotedName } from '../move/sql.ts';
import type { MoveSource, RowReader } from '../move/tables.ts';
import { sqlState } from './errors.ts';
import { findKeyMark, requireDatabaseKey } from './key-mark.ts';
import { markMovedAway, moveMarks, movedAway } from './move-marks.ts';
import { postgresRows, postgresSchema } from './move-rows.ts';
import { POSTGRES_SCHEMA_VERSION } from './schema-version.ts';

export interface PostgresSourceOptions {
  readonly isMoved: (table: string) => boolean;
  /** Bytes of the instance key; null if none is given. */
  readonly keyBytes: Uint8Array | null;
  /** Name of the target, as the marker shows it. */
  readonly to: string;
}

/** Lock time-out, deadlock. */
const TRY_AGAIN: readonly unknown[] = ['55P03', '40P01'];
/** Changes queue behind the lock for as long. */
const LOCK_MS = 2000;
const PAUSE_MS = 500;

/** @throws {StartupError} where it is no instance of this binary's schema, or was moved elsewhere. */
export async function openPostgresSource(
  sql: SQL,
  { isMoved, keyBytes, to }: PostgresSourceOptions,
): Promise<MoveSource> {
  const schema = await postgresSchema(sql, isMoved);
  if (schema.version === 0) throw new StartupError('There is no Gatehouse instance in this database.');
  if (schema.version !== POSTGRES_SCHEMA_VERSION)
    throw new StartupError(
      `The database has schema ${schema.version}, this binary knows ${POSTGRES_SCHEMA_VERSION}. Move with the binary that serves it.`,
    );
  await requireSource(sql, to);
  const mark = await findKeyMark(sql);
  const key = requireDatabaseKey(keyBytes, mark);
  let frozen: ReservedSQL | null = null;

  /** Locks every table that moves. @returns whether none was locked by others for too long. */
  async function lockTables(connection: ReservedSQL): Promise<boolean> {
    const names = schema.tables.map(({ name }) => quotedName(name)).join(', ');
    try {
      await connection.unsafe(
        `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0;
         SET LOCAL lock_timeout = ${LOCK_MS}; LOCK TABLE ${names} IN SHARE ROW EXCLUSIVE MODE`,
      );
      return true;
    } catch (error) {
      await connection.unsafe('ROLLBACK');
      if (!TRY_AGAIN.includes(sqlState(error))) throw error;
      return false;
    }
  }

  async function inSnapshot<Result>(work: (rows: RowReader) => Promise<Result>): Promise<Result> {
    if (frozen !== null) return work(postgresRows(frozen));
    const connection = await sql.reserve();
    try {
      await connection.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0');
      return await work(postgresRows(connection));
    } finally {
      await connection.unsafe('ROLLBACK');
      connection.release();
    }
  }

  return {
    schema,
    key,
    keyBytes: keyBytes ?? new Uint8Array(),
    get isLive() {
      return frozen === null;
    },
    snapshot: inSnapshot,
    async freeze(onWait) {
      const connection = await sql.reserve();
      for (let attempt = 1; !(await lockTables(connection)); attempt += 1) {
        if (attempt === 1) onWait();
        await Bun.sleep(PAUSE_MS);
      }
      frozen = connection;
      await requireSource(connection, to);
    },
    async retire() {
      if (frozen === null) throw new Error('the source is not frozen');
      if ((await moveMarks(frozen)).movedTo === null) await markMovedAway(frozen, schema.tables, to);
      await frozen.unsafe('COMMIT');
    },
    async close() {
      await frozen?.unsafe('ROLLBACK').catch(() => {});
      frozen?.release();
      frozen = null;
    },
  };
}

/** A move that was killed after its marker goes on. @throws {StartupError} */
async function requireSource(sql: Pick<SQL, 'unsafe'>, to: string): Promise<void> {
  const { isUnfinished, movedTo } = await moveMarks(sql);
  if (isUnfinished)
    throw new StartupError('This database holds an unfinished move, not an instance. Finish that first.');
  if (movedTo !== null && movedTo !== to) throw movedAway(movedTo);
}
