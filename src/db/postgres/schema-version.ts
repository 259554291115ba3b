/** Version of a PostgreSQL database's schema, and whether this binary can run on it. */
import { StartupError } from '../../core/startup-error.ts';
import { POSTGRES_MIGRATIONS } from './migrations.ts';

/** One row for each migration applied. */
export const VERSION_TABLE = 'gatehouse_schema';

export interface SchemaVersion {
  /** 0 for a database without a schema. */
  readonly version: number;
  /** The oldest binary, by its schema, that may run on it. */
  readonly readableFrom: number;
}

export interface Compatibility extends SchemaVersion {
  /** Whether this binary may read and write; no longer once a newer one has contracted the schema. */
  readonly isReadable: boolean;
}

const NO_SCHEMA: SchemaVersion = { version: 0, readableFrom: 0 };

export const POSTGRES_SCHEMA_VERSION = Math.max(...POSTGRES_MIGRATIONS.map(({ version }) => version));

/** Runs a statement without values, as the driver does. */
export interface Queried {
  unsafe(text: string): PromiseLike<object[]>;
}

/**
 * Returns whether a table exists, without an error that would end an open transaction. Asks `pg_class` itself:
 * `to_regclass` answers from a cache that a lock on no table does not renew, and missed a table created while this
 * connection waited for its turn.
 */
export async function hasTable(sql: Queried, name: string): Promise<boolean> {
  const rows = await sql.unsafe(`SELECT 1 FROM pg_class WHERE relname = '${name}' AND pg_table_is_visible(oid)`);
  return rows.length > 0;
}

export async function findSchemaVersion(sql: Queried): Promise<SchemaVersion> {
  if (!(await hasTable(sql, VERSION_TABLE))) return NO_SCHEMA;
  const [row] = (await sql.unsafe(
    `SELECT CAST(max(version) AS text) AS version, CAST(max(readable_from) AS text) AS "readableFrom" FROM ${VERSION_TABLE}`,
  )) as [Readonly<Record<keyof SchemaVersion, string>>];
  return { version: Number(row.version), readableFrom: Number(row.readableFrom) };
}

/** @throws {StartupError} when a newer binary has migrated the database to a schema that this one cannot read. */
export function refuseUnreadable({ version, readableFrom }: SchemaVersion, known = POSTGRES_SCHEMA_VERSION): void {
  if (readableFrom > known)
    throw new StartupError(
      `The database has schema ${version}, this binary knows ${known}. Start the newer binary, or restore a backup.`,
    );
}

/**
 * Returns whether a binary can run on the schema that the database has now. A running instance asks every few seconds,
 * since a newer one may have migrated it.
 */
export async function compatibility(sql: Queried, known = POSTGRES_SCHEMA_VERSION): Promise<Compatibility> {
  const found = await findSchemaVersion(sql);
  return { ...found, isReadable: found.version >= known && found.readableFrom <= known };
}
