/** Examines a PostgreSQL database step by step, for `gatehouse doctor`: each step fails with a remedy of its own. */
import type { SQL } from 'bun';
import { systemClock } from '../../core/clock.ts';
import { systemRandom } from '../../core/random.ts';
import type { Database } from '../database.ts';
import type { PostgresAddress, PostgresSettings } from './address.ts';
import { connectPrimary, lanesOf, SERVER_SETTINGS } from './clients.ts';
import { openPostgresEngine } from './engine.ts';
import { findPostgresInstance } from './find-instance.ts';
import { findKeyMark, requireDatabaseKey } from './key-mark.ts';
import { connectOptions, reachPrimary } from './reach.ts';
import { type Compatibility, compatibility, POSTGRES_SCHEMA_VERSION } from './schema-version.ts';
import { requireServer, type ServerFacts } from './server-facts.ts';

const CONNECTIONS = 4;

export interface PostgresExamination {
  /** Schema that this binary's statements need. */
  readonly knownSchema: number;
  /** Returns whether the connection is encrypted. Behind a pooler it is the pooler's own. */
  isEncrypted(): Promise<boolean>;
  /** Returns whether the server has the settings that this connection asks for. A pooler between may drop them. */
  hasOwnSettings(): Promise<boolean>;
  /** Returns whether a connection with settings reaches the server, as none does through PgBouncer. */
  acceptsSettings(): Promise<boolean>;
  /** @throws {StartupError} for a server that is too old, or a database in another encoding. */
  requireServer(): Promise<ServerFacts>;
  /** @throws {StartupError} for a schema that this role or this binary cannot use. */
  findSchema(facts: ServerFacts): Promise<Compatibility>;
  /** Returns the tables of the schema whose owner this role is not. */
  foreignTables(): Promise<readonly string[]>;
  /** Returns whether a key is bound yet. @throws {StartupError} if the key is missing, or another instance's */
  requireKey(): Promise<boolean>;
  open(): Promise<Database>;
  close(): Promise<void>;
}

/** Connects without a wait. @throws {StartupError} with the remedy */
export async function examinePostgres({ address, keyBytes }: PostgresSettings): Promise<PostgresExamination> {
  const sql = await reachPrimary(address, { waitMs: 0, onWaiting() {} });
  return {
    knownSchema: POSTGRES_SCHEMA_VERSION,
    async isEncrypted() {
      const [row] = (await sql.unsafe('SELECT ssl AS "isEncrypted" FROM pg_stat_ssl WHERE pid = pg_backend_pid()')) as {
        readonly isEncrypted: boolean;
      }[];
      return row?.isEncrypted === true;
    },
    hasOwnSettings: () => hasOwnSettings(sql),
    acceptsSettings: () => acceptsSettings(address),
    requireServer: () => requireServer(sql),
    async findSchema(facts) {
      await findPostgresInstance(sql, facts);
      return compatibility(sql);
    },
    foreignTables: () => foreignTables(sql),
    async requireKey() {
      const mark = await findKeyMark(sql);
      requireDatabaseKey(keyBytes, mark);
      return mark !== 0;
    },
    open: () =>
      openPostgresEngine({
        ...connectOptions(address),
        lanes: lanesOf(CONNECTIONS),
        clock: systemClock,
        random: systemRandom,
      }),
    close: () => sql.close({ timeout: 0 }).catch(() => {}),
  };
}

async function hasOwnSettings(sql: SQL): Promise<boolean> {
  const [row] = (await sql.unsafe(
    `SELECT CAST(setting AS bigint) = ${SERVER_SETTINGS.statement_timeout} AS "isKept"
     FROM pg_settings WHERE name = 'statement_timeout'`,
  )) as { readonly isKept: boolean }[];
  return row?.isKept === true;
}

async function acceptsSettings(address: PostgresAddress): Promise<boolean> {
  const direct = await connectPrimary({ ...connectOptions(address), isBouncer: false }, 1).catch(() => null);
  if (direct === null) return false;
  return hasOwnSettings(direct.client).finally(() => direct.client.close({ timeout: 0 }).catch(() => {}));
}

/** A restore by another role leaves such tables. Those of extensions are left out. */
async function foreignTables(sql: SQL): Promise<readonly string[]> {
  const tables = (await sql.unsafe(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r'
       AND NOT pg_has_role(relowner, 'USAGE')
       AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
     ORDER BY relname`,
  )) as { readonly name: string }[];
  return tables.map(({ name }) => name);
}
