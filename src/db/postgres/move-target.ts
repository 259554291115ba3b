/** The empty PostgreSQL database that an instance is moved into. A kill leaves it unfinished, and the next run goes on. */
import type { ReservedSQL, SQL } from 'bun';
import type { InstanceKey } from '../../core/instance-key.ts';
import { StartupError } from '../../core/startup-error.ts';
import { columnList, quotedName, removeSql } from '../move/sql.ts';
import type { MoveTarget, MovedRow, MovedSchema, MovedTable } from '../move/tables.ts';
import { sqlState } from './errors.ts';
import { noRight } from './find-instance.ts';
import { bindKey } from './key-mark.ts';
import { MIGRATION_LOCK, migratePostgres } from './migrate.ts';
import { createLeftOut, leaveOut } from './move-constraints.ts';
import { UNFINISHED_MOVE } from './move-marks.ts';
import { postgresMoveDialect, postgresRows, postgresSchema, type MoveStatements, valueOfCell } from './move-rows.ts';
import { POSTGRES_SCHEMA_VERSION, VERSION_TABLE } from './schema-version.ts';
import { requireServer } from './server-facts.ts';

export interface PostgresTargetOptions {
  readonly isMoved: (table: string) => boolean;
  readonly key: InstanceKey;
  readonly binaryVersion: string;
  /** Name of the database, without a password. */
  readonly shown: string;
}

/** First half of the advisory lock's key: "move" in ASCII. */
const LOCK_CLASS = 0x6d6f7665;

const UNTRANSLATABLE = '22021';

/** @throws {StartupError} where the schema holds something else than an unfinished move of the same instance. */
export async function openPostgresTarget(sql: SQL, options: PostgresTargetOptions): Promise<MoveTarget> {
  const { isMoved, key } = options;
  const { user, schema: name, mayCreate } = await requireServer(sql);
  if (name === null || mayCreate !== true) throw noRight(user);
  const guard = await sql.reserve();
  try {
    await takeLock(guard, options);
    await begin(sql, options);
    const schema = await postgresSchema(sql, isMoved);
    const withTriggers = await tablesWithTriggers(sql);
    const inTurn = queue();
    return {
      ...postgresRows(sql),
      schema,
      insert(table, rows) {
        const insert = () => insertRows(sql, table, rows);
        return withTriggers.has(table.name) ? inTurn(insert) : insert();
      },
      async remove(table, keys) {
        const { sql: text, values } = removeSql(postgresMoveDialect, table, keys);
        await sql.unsafe(text, [...values]);
      },
      createIndexes: () => createLeftOut(sql, ['unique', 'index']),
      async complete() {
        await createLeftOut(sql, ['foreign key']);
        await continueNumbers(sql, schema);
        await sql.unsafe('ANALYZE');
      },
      async activate() {
        await bindKey(sql, key);
        await sql.unsafe(`DROP TABLE ${UNFINISHED_MOVE}`);
      },
      close: () => release(guard),
    };
  } catch (error) {
    await release(guard);
    throw error;
  }
}

/** An open transaction holds the lock, through a pooler too, and a kill ends it. */
async function takeLock(guard: ReservedSQL, { shown }: PostgresTargetOptions): Promise<void> {
  await guard.unsafe('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  const [{ isFree }] = await guard.unsafe(
    `SELECT pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(current_schema())) AS "isFree"`,
  );
  if (!isFree) throw new StartupError(`Another move into ${shown} is running. Wait until it has ended.`);
}

async function release(guard: ReservedSQL): Promise<void> {
  await guard.unsafe('ROLLBACK').catch(() => {});
  guard.release();
}

/** Creates the tables, or goes on with the move that was begun. @throws {StartupError} */
async function begin(sql: SQL, options: PostgresTargetOptions): Promise<void> {
  // A server that starts on the same database either finds the mark, or has its tables found.
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await markUnfinished(transaction, options);
  });
  await migratePostgres(sql, { binaryVersion: options.binaryVersion });
  const [{ isPrepared }] = await sql.unsafe(`SELECT is_prepared AS "isPrepared" FROM ${UNFINISHED_MOVE}`);
  // Indexes that an earlier run has created stay; foreign keys would refuse differences that are copied now.
  await leaveOut(sql, isPrepared ? ['foreign key'] : ['unique', 'index', 'foreign key'], options.isMoved);
  await sql.unsafe(`UPDATE ${UNFINISHED_MOVE} SET is_prepared = true`);
}

/** @throws {StartupError} for a schema that holds something else. */
async function markUnfinished(sql: MoveStatements, { key, shown }: PostgresTargetOptions): Promise<void> {
  const relations: { name: string }[] = await sql.unsafe(
    `SELECT relname AS name FROM pg_class c
     WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p', 'v', 'm', 'f')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = c.oid AND deptype = 'e')
     ORDER BY relname`,
  );
  const names = relations.map(({ name }) => name);
  const isBegun = names.includes(UNFINISHED_MOVE);
  if (isBegun) await requireSameMove(sql, key.mark, shown);
  else if (names.includes(VERSION_TABLE))
    throw new StartupError(`${shown} already holds a Gatehouse instance. Name an empty database with --to.`);
  else if (names.length > 0)
    throw new StartupError(
      `${shown} is not empty: it holds ${names.slice(0, 3).join(', ')}. Name an empty database with --to.`,
    );
  else
    await sql.unsafe(
      `CREATE TABLE ${UNFINISHED_MOVE} (instance bigint NOT NULL, schema bigint NOT NULL, is_prepared boolean NOT NULL,
         left_out text NOT NULL);
       INSERT INTO ${UNFINISHED_MOVE} VALUES (${key.mark}, ${POSTGRES_SCHEMA_VERSION}, false, '[]')`,
    );
}

async function requireSameMove(sql: MoveStatements, instance: number, shown: string): Promise<void> {
  const [row] = await sql.unsafe(
    `SELECT CAST(instance AS text) AS instance, CAST(schema AS text) AS schema FROM ${UNFINISHED_MOVE}`,
  );
  if (Number(row.instance) === instance && Number(row.schema) === POSTGRES_SCHEMA_VERSION) return;
  throw new StartupError(
    `${shown} holds an unfinished move of another instance or version. Name an empty database with --to.`,
  );
}

/** Tables whose triggers write other rows. Two inserts that write the same ones in another order would deadlock. */
async function tablesWithTriggers(sql: SQL): Promise<ReadonlySet<string>> {
  const tables: { name: string }[] = await sql.unsafe(
    `SELECT DISTINCT c.relname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT t.tgisinternal`,
  );
  return new Set(tables.map(({ name }) => name));
}

/** Returns a function that runs work after all earlier work has ended. */
function queue(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => (last = last.catch(() => {}).then(work));
}

/** A killed run may still be inserting the same rows. The comparison finds rows that a conflict has left out. */
async function insertRows(sql: SQL, table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { name, columns } = table;
  const arrays = columns.map((_, at) => `CAST($${at + 1} AS text[])`);
  const cells = columns.map((_, at) => `c${at}`);
  const values = columns.map((column, at) => valueOfCell(`c${at}`, column));
  try {
    await sql.unsafe(
      `INSERT INTO ${quotedName(name)} (${columnList(columns)}) OVERRIDING SYSTEM VALUE
       SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS given(${cells.join(', ')})
       ON CONFLICT DO NOTHING`,
      columns.map((_, at) =>
        sql.array(
          rows.map((row) => row[at] ?? null),
          'TEXT',
        ),
      ),
    );
  } catch (error) {
    if (sqlState(error) !== UNTRANSLATABLE) throw error;
    throw new StartupError(`A text in ${name} contains the character U+0000, which PostgreSQL cannot store.`, {
      cause: error,
    });
  }
}

/** Continues the numbers that the database gives rows after those of the copied ones. */
async function continueNumbers(sql: SQL, { tables }: MovedSchema): Promise<void> {
  const numbered: { table: string; name: string }[] = await sql.unsafe(
    `SELECT c.relname AS "table", a.attname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND a.attidentity <> ''`,
  );
  for (const { table, name } of numbered.filter((one) => tables.some((known) => known.name === one.table)))
    await sql.unsafe(
      `SELECT setval(pg_get_serial_sequence($1, $2), (SELECT coalesce(max(${quotedName(name)}), 0) + 1 FROM ${quotedName(table)}), false)`,
      [quotedName(table), name],
    );
}
