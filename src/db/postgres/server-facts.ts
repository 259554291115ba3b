/** Refuses a PostgreSQL server that is too old and a database in another encoding, and says who this client is there. */
import type { SQL } from 'bun';
import { StartupError } from '../../core/startup-error.ts';

const LEAST_SERVER = 15;

export interface ServerFacts {
  readonly version: number;
  readonly encoding: string;
  readonly user: string;
  /** Null if no schema of the search path exists. */
  readonly schema: string | null;
  readonly mayCreate: boolean | null;
}

/** @throws {StartupError} for a server that is too old, or a database in another encoding. */
export async function requireServer(sql: SQL): Promise<ServerFacts> {
  const [facts] = (await sql.unsafe(
    `SELECT CAST(current_setting('server_version_num') AS integer) AS version, getdatabaseencoding() AS encoding,
       current_user AS user, current_schema() AS schema,
       has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate"`,
  )) as [ServerFacts];
  const major = Math.trunc(facts.version / 10_000);
  if (major < LEAST_SERVER)
    throw new StartupError(`The database server is PostgreSQL ${major}; use ${LEAST_SERVER} or later.`);
  if (facts.encoding !== 'UTF8')
    throw new StartupError(
      `The database's encoding is ${facts.encoding}. Create one with: createdb --encoding UTF8 --template template0`,
    );
  return facts;
}
