/** The product's dependencies on the outside world, which tests can replace, and their production builder. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type AdjustableClock, type Clock, systemClock, type WorldClock } from './core/clock.ts';
import type { Deadline } from './core/deadline.ts';
import type { InstanceKey } from './core/instance-key.ts';
import { type Random, systemRandom } from './core/random.ts';
import { StartupError } from './core/startup-error.ts';
import { waitForRelock, requireCurrentSchema, removeStaleNote } from './db/sqlite/running-server.ts';
import {
  type DataFolder,
  type FolderLock,
  lockDataFolder,
  noDatabaseIn,
  openDataFolder,
  pathsIn,
} from './db/sqlite/data-folder.ts';
import type { Database } from './db/database.ts';
import { folderError } from './db/sqlite/folder-error.ts';
import { openInstanceKey } from './db/sqlite/instance-key-file.ts';
import { findWalLoss } from './db/sqlite/wal-check.ts';
import { findInstance, migrate } from './db/sqlite/migrate.ts';
import { openEngine, openSqlite } from './db/sqlite/open.ts';
import { finishRestore, isRestorePending } from './db/sqlite/atomic-restore.ts';
import { upgradeData } from './db/sqlite/upgrade.ts';
import type { AccessLog } from './http/access-log.ts';
import type { CertificateWatch } from './http/certificate-watch.ts';
import type { PeerAddress } from './http/request-context.ts';
import type { Outbox } from './mail/outbox.ts';
import { smtpTransport } from './mail/smtp.ts';
import type { InstanceIdentity } from './modules/health/facts.ts';
import type { GuardedFetch } from './outbound/guarded-fetch.ts';
import type { MailTransport } from './mail/transport.ts';
import { databaseLog } from './database-log.ts';
import { writeProbe } from './store/rate-counters.ts';
import { VERSION } from './version.ts';

export interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** Identifies this instance as the holder of leases; the same after a restart on its data folder. */
  readonly leaseHolder: string;
  readonly mail: MailTransport | Outbox;
  /** The only way to request addresses supplied by others (SSRF protection). */
  readonly outbound: GuardedFetch;
  readonly log: Logger;
  readonly accessLog: AccessLog;
  /** Address at which this server is reached, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly peerAddress: PeerAddress;
  /** Keeps a connection open without traffic from the client. */
  readonly keepOpen: (request: Request) => void;
  readonly isStopping: () => boolean;
  /** The certificate for https; absent if this server speaks plain http, such as behind a TLS-terminating proxy. */
  readonly certificate?: CertificateWatch | null;
  /** Identifies this server to commands on the same machine, which do not find it without. */
  readonly identity?: InstanceIdentity | null;
  /** Present in ephemeral instances only, where it enables the test endpoints. */
  readonly testClock: AdjustableClock | null;
}

/** A data folder opened by one process, with its key loaded. A server also migrates it. */
export interface OpenedData {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** The copy made before an upgrade, if there was one. */
  readonly upgradeCopy: string | null;
  /** True if the previous server did not stop cleanly. */
  readonly isAfterCrash: boolean;
  close(deadline?: Deadline): Promise<void>;
}

/** How a folder is opened: by default durably, for a server. */
export interface OpenDataOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** False for a folder that is deleted on exit. */
  readonly isDurable?: boolean;
  /** True for a server, which locks the folder; false for a command running alongside it. */
  readonly isServer?: boolean;
  /** Statements that take at least this long are logged; without it, none is timed. */
  readonly slowStatementMs?: number;
  readonly log?: Logger;
}

/** Opens a data folder. Everything that can refuse does so before anything is changed. @throws {StartupError} */
export async function openData(
  path: string,
  {
    clock = systemClock,
    random = systemRandom,
    isDurable = true,
    isServer = true,
    slowStatementMs,
    log,
  }: OpenDataOptions = {},
): Promise<OpenedData> {
  if (!isServer) requireNoRestore(path);
  // A command needs an existing database: a wrong --data must not leave a new folder behind.
  if (!isServer && !existsSync(pathsIn(path).databasePath)) throw noDatabaseIn(path);
  const folder: DataFolder = openDataFolder(path);
  const told = databaseLog(folder.databasePath, log);
  let lock: FolderLock | null = null;
  try {
    if (isServer) await waitForRelock(folder.path);
    lock = isServer ? lockDataFolder(folder, told.onLockRemade) : null;
    const isAfterCrash = lock !== null && removeStaleNote(folder.path);
    if (isServer) finishRestore(folder.path);
    const damage = isServer ? told.logLoss(findWalLoss(folder.databasePath, clock.now())) : null;
    const instance = findInstance(folder.databasePath);
    if (!isServer && instance === null) throw noDatabaseIn(path);
    if (!isServer) requireCurrentSchema(folder.path, folder.databasePath);
    const { key, bindTo } = openInstanceKey(folder, instance, random);
    const upgrade = { clock, version: VERSION, isDurable, report: (line: string) => log?.info(line) };
    const copy = instance && (await upgradeData(folder, instance.schema, upgrade));
    const sqlite = openSqlite(folder.databasePath, { isDurable });
    migrate(sqlite, folder.databasePath);
    bindTo(sqlite);
    const db = await openEngine(sqlite, folder.databasePath, {
      clock,
      isDurable,
      isServer,
      ...(slowStatementMs !== undefined && {
        slow: {
          thresholdMs: slowStatementMs,
          report: (sql, ms) => log?.warn({ durationMs: Math.round(ms), sql }, 'a statement was slow'),
        },
      }),
      probe: writeProbe,
      damage,
      ...(lock && { isFolderHeld: lock.isHeld }),
      ...told.engine,
    });
    return {
      db,
      instanceKey: key,
      upgradeCopy: copy,
      isAfterCrash,
      async close(deadline) {
        await db.close(deadline);
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    if (error instanceof StartupError) throw error;
    throw folderError(error, folder.databasePath) ?? error;
  }
}

/** @throws {StartupError} during an unfinished restore, when the folder may hold files of two instances. */
export function requireNoRestore(path: string): void {
  if (isRestorePending(path))
    throw new StartupError(
      `A restore into ${resolve(path)} is under way, or was stopped in the middle. Wait for it, or start the server: it finishes it.`,
    );
}

/** Returns the SMTP transport if one is configured, else the embedded outbox. */
export function mailWay(config: Config, baseUrl: string, onCapture: Outbox['onCapture']): MailTransport | Outbox {
  if (config.smtpUrl === null) return { onCapture };
  const from = config.mailFrom ?? `Gatehouse <no-reply@${new URL(baseUrl).hostname}>`;
  return smtpTransport({ url: config.smtpUrl, from });
}
