/**
 * Background tasks that write bulk decisions, effective at once (see the store), into the rows and mail the people
 * within the workspace's hourly limit. Launch mails go out only while the application is open and in service.
 */
import { isInService } from '../../core/application-state.ts';
import { DAY } from '../../core/clock.ts';
import { type Locale, localeToWriteIn } from '../../core/locale.ts';
import type { Unit } from '../../db/database.ts';
import { beginTask, type BackgroundTask, type Batch } from '../../jobs/background-tasks.ts';
import { applicationSender } from '../../mail/application-sender.ts';
import { type BetaMail, betaMail } from '../../mail/messages/beta.ts';
import { signInLink } from '../../mail/page-links.ts';
import type { WorkspaceMail } from '../../mail/workspace-mail.ts';
import { type Application, requireApplication } from '../../store/applications.ts';
import {
  advanceWaitlistEpoch,
  countUnreached,
  countWaiting,
  DECIDE_PENDING,
  decideWaitlist,
  hasUnwrittenDecision,
  type WaitlistDecision,
  isAnyoneUnreached,
  isAnyoneWaiting,
  takeWaiting,
  type WaitlistEntry,
} from '../../store/waitlist.ts';
import { deleteLongWorksOf } from '../../store/long-works.ts';
import { listMailLines } from '../../store/mail-lines.ts';
import { fromApplication, type MailPriority } from '../../store/mails.ts';
import { findUsersByEmail } from '../../store/people.ts';
import { knownIn } from '../../store/reservations.ts';

const LAUNCH = 'launch';
const MAIL_LIFETIME_MS = 3 * DAY;

/** Queues the mail for each entry, in its language. @throws {AppError} rate_limited past the workspace's mail limit. */
export type SendBetaMail = (
  unit: Unit,
  application: Application,
  kind: BetaMail,
  entries: readonly Pick<WaitlistEntry, 'email' | 'locale'>[],
  lane: MailPriority,
) => Promise<void>;

interface Decision extends WaitlistDecision {
  readonly mail: BetaMail | null;
}

const WAITING: Batch = { done: 0, cursor: null, isFinished: false, isWaiting: true };

export type BetaTasks = ReturnType<typeof betaTasks>;

/** @param baseUrl this server's public URL, without a trailing slash. */
export function betaTasks(mails: WorkspaceMail, baseUrl: () => string) {
  const sendMail: SendBetaMail = async (unit, application, kind, entries, lane) => {
    const signInUrl = signInLink(baseUrl(), application.clientId);
    const sender = applicationSender(application, baseUrl());
    const lines = await listMailLines(unit, application.id);
    const lineIn = (locale: Locale) =>
      lines.find((one) => one.mail === `waitlist_${kind}` && one.locale === locale)?.line ?? null;
    const mailIn = lazily((locale: Locale) => betaMail(kind, locale, sender, signInUrl, lineIn(locale)));
    const people = await findUsersByEmail(
      unit,
      entries.filter(({ locale }) => locale === null).map(({ email }) => email),
    );
    const { workspaceId } = application;
    const ids = [...people.values()].map(({ id }) => id);
    const known = workspaceId === null ? null : await knownIn(unit, workspaceId, ids);
    // For people unknown in the workspace, not even the language of their account may show.
    const ownLocale = (to: string) => {
      const person = people.get(to);
      return person && (known?.has(person.id) ?? true) ? person.locale : null;
    };
    const expiresAt = unit.now + MAIL_LIFETIME_MS;
    await mails.queue(
      unit,
      workspaceId,
      entries.map(({ email: to, locale }) => ({
        to,
        ...mailIn(localeToWriteIn(locale ?? ownLocale(to))),
        code: null,
        expiresAt,
        lane,
        origin: fromApplication(application),
      })),
    );
  };

  /** Writes a decision into the rows that were pending when it was made, and mails each person. */
  const decidePending: BackgroundTask<Decision, string> = {
    name: DECIDE_PENDING,
    async step(unit, { applicationId, data }, limit) {
      if (data.mail === null) return batchOf(await decideWaitlist(unit, applicationId, data, limit), limit);
      const application = await requireApplication(unit, applicationId);
      const room = Math.min(limit, await mails.left(unit, application.workspaceId));
      if (room === 0 && (await isAnyoneUnreached(unit, { applicationId, epoch: data.epoch }))) return WAITING;
      const reached = await decideWaitlist(unit, applicationId, data, room);
      await sendMail(unit, application, data.mail, reached, 'bulk');
      return batchOf(reached, room);
    },
    count: (reader, { applicationId, data }) => countUnreached(reader, { applicationId, epoch: data.epoch }),
  };

  /** Mails everyone who was waiting when the application opened, once each. */
  const launch: BackgroundTask<{ readonly epoch: number }, string> = {
    name: LAUNCH,
    async step(unit, { applicationId, data: { epoch } }, limit) {
      const application = await requireApplication(unit, applicationId);
      // Earlier decisions must be written first: they determine who is waiting.
      if (await hasUnwrittenDecision(unit, applicationId, epoch)) return WAITING;
      const room = Math.min(limit, await mails.left(unit, application.workspaceId));
      // Recipients must be able to sign in when the mail arrives.
      const mayTell = isInService(application) && room > 0;
      if (!mayTell && (await isAnyoneWaiting(unit, { applicationId, epoch }))) return WAITING;
      const reached = await takeWaiting(unit, applicationId, epoch, room);
      await sendMail(unit, application, 'launched', reached, 'bulk');
      return batchOf(reached, room);
    },
    count: (reader, { applicationId, data }) => countWaiting(reader, { applicationId, epoch: data.epoch }),
  };

  /** Decides all pending entries at once. @param mail that they get; null for none. @returns the decision's epoch. */
  async function decideAll(
    unit: Unit,
    applicationId: string,
    decision: Pick<WaitlistDecision, 'status' | 'decidedById' | 'decidedAt'>,
    mail: BetaMail | null,
  ): Promise<number> {
    const epoch = await advanceWaitlistEpoch(unit, applicationId);
    await beginTask(unit, decidePending, { applicationId, data: { ...decision, epoch, at: unit.now, mail } });
    return epoch;
  }

  return {
    tasks: [decidePending, launch] as const,
    sendMail,
    decideAll,

    /** Mails everyone pending or waiting, once each, after opening to the public. Later requests are not included. */
    async openToPublic(unit: Unit, applicationId: string): Promise<void> {
      const nobodysDecision = { status: 'notify_when_public', decidedById: null, decidedAt: null } as const;
      const epoch = await decideAll(unit, applicationId, nobodysDecision, null);
      await beginTask(unit, launch, { applicationId, data: { epoch } });
    },

    /** Stops the launch mails; people not mailed yet wait for the next opening. */
    async stopLaunch(unit: Unit, applicationId: string): Promise<void> {
      await deleteLongWorksOf(unit, LAUNCH, applicationId);
    },
  };
}

/** Memoizes: the mail is rendered once per language. */
function lazily<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

/** Needs no cursor: decided rows no longer match the query of the next step. */
function batchOf({ length }: readonly unknown[], limit: number): Batch {
  return { done: length, cursor: null, isFinished: length === 0 || length < limit };
}
