/** The world the product runs in, handed in from outside so that tests can build another; and its production builder. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type AdjustableClock, type Clock, systemClock, type WorldClock } from './core/clock.ts';
import type { Deadline } from './core/deadline.ts';
import type { InstanceKey } from './core/instance-key.ts';
import { type Random, systemRandom } from './core/random.ts';
import { StartupError } from './core/startup-error.ts';
import { letServerRelock, requirePresentSchema, takeLeftNote } from './db/beside-server.ts';
import {
  type DataFolder,
  type FolderLock,
  lockDataFolder,
  noDatabaseIn,
  openDataFolder,
  pathsIn,
} from './db/data-folder.ts';
import type { Database } from './db/database.ts';
import { folderTrouble } from './db/folder-trouble.ts';
import { openInstanceKey } from './db/instance-key-file.ts';
import { findLogLoss } from './db/log-look.ts';
import { findInstance, migrate } from './db/migrate.ts';
import { openEngine, openSqlite } from './db/open.ts';
import { finishRestore, isRestorePending } from './db/restored-folder.ts';
import { upgradeData } from './db/upgrade.ts';
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

/** All that the product uses of the world outside. */
export interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly clock: WorldClock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly mail: MailTransport | Outbox;
  /** The one way out to addresses that others have given. */
  readonly outbound: GuardedFetch;
  readonly log: Logger;
  readonly accessLog: AccessLog;
  /** Where this server is reached, without a trailing slash. */
  readonly baseUrl: () => string;
  readonly peerAddress: PeerAddress;
  /** Lets a connection stay open without traffic from the client. */
  readonly keepOpen: (request: Request) => void;
  readonly isStopping: () => boolean;
  /** That https is spoken with; none where it ends before this server. */
  readonly certificate?: CertificateWatch | null;
  /** For commands beside this server; without, they do not find it. */
  readonly identity?: InstanceIdentity | null;
  /** Given in an ephemeral instance only; its presence opens the test endpoints. */
  readonly testClock: AdjustableClock | null;
}

/** A data folder opened for one process, with its key loaded; by a server it is migrated. */
export interface OpenedData {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** The copy made before an upgrade, if there was one. */
  readonly upgradeCopy: string | null;
  /** The server before this one did not come to its end in order. */
  readonly isAfterCrash: boolean;
  close(deadline?: Deadline): Promise<void>;
}

/** How a folder is opened; for a server, durably, unless said otherwise. */
export interface OpenDataOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** False where the folder is thrown away on exit. */
  readonly isDurable?: boolean;
  /** A server holds the folder alone; a command beside it does not. */
  readonly isServer?: boolean;
  /** Statements that take as long are logged; without it, none is timed. */
  readonly slowStatementMs?: number;
  readonly log?: Logger;
}

/**
 * Opens a data folder. Everything that can refuse does so before anything is changed.
 *
 * @throws {StartupError}
 */
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
  // A command beside the server works on what a server has made; a wrong --data must not leave a new folder behind.
  if (!isServer && !existsSync(pathsIn(path).databasePath)) throw noDatabaseIn(path);
  const folder: DataFolder = openDataFolder(path);
  const told = databaseLog(folder.databasePath, log);
  let lock: FolderLock | null = null;
  try {
    if (isServer) await letServerRelock(folder.path);
    lock = isServer ? lockDataFolder(folder, told.onLockRemade) : null;
    const isAfterCrash = lock !== null && takeLeftNote(folder.path);
    if (isServer) finishRestore(folder.path);
    const damage = isServer ? told.logLoss(findLogLoss(folder.databasePath, clock.now())) : null;
    const instance = findInstance(folder.databasePath);
    if (!isServer && instance === null) throw noDatabaseIn(path);
    if (!isServer) requirePresentSchema(folder.path, folder.databasePath);
    const { key, bindTo } = openInstanceKey(folder, instance, random);
    const upgrade = { clock, version: VERSION, isDurable, tell: (line: string) => log?.info(line) };
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
          fromMs: slowStatementMs,
          tell: (sql, ms) => log?.warn({ durationMs: Math.round(ms), sql }, 'a statement was slow'),
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
    throw folderTrouble(error, folder.databasePath) ?? error;
  }
}

/** @throws {StartupError} where the files of two instances may stand beside each other for a moment. */
export function requireNoRestore(path: string): void {
  if (isRestorePending(path))
    throw new StartupError(
      `A restore into ${resolve(path)} is under way, or was stopped in the middle. Wait for it, or start the server: it finishes it.`,
    );
}

/** SMTP where it is configured, else the embedded outbox. */
export function mailWay(config: Config, baseUrl: string, onCapture: Outbox['onCapture']): MailTransport | Outbox {
  if (config.smtpUrl === null) return { onCapture };
  const from = config.mailFrom ?? `Gatehouse <no-reply@${new URL(baseUrl).hostname}>`;
  return smtpTransport({ url: config.smtpUrl, from });
}
