/** Leaves out indexes and constraints while rows are copied, and creates them afterwards. Kills lose none of them. */
import type { SQL } from 'bun';
import { StartupError } from '../../core/startup-error.ts';
import { quotedName } from '../move/sql.ts';
import { sqlState } from './errors.ts';
import { UNFINISHED_MOVE } from './move-marks.ts';
import type { MoveStatements } from './move-rows.ts';

type Kind = 'unique' | 'index' | 'foreign key';

interface Definition {
  readonly table: string;
  readonly kind: Kind;
  readonly drop: string;
  readonly create: string;
}

/** Unique constraints come first, as foreign keys refer to them. */
const ORDER: readonly Kind[] = ['unique', 'index', 'foreign key'];

const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Drops what is present of the given kinds, and keeps its definitions in the database until it is created again.
 * @param isMoved whether a table is copied. Triggers fill others meanwhile, and need their unique constraints.
 */
export async function leaveOut(sql: SQL, kinds: readonly Kind[], isMoved: (table: string) => boolean): Promise<void> {
  await sql.begin(async (transaction) => {
    const found = (await definitions(transaction)).filter(({ table, kind }) => kinds.includes(kind) && isMoved(table));
    const known = await readLeftOut(transaction);
    await writeLeftOut(transaction, [...known, ...found]);
    // Foreign keys first: they depend on the unique constraints.
    const drops = found.toReversed().map(({ drop }) => drop);
    if (drops.length > 0) await transaction.unsafe(drops.join(';\n'));
  });
}

/** Creates what was left out, table by table. @throws {StartupError} where rows of the source contradict a foreign key. */
export async function createLeftOut(sql: SQL, kinds: readonly Kind[]): Promise<void> {
  const isWanted = ({ kind }: Definition) => kinds.includes(kind);
  for (;;) {
    const leftOut = await readLeftOut(sql);
    const table = leftOut.find(isWanted)?.table;
    if (table === undefined) return;
    const isNext = (definition: Definition) => isWanted(definition) && definition.table === table;
    const next = leftOut.filter(isNext).map(({ create }) => create);
    await sql
      .begin(async (transaction) => {
        await transaction.unsafe(
          ["SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'", ...next].join(';\n'),
        );
        await writeLeftOut(
          transaction,
          leftOut.filter((definition) => !isNext(definition)),
        );
      })
      .catch((error: unknown) => {
        if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
        const { detail = table } = error as { readonly detail?: string };
        throw new StartupError(`A row of the source refers to a missing one: ${detail}`, { cause: error });
      });
  }
}

async function definitions(sql: MoveStatements): Promise<Definition[]> {
  const constraints: { table: string; name: string; type: string; definition: string }[] = await sql.unsafe(
    `SELECT c.relname AS "table", k.conname AS name, k.contype AS type, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND k.contype IN ('f', 'u')
       AND c.relname NOT LIKE 'gatehouse\\_%'
     ORDER BY c.relname, k.conname`,
  );
  const indexes: { table: string; name: string; definition: string }[] = await sql.unsafe(
    `SELECT c.relname AS "table", n.relname AS name, pg_get_indexdef(i.indexrelid) AS definition
     FROM pg_index i
     JOIN pg_class n ON n.oid = i.indexrelid
     JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relname NOT LIKE 'gatehouse\\_%'
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
     ORDER BY n.relname`,
  );
  const found = [
    ...constraints.map(({ table, name, type, definition }): Definition => {
      const change = `ALTER TABLE ${quotedName(table)}`;
      return {
        table,
        kind: type === 'f' ? 'foreign key' : 'unique',
        drop: `${change} DROP CONSTRAINT ${quotedName(name)}`,
        create: `${change} ADD CONSTRAINT ${quotedName(name)} ${definition}`,
      };
    }),
    ...indexes.map(({ table, name, definition }): Definition => ({
      table,
      kind: 'index',
      drop: `DROP INDEX ${quotedName(name)}`,
      create: definition,
    })),
  ];
  return ORDER.flatMap((kind) => found.filter((one) => one.kind === kind));
}

async function readLeftOut(sql: MoveStatements): Promise<Definition[]> {
  const [row] = await sql.unsafe(`SELECT left_out AS "leftOut" FROM ${UNFINISHED_MOVE}`);
  return JSON.parse(row.leftOut) as Definition[];
}

async function writeLeftOut(sql: MoveStatements, definitionsLeft: readonly Definition[]): Promise<void> {
  await sql.unsafe(`UPDATE ${UNFINISHED_MOVE} SET left_out = $1`, [JSON.stringify(definitionsLeft)]);
}
