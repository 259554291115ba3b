/** Creates databases of ephemeral instances, named by their time, and drops those of instances that were killed. */
import type { SQL } from 'bun';
import { type Clock, MINUTE, SECOND } from '../../core/clock.ts';
import { INSTANCE_KEY_BYTES } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { PostgresAddress, PostgresSettings } from './address.ts';
import { sqlState } from './errors.ts';
import { reachPrimary } from './reach.ts';

export interface EphemeralDatabase {
  readonly settings: PostgresSettings;
  /** Drops the database, whoever is connected to it. */
  drop(): Promise<void>;
}

const NAME = /^gatehouse_ephemeral_(\d{1,15})_[a-z]+$/;
const SUFFIX = 8;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const WAIT_MS = 3 * SECOND;
/** Far longer than a new instance takes until it is connected. */
const STARTING_MS = MINUTE;

const NO_RIGHT = '42501';

/** Creates a database on the server of `settings`. @throws {StartupError} with the remedy */
export async function makeEphemeralDatabase(
  settings: PostgresSettings,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<EphemeralDatabase> {
  const { address, keyBytes } = settings;
  if (address.isBouncer)
    throw new StartupError('Give --ephemeral the address of the server itself: PgBouncer does not know new databases.');
  const name = `gatehouse_ephemeral_${clock.now()}_${random.text(LETTERS, SUFFIX)}`;
  await connected(address, async (sql) => {
    await dropStale(sql, clock.now());
    await create(sql, name, address);
  });
  return {
    settings: { ...settings, address: beside(address, name), keyBytes: keyBytes ?? random.bytes(INSTANCE_KEY_BYTES) },
    drop: () => connected(address, (sql) => sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function connected(address: PostgresAddress, work: (sql: SQL) => Promise<unknown>): Promise<void> {
  const sql = await reachPrimary(address, { waitMs: WAIT_MS, onWaiting() {} });
  try {
    await work(sql);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

async function create(sql: SQL, name: string, { shown }: PostgresAddress): Promise<void> {
  try {
    await sql.unsafe(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  } catch (cause) {
    if (sqlState(cause) !== NO_RIGHT) throw cause;
    throw new StartupError(
      `The user of ${shown} may not create databases, as --ephemeral does. Run: ALTER ROLE … CREATEDB;`,
      { cause },
    );
  }
}

/** Drops databases that nobody is connected to. Failures are ignored: no start fails for them. */
async function dropStale(sql: SQL, now: number): Promise<void> {
  const rows = (await sql.unsafe(
    `SELECT datname AS name FROM pg_database
     WHERE starts_with(datname, 'gatehouse_ephemeral_') AND pg_has_role(datdba, 'USAGE')`,
  )) as { readonly name: string }[];
  for (const { name } of rows) {
    const createdAt = NAME.exec(name)?.[1];
    if (createdAt === undefined || Number(createdAt) > now - STARTING_MS) continue;
    // Refused by the server while an instance is connected.
    await sql.unsafe(`DROP DATABASE IF EXISTS ${name}`).catch(() => {});
  }
}

/** Returns the address of another database on the same servers. */
function beside(address: PostgresAddress, name: string): PostgresAddress {
  const urls = address.urls.map((text) => Object.assign(new URL(text), { pathname: name }).href);
  return { ...address, urls, shown: address.shown.replace(/\/.*$/, `/${name}`) };
}
