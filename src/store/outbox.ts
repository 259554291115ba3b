/** Mails that a workspace's owner may see: the workspace's own, and the console's to its members. */
import type { Reader } from '../db/database.ts';
import { longRead, raw } from '../db/statements.ts';
import type { Mail } from './mails.ts';

export const MAIL_STATUSES = ['queued', 'sent', 'captured', 'failed'] as const;

export type MailStatus = (typeof MAIL_STATUSES)[number];

/** A mail without its content. */
export type MailEnvelope = Omit<
  Mail,
  'text' | 'html' | 'code' | 'leasedUntil' | 'leaseHolder' | 'workspaceId' | 'status'
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
  m.application_id AS "applicationId"`;

/** SQL: a mail of the console, sent since person `s` joined the workspace. */
const IS_OF_CONSOLE = (mail: string) =>
  `${mail}.workspace_id IS NULL AND (${mail}.application_id IS NULL OR ${mail}.application_id = ?2)
   AND ${mail}.created_at >= s.created_at`;

const ownMails = (isByStatus: boolean) =>
  raw<MailEnvelope, (string | number)[]>(
    `SELECT ${ENVELOPE} FROM mails m WHERE m.workspace_id = ?1 AND m.id < ?2 ${isByStatus ? 'AND m.status = ?4' : ''}
     ORDER BY m.id DESC LIMIT ?3`,
  );
const own = { any: ownMails(false), byStatus: ownMails(true) };

const consoleMails = raw<MailEnvelope, [string, string, string, number, string | null, string]>(
  `SELECT ${ENVELOPE} FROM workspace_members s CROSS JOIN users u ON u.id = s.user_id
   CROSS JOIN mails m ON m.id IN (
     SELECT c.id FROM mails c WHERE c.recipient = coalesce(s.invited_email, u.email) AND c.id < ?3 AND ${IS_OF_CONSOLE('c')}
       AND (?5 IS NULL OR c.status = ?5) ORDER BY c.id DESC LIMIT ?4)
   WHERE s.workspace_id = ?1 AND instr(coalesce(s.invited_email, u.email), ?6) > 0 ORDER BY m.id DESC LIMIT ?4`,
);

const conditions = (isByStatus: boolean) => `workspace_id = ?1 AND id < ?2 ${isByStatus ? 'AND status = ?4' : ''}`;

/** Returns the last id of a full batch; no row if there are fewer. */
const stretchEnd = (isByStatus: boolean) =>
  longRead<{ id: string }, (string | number)[]>(
    `SELECT id FROM mails WHERE ${conditions(isByStatus)} ORDER BY id DESC LIMIT 1 OFFSET ?3`,
  );
const ends = { any: stretchEnd(false), byStatus: stretchEnd(true) };

const searchedMails = (isByStatus: boolean) =>
  longRead<{ id: string }, (string | number)[]>(
    `SELECT id FROM mails WHERE ${conditions(isByStatus)} AND id >= ?${isByStatus ? 5 : 4} AND instr(recipient, ?${isByStatus ? 6 : 5}) > 0
     ORDER BY id DESC LIMIT ?3`,
  );
const searched = { any: searchedMails(false), byStatus: searchedMails(true) };

const envelopesById = raw<MailEnvelope, [string]>(
  `SELECT ${ENVELOPE} FROM json_each(?1) j CROSS JOIN mails m ON m.id = j.value ORDER BY m.id DESC`,
);

export interface OutboxScan {
  /** Newest first. */
  readonly found: readonly MailEnvelope[];
  /** The last id searched if older mails may match; null if all were searched. */
  readonly reached: string | null;
}

/**
 * Returns mails of the workspace and the console, newest first. A recipient search has no index.
 * @param bounds.stretch number of mails that a search reads.
 */
export async function listOutbox(
  reader: Reader,
  filter: OutboxFilter,
  {
    before = BEHIND_ALL,
    limit,
    stretch,
  }: { readonly before: Before; readonly limit: number; readonly stretch: number },
): Promise<OutboxScan> {
  const { workspaceId, consoleId, status = null, q = '' } = filter;
  const { found, reached } =
    q === ''
      ? { found: await listOwn(reader, workspaceId, status, before, limit), reached: null }
      : await searchOwn(reader, filter, { before, limit, stretch });
  const others = await consoleMails(reader, workspaceId, consoleId, before, limit, status, q);
  const all = [...found, ...others.filter(({ id }) => reached === null || id >= reached)];
  return { found: all.sort((left, right) => (left.id < right.id ? 1 : -1)).slice(0, limit), reached };
}

function listOwn(reader: Reader, workspaceId: string, status: MailStatus | null, before: string, limit: number) {
  return status === null
    ? own.any(reader, workspaceId, before, limit)
    : own.byStatus(reader, workspaceId, before, limit, status);
}

async function searchOwn(
  reader: Reader,
  { workspaceId, status, q = '' }: OutboxFilter,
  { before, limit, stretch }: { readonly before: string; readonly limit: number; readonly stretch: number },
): Promise<OutboxScan> {
  const kind = status === undefined ? 'any' : 'byStatus';
  const state = status === undefined ? [] : [status];
  const [end] = await ends[kind](reader, workspaceId, before, stretch - 1, ...state);
  const rows = await searched[kind](reader, workspaceId, before, limit, ...state, end?.id ?? '', q);
  const found = await envelopesById(reader, JSON.stringify(rows.map(({ id }) => id)));
  return { found, reached: end !== undefined && rows.length < limit ? end.id : null };
}

const mailById = raw<Mail & { status: MailStatus }, [string, string, string]>(
  `SELECT ${ENVELOPE}, m.text, m.html, m.code, m.leased_until AS "leasedUntil", m.workspace_id AS "workspaceId"
   FROM mails m WHERE m.id = ?3 AND (m.workspace_id = ?1 OR EXISTS (
     SELECT 1 FROM workspace_members s JOIN users u ON u.id = s.user_id
     WHERE s.workspace_id = ?1 AND coalesce(s.invited_email, u.email) = m.recipient AND ${IS_OF_CONSOLE('m')}))`,
);

/** Returns a mail with its content; undefined if the workspace's list does not include it. */
export async function findInOutbox(
  reader: Reader,
  { workspaceId, consoleId }: Pick<OutboxFilter, 'workspaceId' | 'consoleId'>,
  id: string,
): Promise<(Mail & { readonly status: MailStatus }) | undefined> {
  const [mail] = await mailById(reader, workspaceId, consoleId, id);
  return mail;
}
