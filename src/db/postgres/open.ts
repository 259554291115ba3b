/**
 * Opens a PostgreSQL database. Each step is one call below, and refuses what it names before anything is changed:
 * server (away, a standby, no sign-in, no TLS) → its version and encoding → schema (another program's tables, no right to
 * create tables, too new) → key (missing, another instance's) → migration → binding of the key → engine.
 */
import type { SQL } from 'bun';
import { type Clock, SECOND } from '../../core/clock.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import type { OpenedData } from '../opened-data.ts';
import type { PostgresSettings } from './address.ts';
import { lanesOf } from './clients.ts';
import { openPostgresEngine, type PostgresEngineOptions } from './engine.ts';
import { findPostgresInstance, requirePostgresInstance } from './find-instance.ts';
import { bindKey, requireDatabaseKey } from './key-mark.ts';
import { migratePostgres } from './migrate.ts';
import { requireNoMarks } from './move-marks.ts';
import { connectOptions, lostDuringStart, type Patience, reachPrimary } from './reach.ts';
import { requireServer } from './server-facts.ts';

export interface PostgresOpenOptions extends Pick<PostgresEngineOptions, 'slow'> {
  readonly clock: Clock;
  readonly random: Random;
  /** Version of this binary. */
  readonly version: string;
  /** A server migrates the database; a command needs a schema that it can use. */
  readonly isServer: boolean;
  /** Longest wait for a server that is away. */
  readonly waitMs?: number;
  readonly events: Pick<Patience, 'onWaiting'> &
    NonNullable<PostgresEngineOptions['events']> & {
      /** Called before each migration, from 1. */
      onMigration(step: number, steps: number): void;
    };
}

const SERVER_WAIT_MS = 30 * SECOND;
const COMMAND_WAIT_MS = 3 * SECOND;
const COMMAND_POOL = 4;
const HOLDER_BYTES = 9;

/** Opens the database. @throws {StartupError} with the remedy */
export async function openPostgres(settings: PostgresSettings, options: PostgresOpenOptions): Promise<OpenedData> {
  const { isServer, events } = options;
  const { waitMs = isServer ? SERVER_WAIT_MS : COMMAND_WAIT_MS } = options;
  const sql = await reachPrimary(settings.address, { waitMs, onWaiting: events.onWaiting });
  try {
    const prepare = isServer ? prepareForServer : prepareForCommand;
    return await openPrepared(await prepare(sql, settings, options), settings, options);
  } catch (error) {
    throw lostDuringStart(error, settings.address);
  } finally {
    await sql.close({ timeout: 0 }).catch(() => {});
  }
}

async function openPrepared(
  instanceKey: InstanceKey,
  { address, pool }: PostgresSettings,
  options: PostgresOpenOptions,
): Promise<OpenedData> {
  const { isServer, random } = options;
  const lanes = lanesOf(isServer ? pool : COMMAND_POOL);
  const db = await openPostgresEngine({ ...options, ...connectOptions(address), lanes });
  return {
    db,
    instanceKey,
    // Every instance is equal: leases of one that has ended run out, and no restart takes them up.
    leaseHolder: Buffer.from(random.bytes(HOLDER_BYTES)).toString('base64url'),
    upgradeCopy: null,
    isAfterCrash: false,
    notes: null,
    explained: (error) => lostDuringStart(error, address),
    close: (deadline) => db.close(deadline),
  };
}

async function prepareForServer(
  sql: SQL,
  { keyBytes }: PostgresSettings,
  { version, events }: PostgresOpenOptions,
): Promise<InstanceKey> {
  const instance = await findPostgresInstance(sql, await requireServer(sql));
  const key = requireDatabaseKey(keyBytes, instance?.mark ?? 0);
  await migratePostgres(sql, { binaryVersion: version, begin: events.onMigration });
  // A move into the database may have begun meanwhile.
  await requireNoMarks(sql);
  await bindKey(sql, key);
  return key;
}

async function prepareForCommand(sql: SQL, { keyBytes }: PostgresSettings): Promise<InstanceKey> {
  const { mark } = await requirePostgresInstance(sql);
  return requireDatabaseKey(keyBytes, mark);
}
