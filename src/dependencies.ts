/** The world the product runs in, handed in from outside so that tests can build another; and its production builder. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type AdjustableClock, type Clock, systemClock, type WorldClock } from './core/clock.ts';
import type { InstanceKey } from './core/instance-key.ts';
import { type Random, systemRandom } from './core/random.ts';
import { StartupError } from './core/startup-error.ts';
import { type DataFolder, lockDataFolder, openDataFolder } from './db/data-folder.ts';
import type { Database } from './db/database.ts';
import { folderTrouble } from './db/folder-trouble.ts';
import { openInstanceKey } from './db/instance-key-file.ts';
import { migrate, refuseForeignDatabase } from './db/migrate.ts';
import { openEngine, openSqlite } from './db/open.ts';
import type { AccessLog } from './http/access-log.ts';
import type { PeerAddress } from './http/request-context.ts';
import type { Outbox } from './mail/outbox.ts';
import { smtpTransport } from './mail/smtp.ts';
import type { GuardedFetch } from './outbound/guarded-fetch.ts';
import type { MailTransport } from './mail/transport.ts';

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
  /** Given in an ephemeral instance only; its presence opens the test endpoints. */
  readonly testClock: AdjustableClock | null;
}

/** A data folder opened for one process: migrated, with its key loaded. */
export interface OpenedData {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  /** The copy made before an upgrade, if there was one. */
  readonly upgradeCopy: string | null;
  close(): Promise<void>;
}

/** How a folder is opened; for a server, durably, unless said otherwise. */
export interface OpenDataOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** False where the folder is thrown away on exit. */
  readonly isDurable?: boolean;
  /** A server holds the folder alone; a command beside it does not. */
  readonly isServer?: boolean;
  readonly log?: Logger;
}

/**
 * Opens a data folder. Everything that can refuse does so before anything is changed.
 *
 * @throws {StartupError}
 */
export async function openData(
  path: string,
  { clock = systemClock, random = systemRandom, isDurable = true, isServer = true, log }: OpenDataOptions = {},
): Promise<OpenedData> {
  if (!isServer && !existsSync(join(path, 'gatehouse.db'))) throw missing(path);
  const folder: DataFolder = openDataFolder(path);
  let lock: { release(): void } | null = null;
  try {
    lock = isServer ? lockDataFolder(folder) : null;
    const hasInstance = refuseForeignDatabase(folder.databasePath);
    if (!isServer && !hasInstance) throw missing(path);
    const { key, bindTo } = openInstanceKey(folder, hasInstance, random);
    const sqlite = openSqlite(folder.databasePath, { isDurable });
    if (hasInstance) bindTo(sqlite);
    const { copy } = migrate(sqlite, folder.databasePath);
    if (!hasInstance) bindTo(sqlite);
    const db = await openEngine(sqlite, folder.databasePath, {
      clock,
      isDurable,
      isServer,
      onDiskProblem: (error, isRecovered) =>
        isRecovered
          ? log?.warn('the disk takes writes again')
          : log?.error({ err: error }, 'the disk refused a flush: no change is taken until it is safe again'),
      onGone: () =>
        log?.fatal(
          { path: folder.databasePath },
          'the database was deleted or replaced while it is open: no change is taken; stop this server, put the database back, start again',
        ),
    });
    return {
      db,
      instanceKey: key,
      upgradeCopy: copy,
      async close() {
        await db.close();
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    if (error instanceof StartupError) throw error;
    throw folderTrouble(error, folder.databasePath) ?? error;
  }
}

/** A command beside the server works on what a server has made; a wrong --data must not leave a new folder behind. */
function missing(path: string): StartupError {
  return new StartupError(`There is no Gatehouse database in ${resolve(path)}; name its folder with --data.`);
}

/** SMTP where it is configured, else the embedded outbox. */
export function mailWay(config: Config, baseUrl: string, onCapture: Outbox['onCapture']): MailTransport | Outbox {
  if (config.smtpUrl === null) return { onCapture };
  const from = config.mailFrom ?? `Gatehouse <no-reply@${new URL(baseUrl).hostname}>`;
  return smtpTransport({ url: config.smtpUrl, from });
}
