/** Queued mail: rows written in the change that causes them, leased by the instance that sends them. */
import { and, desc, eq, lt, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Claim } from '../core/lease-keeper.ts';
import { onlyOne } from '../core/required.ts';
import { type Reader, topic, type Unit } from '../db/database.ts';
import { change, orm, pipelined, prepared, query } from '../db/statements.ts';
import { IS_FREE, IS_STALE, leases, type NewLease, type StaleLeases } from './leases.ts';
import { mails } from './schema/records.ts';

const { placeholder } = sql;

export type Mail = typeof mails.$inferSelect;

/** Priorities, most urgent first: codes somebody waits for, notices, bulk mail. */
export const MAIL_PRIORITIES = { code: 0, notice: 1, bulk: 2 } as const;

export type MailPriority = keyof typeof MAIL_PRIORITIES;

/** A mail to be sent once the change has been committed. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Display name and Reply-To; none for mails of the server itself. */
  readonly from?: MailSender | null;
  /** The one-time code in the mail, for the captured-mail view. */
  readonly code: string | null;
  /** Time after which the mail is not sent any more, in epoch milliseconds. */
  readonly expiresAt: number;
  /** Defaults to `code` if there is a code, else `notice`. */
  readonly lane?: MailPriority;
  readonly origin: MailOrigin;
}

/** Name that a mail comes from, at the server's own address, and the address that answers go to. */
export interface MailSender {
  readonly name: string;
  readonly replyTo: string | null;
}

/** Owner of a mail. `applicationId` is null for mails of a workspace itself and of the console. */
export interface MailOrigin {
  readonly applicationId: string | null;
  readonly workspaceId: string | null;
}

/** Returns the origin of mails from an application to its users. */
export const fromApplication = ({ id, workspaceId }: { id: string; workspaceId: string | null }): MailOrigin => ({
  applicationId: id,
  workspaceId,
});

/** Results of an attempt; `postponed` is retried. */
export const MAIL_RESULTS = ['sent', 'captured', 'refused', 'expired', 'postponed'] as const;
export type MailResult = (typeof MAIL_RESULTS)[number];

export const MAIL_TRIED = topic<MailResult>('mail tried');

export const MAIL_QUEUED = topic<MailPriority>('mail queued');

const insertMail = prepared((orm) =>
  orm
    .insert(mails)
    .values({
      id: placeholder('id'),
      recipient: placeholder('recipient'),
      subject: placeholder('subject'),
      text: placeholder('text'),
      html: placeholder('html'),
      code: placeholder('code'),
      status: 'queued',
      attempts: 0,
      nextAttemptAt: placeholder('now'),
      expiresAt: placeholder('expiresAt'),
      createdAt: placeholder('now'),
      lane: placeholder('lane'),
      applicationId: placeholder('applicationId'),
      workspaceId: placeholder('workspaceId'),
      senderName: placeholder('senderName'),
      replyTo: placeholder('replyTo'),
    })
    .prepare(),
);

/** Queues a mail in the change it is about; the sender wakes after the commit. @returns the mail's id. */
export async function queueMail(unit: Unit, message: OutgoingMail): Promise<string> {
  const { to, subject, text, html, from, code, expiresAt, origin } = message;
  const lane = message.lane ?? (code === null ? 'notice' : 'code');
  const id = newId('mail', unit.now);
  const row = {
    id,
    recipient: to,
    subject,
    text,
    html,
    code,
    expiresAt,
    now: unit.now,
    lane: MAIL_PRIORITIES[lane],
    senderName: from?.name ?? null,
    replyTo: from?.replyTo ?? null,
    ...origin,
  };
  await pipelined(unit, () => insertMail(unit, row));
  unit.publish(MAIL_QUEUED, lane);
  return id;
}

export const DUE_MAILS_READ = 100;

/** Cursor: the list continues after this mail. */
export interface DuePosition {
  readonly nextAttemptAt: number;
  /** Order of insertion. */
  readonly position: number | string;
}

/** A due mail, with the fields that concurrency limits depend on. */
export interface DueMail extends DuePosition, Claim {
  /** The recipient's domain. */
  readonly domain: string;
  /** The sending workspace; empty for the console. */
  readonly workspaceId: string;
}

const dueMails = query.rows<DueMail, DuePosition & { lane: number; now: number; realNow: number }>(
  ({
    insertionOrder,
    textPosition,
  }) => `SELECT id, attempts, next_attempt_at AS "nextAttemptAt", ${insertionOrder} AS position,
     lower(substr(recipient, ${textPosition('recipient', "'@'")} + 1)) AS domain, coalesce(workspace_id, '') AS "workspaceId"
   FROM mails WHERE status = 'queued' AND lane = :lane AND next_attempt_at <= :now
     AND ${IS_FREE} AND (next_attempt_at, ${insertionOrder}) > (:nextAttemptAt, :position)
   ORDER BY next_attempt_at, ${insertionOrder} LIMIT ${DUE_MAILS_READ}`,
);

const START: DuePosition = { nextAttemptAt: -1, position: '' };

/**
 * Returns the next due mails of a priority without a lease, longest due first; fewer than `DUE_MAILS_READ` at the end.
 * @param times due times use the instance's clock, leases real time, so that moving that clock cuts no attempt short.
 */
export function listDueMails(
  reader: Reader,
  lane: MailPriority,
  times: { readonly now: number; readonly realNow: number },
  after: DuePosition | undefined,
): Promise<DueMail[]> {
  const { nextAttemptAt, position } = after ?? START;
  return dueMails(reader, { lane: MAIL_PRIORITIES[lane], ...times, nextAttemptAt, position });
}

const MAIL_COLUMNS = `id, recipient, subject, text, html, code, status, attempts, next_attempt_at AS "nextAttemptAt",
  leased_until AS "leasedUntil", lease_holder AS "leaseHolder", expires_at AS "expiresAt", last_error AS "lastError", created_at AS "createdAt",
  sent_at AS "sentAt", lane, application_id AS "applicationId", workspace_id AS "workspaceId", sender_name AS "senderName",
  reply_to AS "replyTo"`;

const mailLeases = leases<Mail>({ table: 'mails', open: 'queued', columns: MAIL_COLUMNS });

/** Leases mails and counts the attempts. @returns those that no other instance has claimed, in no order. */
export const leaseMails = mailLeases.take;

export const renewMailLeases = mailLeases.renew;

export const releaseMails = mailLeases.release;

/** Leases a mail that this change has queued. */
export async function leaseNewMail(unit: Unit, id: string, lease: NewLease): Promise<Mail> {
  return onlyOne(await mailLeases.take(unit, [{ id, attempts: 0 }], lease));
}

export type MailOutcome =
  | { readonly status: 'sent' }
  | { readonly status: 'failed'; readonly error: string; readonly isExpired: boolean }
  | { readonly status: 'queued'; readonly error: string; readonly nextAttemptAt: number };

const CAPTURED = "status = 'captured', attempts = attempts + 1, sent_at = :now, leased_until = NULL";

const setDueCaptured = change.rows<Mail, number>(
  ({ skipLocked }) => `WITH due AS MATERIALIZED (
     SELECT id FROM mails WHERE status = 'queued' AND next_attempt_at <= :now ORDER BY lane, next_attempt_at LIMIT :limit
     ${skipLocked})
   UPDATE mails SET ${CAPTURED} WHERE id IN (SELECT id FROM due) RETURNING ${MAIL_COLUMNS}`,
);

const setCaptured = change.row<Mail, string>(
  `UPDATE mails SET ${CAPTURED} WHERE id = :id AND status = 'queued' RETURNING ${MAIL_COLUMNS}`,
);

/** Keeps a mail in the outbox instead of sending it. @returns undefined if it was not queued any more. */
export async function captureMail(unit: Unit, id: string): Promise<Mail | undefined> {
  const mail = await setCaptured(unit, id);
  if (mail) unit.publish(MAIL_TRIED, 'captured');
  return mail;
}

/** Keeps due mails in the outbox, where no mail server is configured. @returns the captured mails. */
export async function captureDueMails(unit: Unit, limit: number): Promise<Mail[]> {
  const captured = await setDueCaptured(unit, limit);
  for (const _ of captured) unit.publish(MAIL_TRIED, 'captured');
  return captured;
}

const CLEARED = "leased_until = NULL, subject = '', text = NULL, html = NULL, code = NULL";

/** SQL: no attempt has begun after that of the claim. */
const IS_CURRENT = "id = :id AND attempts = :attempts AND status = 'queued'";

const setSent = change<Claim>(
  `UPDATE mails SET status = 'sent', sent_at = :now, ${CLEARED}, last_error = NULL WHERE ${IS_CURRENT}`,
);

const setFailed = change<Claim & { error: string }>(
  `UPDATE mails SET status = 'failed', ${CLEARED}, last_error = :error WHERE ${IS_CURRENT}`,
);

const setPostponed = change<Claim & { error: string; nextAttemptAt: number }>(
  `UPDATE mails SET next_attempt_at = :nextAttemptAt, leased_until = NULL, last_error = :error WHERE ${IS_CURRENT}`,
);

function setOutcome(unit: Unit, claim: Claim, outcome: MailOutcome): Promise<number> {
  if (outcome.status === 'sent') return setSent(unit, claim);
  if (outcome.status === 'failed') return setFailed(unit, { ...claim, error: outcome.error });
  return setPostponed(unit, { ...claim, error: outcome.error, nextAttemptAt: outcome.nextAttemptAt });
}

/**
 * Records an outcome and ends the lease. Clears the content of mails that were sent or given up.
 * @returns false if the claim is not valid any more, as after another instance has taken the mail over.
 */
export async function recordMailOutcome(unit: Unit, { id, attempts }: Claim, outcome: MailOutcome): Promise<boolean> {
  const isRecorded = (await setOutcome(unit, { id, attempts }, outcome)) > 0;
  if (isRecorded) unit.publish(MAIL_TRIED, resultOf(outcome));
  return isRecorded;
}

function resultOf(outcome: MailOutcome): MailResult {
  if (outcome.status === 'sent') return 'sent';
  if (outcome.status === 'queued') return 'postponed';
  return outcome.isExpired ? 'expired' : 'refused';
}

const setDue = change<{ lane: number; latest: number; limit: number }>(
  `UPDATE mails SET next_attempt_at = :now WHERE id IN (
     SELECT id FROM mails WHERE status = 'queued' AND lane = :lane AND next_attempt_at > :latest LIMIT :limit)`,
);

/** Makes mails due that wait longer than any retry, as after the clock went back. @returns the number changed. */
export function bringMailsForward(
  unit: Unit,
  lane: MailPriority,
  longestWaitMs: number,
  limit: number,
): Promise<number> {
  return setDue(unit, { lane: MAIL_PRIORITIES[lane], latest: unit.now + longestWaitMs, limit });
}

/** Makes mails due again whose attempt a stop or crash cut off. */
export const endMailLeases = change<StaleLeases>(
  `UPDATE mails SET leased_until = NULL WHERE status = 'queued' AND ${IS_STALE}`,
);

/** Filter of a mail list: to one recipient or all; only mails with an id before `before`. */
interface MailRange {
  readonly recipient?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Returns mails, newest first. */
export async function listMails(reader: Reader, { recipient, before, limit }: MailRange): Promise<Mail[]> {
  const isTo = recipient === undefined ? undefined : eq(mails.recipient, recipient);
  const isBehind = before === undefined ? undefined : lt(mails.id, before);
  return orm(reader).select().from(mails).where(and(isTo, isBehind)).orderBy(desc(mails.id)).limit(limit);
}

export const findMail = query.row<Mail, string>(`SELECT ${MAIL_COLUMNS} FROM mails WHERE id = :id`);

export const deleteAllMails = change('DELETE FROM mails');
