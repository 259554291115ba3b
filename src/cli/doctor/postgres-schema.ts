/** Checks the schema of a PostgreSQL database: its version, the rights of the role, and its instance key. */
import type { PostgresExamination } from '../../db/postgres/examination.ts';
import { type Finding, findingsOf } from './finding.ts';
import { refusalFindings } from './postgres-reach.ts';

const { ok, warn, fail } = findingsOf('schema');
const MOST_NAMED = 3;

export interface SchemaState {
  readonly findings: readonly Finding[];
  /** Whether the statements of this binary run on it. */
  readonly isReadable: boolean;
}

export async function schemaFindings(examination: PostgresExamination): Promise<SchemaState> {
  let check = 'database';
  try {
    const facts = await examination.requireServer();
    check = 'schema';
    const { version, isReadable } = await examination.findSchema(facts);
    const findings = [
      ...versionFindings(version, isReadable, examination.knownSchema, facts),
      ...(version === 0 ? [] : ownerFindings(await examination.foreignTables(), facts)),
      ...(await keyFindings(examination)),
    ];
    return { findings, isReadable };
  } catch (error) {
    return { findings: refusalFindings(check, error), isReadable: false };
  }
}

type Role = Pick<Awaited<ReturnType<PostgresExamination['requireServer']>>, 'schema' | 'user'>;

function versionFindings(version: number, isReadable: boolean, known: number, { schema, user }: Role): Finding[] {
  if (version === 0)
    return warn(
      `${user} may create the tables; there are none yet.`,
      'Start a server on this database: gatehouse serve',
    );
  if (version === known) return ok(`${version}, that of this binary, in the schema ${schema}.`);
  if (isReadable)
    return warn(
      `The database has schema ${version}, this binary knows ${known}: it still runs on it.`,
      'Finish the update: use the newer binary.',
    );
  return warn(
    `The database has schema ${version}, this binary knows ${known}: its contents were not checked.`,
    'Start one instance with this binary: it migrates the database, while the others keep serving.',
  );
}

function ownerFindings(tables: readonly string[], { user, schema }: Role): Finding[] {
  if (tables.length === 0) return [];
  const named = tables.slice(0, MOST_NAMED);
  return fail(
    `${tables.length} tables of the schema ${schema} do not belong to ${user}: ${named.join(', ')}${tables.length > MOST_NAMED ? ' and others' : ''}.`,
    `As their owner, run for each: ALTER TABLE … OWNER TO ${user}; or restore with pg_restore --no-owner --role=${user}.`,
  );
}

async function keyFindings(examination: PostgresExamination): Promise<Finding[]> {
  const key = findingsOf('instance key');
  try {
    const isBound = await examination.requireKey();
    return key.ok(isBound ? 'It belongs to the database.' : 'The first start binds it to the database.');
  } catch (error) {
    return refusalFindings('instance key', error);
  }
}
