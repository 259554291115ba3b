/** Warnings for those who run an instance, derived from its state. */
import { HOUR, isoTime, MINUTE } from '../../core/clock.ts';
import { HINTS } from '../../core/error-hints.ts';
import { isLoopbackName } from '../../core/ip-address.ts';
import { bytesText } from '../../core/quantities.ts';
import type { DatabaseSize, DatabaseStatus } from '../../db/database.ts';
import { EXPIRY_WARNING_MS } from '../../http/certificate.ts';
import type { MailPriority } from '../../store/mails.ts';
import type { Waiting } from '../../store/queues.ts';
import type { InstanceFacts } from './facts.ts';

export interface Queues {
  readonly mails: Readonly<Record<MailPriority, Waiting>>;
  readonly deliveries: { readonly queued: Waiting; readonly held: Waiting };
  readonly longWork: Waiting;
}

export interface Observed {
  readonly now: number;
  readonly facts: Pick<
    InstanceFacts,
    'mode' | 'isBaseUrlSet' | 'mail' | 'untrustedProxyHeader' | 'certificateExpiresAt'
  >;
  readonly baseUrl: string;
  readonly database: DatabaseStatus & DatabaseSize;
  readonly queues: Queues;
  /** Null if the server makes no backups of its own. */
  readonly backups: BackupStanding | null;
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
  'disk_nearly_full',
  'backup_failed',
  'backup_late',
  'mail_waits',
  'deliveries_wait',
  'long_work_waits',
] as const;

export interface Warning {
  readonly code: (typeof WARNING_CODES)[number];
  readonly message: string;
  readonly remedy: string;
}

const LONG_LOG_BYTES = 64 * 2 ** 20;
const LITTLE_DISK_BYTES = 2 ** 30;

/** How long due work may wait. Bulk mails get longer, since sending many takes time. */
const PATIENCE_MS: Record<MailPriority | 'delivery' | 'longWork', number> = {
  code: 10 * MINUTE,
  notice: 10 * MINUTE,
  bulk: 2 * HOUR,
  delivery: 15 * MINUTE,
  longWork: 15 * MINUTE,
};

/** Returns warnings in order of urgency. */
export function warningsOf({ now, facts, baseUrl, database, queues, backups }: Observed): Warning[] {
  const { mode, isBaseUrlSet, mail } = facts;
  const isDue = ({ dueAt }: Waiting, kind: keyof typeof PATIENCE_MS) =>
    dueAt !== null && now - dueAt > PATIENCE_MS[kind];
  const proxyHeader = facts.untrustedProxyHeader();
  const expiresAt = facts.certificateExpiresAt();
  const { deliveries, longWork, mails } = queues;
  const found: (Warning | false)[] = [
    database.outage !== null && {
      code: 'database_not_writable',
      message: `The database takes no changes. ${HINTS[database.outage]}`,
      remedy: 'Check the disk and the log; if the file is gone, stop the server, put it back and start again.',
    },
    database.damage !== null && {
      code: 'database_damaged',
      message: database.damage,
      remedy:
        'Keep a copy of the folder, run gatehouse doctor --full, and bring back a good backup: gatehouse restore FILE.',
    },
    database.freeBytes !== null &&
      database.freeBytes < LITTLE_DISK_BYTES && {
        code: 'disk_nearly_full',
        message: `${bytesText(database.freeBytes)} are left on the disk of the data folder.`,
        remedy: 'Make room, or move the data folder to a larger disk; without room nothing is accepted.',
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
        remedy: 'Set GATEHOUSE_SMTP_URL, start again, and send a test mail.',
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
    database.logBytes > LONG_LOG_BYTES && {
      code: 'log_is_long',
      message: `The database’s log has ${bytesText(database.logBytes)}: something keeps it from being folded in.`,
      remedy: 'End long readers of the database file, such as a backup tool that hangs.',
    },
    (['code', 'notice', 'bulk'] as const).some((lane) => isDue(mails[lane], lane)) && {
      code: 'mail_waits',
      message: 'Mails that are due have not been sent for a while.',
      remedy: 'Send a test mail to see what the mail server says, and look at the outbox.',
    },
    isDue(deliveries.queued, 'delivery') && {
      code: 'deliveries_wait',
      message: 'Webhook deliveries that are due have not been sent for a while.',
      remedy: 'Look for endpoints that answer slowly or not at all, and at the log.',
    },
    isDue(longWork, 'longWork') && {
      code: 'long_work_waits',
      message: 'What follows a large change has not come on for a while.',
      remedy: 'Check the log; it continues after a restart.',
    },
  ];
  return found.filter((warning) => warning !== false);
}

/** Returns whether other hosts would reach the URL without encryption. */
export function isPlainToOthers(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopbackName(hostname);
}
