/** Mails that a workspace's owner may see: the workspace's own, and the console's to its members. */
import type { Reader } from '../db/database.ts';
import { longRead, query } from '../db/statements.ts';
import { findAddresses } from './address-search.ts';
import type { Mail } from './mails.ts';

export const MAIL_STATUSES = ['queued', 'sent', 'captured', 'failed'] as const;

export type MailStatus = (typeof MAIL_STATUSES)[number];

/** A mail without its content. */
export type MailEnvelope = Omit<
  Mail,
  'text' | 'html' | 'code' | 'replyTo' | 'leasedUntil' | 'leaseHolder' | 'workspaceId' | 'status'
> & {
  readonly status: MailStatus;
};

export interface OutboxFilter {
  readonly workspaceId: string;
  /** The console's application id: its mails have no workspace. */
  readonly consoleId: string;
  readonly status: MailStatus | undefined;
  /** Substring of the recipient, in lower case. */
  readonly q: string | undefined;
}

/** Cursor: the list continues after this id. Ids sort by time. */
export type Before = string | undefined;

const BEHIND_ALL = '~';

const ENVELOPE = `m.id, m.recipient, m.subject, m.status, m.attempts, m.next_attempt_at AS "nextAttemptAt",
  m.expires_at AS "expiresAt", m.last_error AS "lastError", m.created_at AS "createdAt", m.sent_at AS "sentAt", m.lane,
  m.application_id AS "applicationId", m.sender_name AS "senderName"`;

/** SQL: a mail of the console, sent since person `s` joined the workspace. */
const IS_OF_CONSOLE = (mail: string) =>
  `${mail}.workspace_id IS NULL AND (${mail}.application_id IS NULL OR ${mail}.application_id = :consoleId)
   AND ${mail}.created_at >= s.created_at`;

/** Values of the workspace's own mails; `status` may be missing. */
interface OwnMails {
  readonly workspaceId: string;
  readonly before: string;
  readonly limit: number;
  readonly status: MailStatus | undefined;
}

const isOwn = (isByStatus: boolean, column: (name: string) => string = (name) => name) =>
  `${column('m.workspace_id')} = :workspaceId AND m.id < :before ${isByStatus ? 'AND m.status = :status' : ''}`;

const ownMails = (isByStatus: boolean) => ({
  list: query.rows<MailEnvelope, OwnMails>(
    `SELECT ${ENVELOPE} FROM mails m WHERE ${isOwn(isByStatus)} ORDER BY m.id DESC LIMIT :limit`,
  ),
  /** Last id of a full batch; none if there are fewer mails. */
  batchEnd: longRead.value<string, OwnMails & { skipped: number }>(
    `SELECT m.id FROM mails m WHERE ${isOwn(isByStatus)} ORDER BY m.id DESC LIMIT 1 OFFSET :skipped`,
  ),
  search: longRead.values<string, OwnMails & { reached: string; q: string }>(
    ({ textPosition }) => `SELECT m.id FROM mails m
     WHERE ${isOwn(isByStatus)} AND m.id >= :reached AND ${textPosition('m.recipient', ':q')} > 0
     ORDER BY m.id DESC LIMIT :limit`,
  ),
  /** Ids of any order. */
  ofRecipients: query.values<string, OwnMails & { recipients: readonly object[]; q: string; most: number }>(
    ({ jsonRows, joinInOrder, unindexed, textPosition }) => `SELECT m.id
     FROM (SELECT email FROM ${jsonRows(':recipients', { email: 'text' })}) AS e ${joinInOrder} mails m ON m.recipient = e.email
     WHERE ${isOwn(isByStatus, unindexed)} AND ${textPosition('m.recipient', ':q')} > 0 LIMIT :most`,
  ),
});
const own = { any: ownMails(false), byStatus: ownMails(true) };

/** Mails of the console to member `s`, who is person `u`. */
const MAILS_TO_MEMBER = `SELECT c.id FROM mails c WHERE c.recipient = coalesce(s.invited_email, u.email)
  AND c.id < :before AND ${IS_OF_CONSOLE('c')} AND (:status = '' OR c.status = :status) ORDER BY c.id DESC LIMIT :limit`;

const consoleMails = query.rows<
  MailEnvelope,
  { workspaceId: string; consoleId: string; before: string; limit: number; status: string; q: string }
>(
  ({ joinInOrder, isAmong, textPosition }) => `SELECT ${ENVELOPE}
   FROM workspace_members s ${joinInOrder} users u ON u.id = s.user_id
   ${joinInOrder} mails m ON ${isAmong('m.id', MAILS_TO_MEMBER)}
   WHERE s.workspace_id = :workspaceId AND ${textPosition('coalesce(s.invited_email, u.email)', ':q')} > 0
   ORDER BY m.id DESC LIMIT :limit`,
);

const envelopesById = query.rows<MailEnvelope, readonly string[]>(
  ({ idList }) => `SELECT ${ENVELOPE} FROM mails m WHERE m.id IN ${idList(':ids')} ORDER BY m.id DESC`,
);

export interface OutboxScan {
  /** Newest first. */
  readonly found: readonly MailEnvelope[];
  /** The last id searched if older mails may match; null if all were searched. */
  readonly reached: string | null;
}

/** Returns workspace and console mails, newest first. A search for common recipients reads at most `size` rows. */
export async function listOutbox(
  reader: Reader,
  filter: OutboxFilter,
  { before = BEHIND_ALL, limit, size }: { readonly before: Before; readonly limit: number; readonly size: number },
): Promise<OutboxScan> {
  const { workspaceId, consoleId, status, q = '' } = filter;
  const mails = { workspaceId, before, limit, status };
  const { found, reached } =
    q === ''
      ? { found: await ownOf(status).list(reader, mails), reached: null }
      : await searchOwn(reader, mails, { q, size });
  const others = await consoleMails(reader, { ...mails, consoleId, status: status ?? '', q });
  const all = [...found, ...others.filter(({ id }) => reached === null || id >= reached)];
  return { found: all.sort((left, right) => (left.id < right.id ? 1 : -1)).slice(0, limit), reached };
}

function ownOf(status: MailStatus | undefined) {
  return status === undefined ? own.any : own.byStatus;
}

/** Mails that are read for a list of recipients; with more, a scan by time finds a page sooner. */
const MOST_OF_RECIPIENTS = 2000;

/** @returns ids, newest first; null where a scan must find them. */
async function ownOfRecipients(reader: Reader, mails: OwnMails, q: string): Promise<string[] | null> {
  const addresses = await findAddresses(reader, mails.workspaceId, q);
  if (!addresses) return null;
  const wanted = { ...mails, recipients: addresses.map((email) => ({ email })), q, most: MOST_OF_RECIPIENTS };
  const ids = await ownOf(mails.status).ofRecipients(reader, wanted);
  return ids.length < MOST_OF_RECIPIENTS ? ids.sort().reverse().slice(0, mails.limit) : null;
}

/** Mails that a search scans before it asks the index, which is slow for what many recipients have in common. */
const FIRST_SCANNED = 500;

interface MailSearch {
  readonly q: string;
  readonly size: number;
}

async function searchOwn(reader: Reader, mails: OwnMails, { q, size }: MailSearch): Promise<OutboxScan> {
  const first = await scanOwn(reader, mails, { q, size: Math.min(size, FIRST_SCANNED) });
  if (first.reached === null || size <= FIRST_SCANNED) return first;
  const indexed = await ownOfRecipients(reader, mails, q);
  return indexed ? { found: await envelopesById(reader, indexed), reached: null } : scanOwn(reader, mails, { q, size });
}

/** Scans the newest `size` mails. `reached` is null where they have a full page, or all matches. */
async function scanOwn(reader: Reader, mails: OwnMails, { q, size }: MailSearch): Promise<OutboxScan> {
  const { batchEnd, search } = ownOf(mails.status);
  const end = await batchEnd(reader, { ...mails, skipped: size - 1 });
  const ids = await search(reader, { ...mails, reached: end ?? '', q });
  const found = await envelopesById(reader, ids);
  return { found, reached: end !== undefined && ids.length < mails.limit ? end : null };
}

/** Returns a mail with its content; undefined if the workspace's list does not include it. */
export const findInOutbox = query.row<
  Mail & { readonly status: MailStatus },
  Pick<OutboxFilter, 'workspaceId' | 'consoleId'> & { id: string }
>(
  `SELECT ${ENVELOPE}, m.text, m.html, m.code, m.leased_until AS "leasedUntil", m.workspace_id AS "workspaceId"
   FROM mails m WHERE m.id = :id AND (m.workspace_id = :workspaceId OR EXISTS (
     SELECT 1 FROM workspace_members s JOIN users u ON u.id = s.user_id
     WHERE s.workspace_id = :workspaceId AND coalesce(s.invited_email, u.email) = m.recipient AND ${IS_OF_CONSOLE('m')}))`,
);
