/** The product's dependencies on the outside world, which tests can replace, and their production builder. */
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type AdjustableClock, systemClock, type WorldClock } from './core/clock.ts';
import type { InstanceIdentity } from './core/doctor-pass.ts';
import type { InstanceKey } from './core/instance-key.ts';
import { type Random, systemRandom } from './core/random.ts';
import type { Database } from './db/database.ts';
import type { PostgresSettings } from './db/postgres/address.ts';
import { openPostgres } from './db/postgres/open.ts';
import { pathsIn } from './db/sqlite/data-folder.ts';
import type { OpenedData } from './db/opened-data.ts';
import { openForCommand, openForServer, type OpenOptions } from './db/sqlite/open.ts';
import type { AccessLog } from './http/access-log.ts';
import type { CertificateWatch } from './http/certificate-watch.ts';
import type { PeerAddress } from './http/request-context.ts';
import type { SharedLimits } from './http/shared-limits.ts';
import type { OtherSamples } from './core/metrics.ts';
import type { Outbox } from './mail/outbox.ts';
import { smtpTransport } from './mail/smtp.ts';
import type { GuardedFetch } from './outbound/guarded-fetch.ts';
import type { MailTransport } from './mail/transport.ts';
import { databaseLog, postgresLog, slowStatementLog } from './database-log.ts';
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
  /** Identifies this server to commands of its operator; absent where none may recognize it. */
  readonly identity?: InstanceIdentity | null;
  /** Present where threads verify: the limits that they share, and their metrics. */
  readonly threads?: { readonly limits: SharedLimits; readonly samples: OtherSamples } | null;
  /** Present in ephemeral instances only, where it enables the test endpoints. */
  readonly testClock: AdjustableClock | null;
}

export type { OpenedData };

/** How data is opened: by default durably, for a server. `isDurable` is false for a folder deleted on exit. */
export interface OpenDataOptions extends Partial<Pick<OpenOptions, 'clock' | 'random' | 'isDurable'>> {
  /** True for a server, which locks a folder; false for a command running alongside it. */
  readonly isServer?: boolean;
  /** Statements that take at least this long are logged; without it, none is timed. */
  readonly slowStatementMs?: number;
  readonly log?: Logger;
  /** Bound of the query cache of a data folder. */
  readonly maxCached?: number;
  /** Memory of the change log of a data folder, for the threads that verify. */
  readonly changes?: SharedArrayBuffer | null;
}

/**
 * Opens a data folder, or a PostgreSQL database. Everything that can refuse does so before anything is changed.
 *
 * @param place path of the folder, or `config.database`.
 * @throws {StartupError}
 */
export function openData(place: string | PostgresSettings, given: OpenDataOptions = {}): Promise<OpenedData> {
  const {
    clock = systemClock,
    random = systemRandom,
    isDurable = true,
    isServer = true,
    slowStatementMs,
    log,
    changes = null,
    maxCached,
  } = given;
  const options = {
    clock,
    random,
    version: VERSION,
    ...(slowStatementMs !== undefined && { slow: { thresholdMs: slowStatementMs, report: slowStatementLog(log) } }),
  };
  if (typeof place !== 'string')
    return openPostgres(place, { ...options, isServer, events: postgresLog(place.address.shown, log) });
  const open = isServer ? openForServer : openForCommand;
  const events = databaseLog(pathsIn(place).databasePath, log);
  return open(place, {
    ...options,
    isDurable,
    probe: writeProbe,
    events,
    changes,
    ...(maxCached !== undefined && { maxCached }),
  });
}

/** Returns the SMTP transport if one is configured, else the embedded outbox. */
export function mailWay(config: Config, baseUrl: string, onCapture: Outbox['onCapture']): MailTransport | Outbox {
  if (config.smtpUrl === null) return { onCapture };
  const from = config.mailFrom ?? `Gatehouse <no-reply@${new URL(baseUrl).hostname}>`;
  return smtpTransport({ url: config.smtpUrl, from });
}
