/** Finds the instance in a PostgreSQL schema, and refuses a schema that cannot have one. */
import type { SQL } from 'bun';
import { StartupError } from '../../core/startup-error.ts';
import { findKeyMark } from './key-mark.ts';
import { requireNoMarks } from './move-marks.ts';
import {
  compatibility,
  findSchemaVersion,
  POSTGRES_SCHEMA_VERSION,
  refuseUnreadable,
  VERSION_TABLE,
} from './schema-version.ts';
import type { ServerFacts } from './server-facts.ts';

const MOST_NAMED = 3;

/** An instance in the schema that the database user works in. */
export interface FoundPostgresInstance {
  /** The last migration applied. */
  readonly schema: number;
  /** The mark of its instance key; 0 until a start has bound the two. */
  readonly mark: number;
}

/**
 * Finds the instance. @returns null for an empty schema in which this user may create one.
 *
 * @throws {StartupError} for a schema that is another program's, that this user may not change, that is too new, or whose
 * instance was moved.
 */
export async function findPostgresInstance(
  sql: SQL,
  { user, schema, mayCreate }: ServerFacts,
): Promise<FoundPostgresInstance | null> {
  await requireNoMarks(sql);
  const found = await findSchemaVersion(sql);
  refuseUnreadable(found);
  const instance = found.version === 0 ? null : { schema: found.version, mark: await findKeyMark(sql) };
  const isReady = instance !== null && instance.schema >= POSTGRES_SCHEMA_VERSION && instance.mark !== 0;
  if (!isReady && (schema === null || mayCreate !== true)) throw noRight(user);
  if (instance === null) await requireEmpty(sql);
  return instance;
}

/** Finds the instance that a command uses. @throws {StartupError} where there is none, or its schema is older. */
export async function requirePostgresInstance(sql: SQL): Promise<FoundPostgresInstance> {
  await requireNoMarks(sql);
  const { version, isReadable } = await compatibility(sql);
  if (version === 0)
    throw new StartupError('There is no Gatehouse in this database. Start a server on it first: gatehouse serve');
  if (!isReadable)
    throw new StartupError(
      `The database has schema ${version}, this binary knows ${POSTGRES_SCHEMA_VERSION}. ` +
        (version < POSTGRES_SCHEMA_VERSION ? 'Start a server with this binary first.' : 'Use the newer binary.'),
    );
  return { schema: version, mark: await findKeyMark(sql) };
}

/** Returns the refusal of a user without the right to create tables. */
export function noRight(user: string): StartupError {
  const role = /^[a-z_][a-z0-9_]*$/.test(user) ? user : `"${user.replaceAll('"', '""')}"`;
  return new StartupError(
    `${user} may not create tables. Run: CREATE SCHEMA gatehouse AUTHORIZATION ${role}; ALTER ROLE ${role} SET search_path = gatehouse;`,
  );
}

/**
 * Looks at one snapshot: the tables of an instance that migrates just now appear in it together with their version.
 *
 * @throws {StartupError} for a schema with tables of another program, those of extensions aside.
 */
async function requireEmpty(sql: SQL): Promise<void> {
  const tables = (await sql.unsafe(
    `SELECT relname AS name FROM pg_class c
     WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = c.oid AND deptype = 'e')
       AND NOT EXISTS (SELECT 1 FROM pg_class WHERE relname = '${VERSION_TABLE}' AND relnamespace = c.relnamespace)
     ORDER BY relname LIMIT ${MOST_NAMED}`,
  )) as { readonly name: string }[];
  if (tables.length > 0)
    throw new StartupError(
      `The database has tables of something else (${tables.map(({ name }) => name).join(', ')}). Give Gatehouse one of its own.`,
    );
}
