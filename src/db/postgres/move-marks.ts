/** Marks in a PostgreSQL database that it is no instance yet, because a move into it is unfinished, or no longer one. */
import { StartupError } from '../../core/startup-error.ts';
import { quotedName } from '../move/sql.ts';
import type { MovedTable } from '../move/tables.ts';
import type { MoveStatements } from './move-rows.ts';

/** Table of an unfinished move into the database. */
export const UNFINISHED_MOVE = 'gatehouse_move';

/** Function that refuses changes of an instance that was moved away; its comment says where to. */
const MOVED_AWAY = 'gatehouse_moved';

interface Marks {
  readonly isUnfinished: boolean;
  readonly movedTo: string | null;
}

export async function moveMarks(sql: MoveStatements): Promise<Marks> {
  const [row] = await sql.unsafe(
    `SELECT to_regclass('${UNFINISHED_MOVE}') IS NOT NULL AS "isUnfinished",
       obj_description(to_regproc('${MOVED_AWAY}'), 'pg_proc') AS "movedTo"`,
  );
  return row as Marks;
}

/** @throws {StartupError} for a database that a server must not use, since its instance is elsewhere. */
export async function requireNoMarks(sql: MoveStatements): Promise<void> {
  const { isUnfinished, movedTo } = await moveMarks(sql);
  if (isUnfinished)
    throw new StartupError('A move into this database is unfinished. Run it again, or name another database.');
  if (movedTo !== null) throw movedAway(movedTo);
}

/** The way back is one statement: it drops the triggers too. */
export function movedAway(to: string): StartupError {
  return new StartupError(
    `This instance was moved to ${to}: serve that. To go back to the state before, run: DROP FUNCTION ${MOVED_AWAY}() CASCADE`,
  );
}

/**
 * Lets the database refuse changes of the tables, as a standby does, so that servers answer 503. Runs in the transaction
 * that has the tables locked: no change comes between.
 */
export async function markMovedAway(sql: MoveStatements, tables: readonly MovedTable[], to: string): Promise<void> {
  await sql.unsafe(
    [
      `CREATE FUNCTION ${MOVED_AWAY}() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'this instance was moved' USING ERRCODE = 'read_only_sql_transaction'; END $$`,
      `COMMENT ON FUNCTION ${MOVED_AWAY}() IS '${to.replaceAll("'", "''")}'`,
      ...tables.map(
        ({ name }) =>
          `CREATE TRIGGER ${MOVED_AWAY} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${quotedName(name)}
           FOR EACH STATEMENT EXECUTE FUNCTION ${MOVED_AWAY}()`,
      ),
    ].join(';\n'),
  );
}
