/** Shows owners their workspace's mails, but contents only of recipients they may act for: a mail can hold a code. */
import { isoTime } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Actor } from '../../core/actor.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database } from '../../db/database.ts';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import { recordAudit } from '../../store/audit.ts';
import { MAIL_PRIORITIES, type MailPriority } from '../../store/mails.ts';
import { findInOutbox, listOutbox, type MailEnvelope } from '../../store/outbox.ts';
import { requireUser } from '../../store/people.ts';
import { hasOtherWorkspace, listAddressLinks } from '../../store/address-links.ts';
import type { InstanceFacts } from '../health/facts.ts';
import type { OutboxLetterRecord, OutboxMailRecord, OutboxQuery } from './model.ts';
import { answersFor, type ShownAnswer } from './hidden-server.ts';

export interface OutboxServiceDependencies {
  readonly db: Database;
  readonly consoleId: () => string;
  readonly instance: Pick<InstanceFacts, 'mail'>;
}

/** Mails scanned per search page: some 15 ms in another thread. */
const MAX_SCANNED = 40_000;

export type Caller = Pick<Exclude<Principal, { kind: 'key' }>, 'userId' | 'workspaces'>;

export type OutboxReader = ReturnType<typeof outboxService>;

/** Read-only, apart from the audit record of who read what. */
export function outboxService({ db, consoleId, instance }: OutboxServiceDependencies) {
  /**
   * Decides whether the caller may read mail to an address. Its holder must be tied only to workspaces the caller owns,
   * and have proved the address in one or be the caller. Others are readable only if the caller owns every workspace: a
   * code would prove an unproved address to the whole server, and the answer would reveal whom others know.
   */
  async function readerFor({ userId, workspaces }: Caller) {
    const owned = workspaces.filter(({ role }) => role === 'owner').map(({ workspaceId }) => workspaceId);
    const isAlone = !(await hasOtherWorkspace(db.reader, owned));
    // The caller's own address needs no proof: a person from a setup link has proved no mailbox yet and needs codes.
    const { email: own } = await requireUser(db.reader, userId);
    return {
      own,
      async mayRead(email: string): Promise<boolean> {
        if (isAlone) return true;
        const links = await listAddressLinks(db.reader, email);
        return (
          (email === own || links.some(({ hasProvedAddress }) => hasProvedAddress)) &&
          links.every(({ workspaceId }) => owned.includes(workspaceId))
        );
      },
    };
  }

  /** Excludes mails that are for a mail server: only captured ones are readable. */
  async function readable(caller: Caller, mails: readonly MailEnvelope[]) {
    const { own, mayRead } = await readerFor(caller);
    const emails = new Set(mails.filter(({ status }) => status === 'captured').map(({ recipient }) => recipient));
    const found = new Set<string>();
    for (const email of emails) if (await mayRead(email)) found.add(email);
    const open = mails.filter(({ status, recipient }) => status === 'captured' && found.has(recipient));
    return { own, shown: new Set(open.map(({ id }) => id)) };
  }

  return {
    /** A page may be short and still have a next one, when `q` reached its scan limit. */
    async list(caller: Caller, workspaceId: string, query: OutboxQuery): Promise<Page<OutboxMailRecord>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, status, q } = query;
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const { found, reached } = await listOutbox(
        db.reader,
        { workspaceId, consoleId: consoleId(), status, q: q?.toLowerCase() },
        { before, limit: limit + 1, size: MAX_SCANNED },
      );
      const { shown } = await readable(caller, found);
      const told = await answersFor(db.reader, instance, workspaceId);
      const page = pageOf(
        found,
        limit,
        ({ id }) => [id],
        (mail) => present({ ...mail, subject: subjectInList(mail) }, shown.has(mail.id), told),
      );
      return { ...page, nextCursor: page.nextCursor ?? (reached === null ? null : encodeCursor([reached])) };
    },

    /** Audits the read first: the mail's code lets the owner act as its recipient. @throws {AppError} not_found */
    async get(actor: Actor, caller: Caller, workspaceId: string, mailId: string): Promise<OutboxLetterRecord> {
      const mail = await findInOutbox(db.reader, { workspaceId, consoleId: consoleId(), id: mailId });
      if (!mail) throw new AppError('not_found');
      const { own, shown } = await readable(caller, [mail]);
      const isReadable = shown.has(mail.id);
      if (isReadable && mail.recipient !== own)
        await db.write(actor, (unit) =>
          recordAudit(unit, {
            kind: 'mail.read',
            applicationId: mail.applicationId,
            workspaceId,
            email: mail.recipient,
            targetId: mail.id,
          }),
        );
      const { text, html, code } = isReadable ? mail : { text: null, html: null, code: null };
      return { ...present(mail, isReadable, await answersFor(db.reader, instance, workspaceId)), text, html, code };
    },
  };
}

/** Masks the code in a subject: to read it, the owner must open the mail, which is audited. */
export function subjectInList({ subject, lane }: Pick<MailEnvelope, 'subject' | 'lane'>): string {
  return lane === MAIL_PRIORITIES.code ? subject.replace(/\d{6,}/, '••••••') : subject;
}

const LANE_NAMES = Object.fromEntries(
  Object.entries(MAIL_PRIORITIES).map(([name, lane]) => [lane, name as MailPriority]),
);

function present(mail: MailEnvelope, isReadable: boolean, told: ShownAnswer): OutboxMailRecord {
  const { id, recipient, senderName, subject, lane, status } = mail;
  const { attempts, lastError, applicationId, createdAt, sentAt } = mail;
  return {
    id,
    to: recipient,
    sender: senderName,
    subject: isReadable ? subject : null,
    lane: LANE_NAMES[lane] ?? 'notice',
    status,
    attempts,
    lastError: told(lastError),
    applicationId,
    createdAt: isoTime(createdAt),
    sentAt: isoTime(sentAt),
    isReadable,
  };
}
