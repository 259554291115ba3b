/** Version of a PostgreSQL database's schema, and whether this binary can run on it. */
import type { SQL } from 'bun';
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

/**
 * Reads it without an error that would end an open transaction. Asks `pg_class` itself: `to_regclass` answers from a
 * cache that a lock on no table does not renew, and missed a table created while this connection waited for its turn.
 */
export async function findSchemaVersion(sql: SQL): Promise<SchemaVersion> {
  const [table] = await sql.unsafe(
    `SELECT EXISTS (
       SELECT 1 FROM pg_class WHERE relname = '${VERSION_TABLE}' AND pg_table_is_visible(oid)) AS "exists"`,
  );
  if (!table.exists) return NO_SCHEMA;
  const [row] = await sql.unsafe(
    `SELECT CAST(max(version) AS text) AS version, CAST(max(readable_from) AS text) AS "readableFrom" FROM ${VERSION_TABLE}`,
  );
  return { version: Number(row.version), readableFrom: Number(row.readableFrom) };
}

/**
 * Returns whether a binary can run on the schema that the database has now. A running instance asks every few seconds,
 * since a newer one may have migrated it.
 */
export async function compatibility(sql: SQL, known = POSTGRES_SCHEMA_VERSION): Promise<Compatibility> {
  const found = await findSchemaVersion(sql);
  return { ...found, isReadable: found.version >= known && found.readableFrom <= known };
}
