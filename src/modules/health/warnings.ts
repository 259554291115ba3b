/** Warnings for those who run an instance, derived from its state. */
import { isoTime } from '../../core/clock.ts';
import { HINTS } from '../../core/error-hints.ts';
import { isLoopbackName } from '../../core/ip-address.ts';
import { bytesText } from '../../core/quantities.ts';
import type { DatabaseOutage, DatabaseSize, DatabaseStatus } from '../../db/database.ts';
import { EXPIRY_WARNING_MS } from '../../http/certificate.ts';
import { INSTANCE_WARNING_CODES, instanceWarnings, type ListedInstance } from '../instances/overview.ts';
import type { InstanceFacts, MailFacts } from './facts.ts';
import { QUEUE_WARNING_CODES, type Queues, queueWarnings } from './queue-warnings.ts';
import { SERVER_WARNING_CODES, serverWarnings } from './server-warnings.ts';

export interface Observed {
  readonly now: number;
  readonly facts: Pick<InstanceFacts, 'mode' | 'isBaseUrlSet' | 'untrustedProxyHeader' | 'certificateExpiresAt'>;
  readonly mail: Pick<MailFacts, 'transport'>;
  readonly baseUrl: string;
  readonly database: DatabaseStatus & DatabaseSize;
  /** Instances on the database; empty where it can have only one. */
  readonly instances: readonly ListedInstance[];
  readonly queues: Queues;
  /** Null if the server makes no backups of its own. */
  readonly backups: BackupStanding | null;
  /** Whether an application has users, whose loss could not be made good. */
  readonly hasUsers: boolean;
}

export interface BackupStanding {
  /** Epoch milliseconds; null if none has succeeded yet. */
  readonly lastGoodAt: number | null;
  /** At least two scheduled backups were missed since. */
  readonly isLate: boolean;
  /** Reason of the last failure; null if the last one succeeded. */
  readonly error: string | null;
}

export const WARNING_CODES = [
  'mail_goes_nowhere',
  'base_url_unset',
  'base_url_not_https',
  'certificate_expires',
  'proxy_not_trusted',
  'database_not_writable',
  'database_damaged',
  'log_is_long',
  ...SERVER_WARNING_CODES,
  ...INSTANCE_WARNING_CODES,
  'disk_nearly_full',
  'backups_off',
  'backup_failed',
  'backup_late',
  ...QUEUE_WARNING_CODES,
] as const;

export interface Warning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
  readonly remedy: string;
}

const LONG_LOG_BYTES = 64 * 2 ** 20;
const LITTLE_DISK_BYTES = 2 ** 30;

const CHECK_FILES = 'Check the disk and the log; if the file is gone, stop the server, put it back and start again.';
const OUTAGE_REMEDIES: Partial<Record<DatabaseOutage, string>> = {
  database_away: 'Check the database server and the network to it; the instance reconnects by itself.',
  database_schema_differs: 'Replace this instance by one of the newer version.',
};

/** Returns warnings in order of urgency. */
export function warningsOf(observed: Observed): Warning[] {
  const { now, facts, mail, baseUrl, database, instances, queues, backups, hasUsers } = observed;
  const { mode, isBaseUrlSet } = facts;
  const proxyHeader = facts.untrustedProxyHeader();
  const expiresAt = facts.certificateExpiresAt();
  const found: (Warning | false)[] = [
    database.outage !== null && {
      code: 'database_not_writable',
      message: `The database takes no changes. ${HINTS[database.outage]}`,
      remedy: OUTAGE_REMEDIES[database.outage] ?? CHECK_FILES,
    },
    database.damage !== null && {
      code: 'database_damaged',
      message: database.damage,
      remedy:
        'Keep a copy of the folder, run gatehouse doctor --full, and bring back a good backup: gatehouse restore FILE.',
    },
    ...(database.server === null ? [] : serverWarnings(database.server)),
    ...instanceWarnings(instances),
    database.freeBytes !== null &&
      database.freeBytes < LITTLE_DISK_BYTES && {
        code: 'disk_nearly_full',
        message: `${bytesText(database.freeBytes)} are left on the disk of the data folder.`,
        remedy: 'Make room, or move the data folder to a larger disk; without room nothing is accepted.',
      },
    backups === null &&
      hasUsers &&
      mode === 'normal' &&
      database.server === null && {
        code: 'backups_off',
        message: 'Nothing backs up this server: a lost disk loses every user.',
        remedy: 'Set GATEHOUSE_BACKUP_TO to a folder on another disk or an S3 bucket, then restart the server.',
      },
    backups?.error !== null &&
      backups?.error !== undefined && {
        code: 'backup_failed',
        message: `The last backup failed${backups.lastGoodAt === null ? ', and there is no good one' : `; the last good one is of ${isoTime(backups.lastGoodAt)}`}: ${backups.error}`,
        remedy: 'Fix the cause, then start a backup under Backups; the server also retries on schedule.',
      },
    backups?.error === null &&
      backups.isLate && {
        code: 'backup_late',
        message: `No backup was made since ${isoTime(backups.lastGoodAt ?? now)}, though the schedule asks for more.`,
        remedy: 'Make one under Backups; where that does not end, look at the log.',
      },
    mode === 'normal' &&
      mail.transport === 'outbox' && {
        code: 'mail_goes_nowhere',
        message: 'No mail server is set: mails, codes among them, stay in the outbox, where owners can read them.',
        remedy: 'Set a mail server under Mail on this page, or set GATEHOUSE_SMTP_URL and restart the server.',
      },
    mode === 'normal' &&
      !isBaseUrlSet && {
        code: 'base_url_unset',
        message: `The public address is not set: links, cookies and mails use ${baseUrl}.`,
        remedy: 'Set GATEHOUSE_BASE_URL to the https address that people reach this server at.',
      },
    isBaseUrlSet &&
      isPlainToOthers(baseUrl) && {
        code: 'base_url_not_https',
        message: `${baseUrl} is reached without encryption: sessions and codes can be read on the way, and passkeys do not work.`,
        remedy:
          'Put a proxy with a certificate before this server, or give it one (--tls-cert), and set GATEHOUSE_BASE_URL to its https address.',
      },
    expiresAt !== null &&
      expiresAt - now <= EXPIRY_WARNING_MS && {
        code: 'certificate_expires',
        message: `The certificate ${expiresAt <= now ? 'ended' : 'ends'} at ${isoTime(expiresAt)}.`,
        remedy: 'Renew it in its files, then send the process SIGHUP (systemctl reload).',
      },
    proxyHeader !== null && {
      code: 'proxy_not_trusted',
      message: `${proxyHeader} came from a peer that is not trusted and is ignored; behind a proxy everybody has one address then.`,
      remedy:
        'If that is your proxy, list its address in GATEHOUSE_TRUSTED_PROXIES; if you have none, there is nothing to do.',
    },
    database.logBytes !== null &&
      database.logBytes > LONG_LOG_BYTES && {
        code: 'log_is_long',
        message: `The database’s log has ${bytesText(database.logBytes)}: something blocks its checkpoint.`,
        remedy: 'End long readers of the database file, such as a backup tool that hangs.',
      },
    ...queueWarnings(queues, now),
  ];
  return found.filter((warning) => warning !== false);
}

/** Returns whether other hosts would reach the URL without encryption. */
export function isPlainToOthers(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopbackName(hostname);
}
