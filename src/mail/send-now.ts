/** Sends one mail while the caller waits: past the queue, with its own lease, once, and recorded like any other. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { SECOND } from '../core/clock.ts';
import { AppError } from '../core/error.ts';
import { pool } from '../core/pool.ts';
import { required } from '../core/required.ts';
import type { Author, Database, Unit } from '../db/database.ts';
import { captureMail, type Mail, type MailOutcome, recordMailOutcome } from '../store/mails.ts';
import type { MailLeases } from './leases.ts';
import type { Outbox } from './outbox.ts';
import type { MailServerInUse } from './server-in-use.ts';
import { MailError, type MailTransport } from './transport.ts';

/** Maximum wait of the caller. An unfinished attempt continues and is recorded when it ends. */
const PATIENCE_MS = 15 * SECOND;
/** Concurrency limit, including attempts whose caller gave up. Transports reserve as many extra connections. */
export const SENT_NOW_AT_ONCE = 4;

export const SENT_NOW_OUTCOMES = ['accepted', 'refused', 'captured', 'timeout'] as const;

export interface SentNow {
  readonly outcome: (typeof SENT_NOW_OUTCOMES)[number];
  /** Answer of the mail server, or the failure; null if there is none. */
  readonly answer: string | null;
  readonly durationMs: number;
}

/**
 * @param queue queues one mail in the given change and returns its id. @throws {AppError} rate_limited
 * @param candidate sends it instead of the server in use.
 */
export type SendNow = (
  author: Author,
  queue: (unit: Unit) => Promise<string>,
  candidate?: MailTransport,
) => Promise<SentNow>;

export interface SendNowDependencies extends Pick<Outbox, 'onCapture'> {
  readonly db: Database;
  readonly inUse: Pick<MailServerInUse, 'find'>;
  readonly leases: MailLeases;
  readonly log: Logger;
  readonly patienceMs?: number;
}

export function sendNow({ db, inUse, onCapture, leases, log, patienceMs = PATIENCE_MS }: SendNowDependencies): SendNow {
  const slots = pool({ total: SENT_NOW_AT_ONCE });

  async function attempt(transport: MailTransport, mail: Mail): Promise<Omit<SentNow, 'durationMs'>> {
    try {
      const answer = await transport.send(mail);
      await record(mail, { status: 'sent' });
      return { outcome: 'accepted', answer: answer ?? null };
    } catch (error) {
      const reason = error instanceof MailError ? error.reason : 'the mail could not be sent';
      if (!(error instanceof MailError)) log.error({ err: error, mailId: mail.id }, 'a mail could not be sent');
      await record(mail, { status: 'failed', error: reason, isExpired: false });
      return { outcome: 'refused', answer: reason };
    }
  }

  /** Records an outcome. If that fails, the lease ends and the queue sends the mail: better twice than never. */
  async function record(mail: Mail, outcome: MailOutcome): Promise<void> {
    await db
      .write(SYSTEM_ACTOR, (unit) => recordMailOutcome(unit, mail, outcome))
      .catch((err: unknown) => log.error({ err, mailId: mail.id }, 'the result of a mail could not be recorded'))
      .finally(() => leases.end(mail));
  }

  async function capture(author: Author, queue: (unit: Unit) => Promise<string>): Promise<void> {
    const mail = await db.write(author, async (unit) => captureMail(unit, await queue(unit)));
    onCapture?.(required(mail, 'the mail that was queued'));
  }

  async function lease(author: Author, queue: (unit: Unit) => Promise<string>): Promise<Mail> {
    const { mail, until } = await db.write(author, async (unit) => leases.takeNew(unit, await queue(unit)));
    leases.hold(mail, until);
    return mail;
  }

  /** Takes a slot, and leases the mail. @throws {AppError} rate_limited */
  async function leased(author: Author, queue: (unit: Unit) => Promise<string>): Promise<Mail> {
    if (!slots.take())
      throw new AppError('rate_limited', {
        hint: 'mail_tests_under_way',
        retryAfterSeconds: Math.ceil(patienceMs / SECOND),
      });
    try {
      return await lease(author, queue);
    } catch (error) {
      slots.release();
      throw error;
    }
  }

  /** Returns a transport that fails as the server in use does, so that the failure is an answer. */
  async function transportInUse(): Promise<MailTransport | null> {
    try {
      return await inUse.find();
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      return { slots: 1, send: () => Promise.reject(error), close() {} };
    }
  }

  return async (author, queue, candidate) => {
    const startedAt = performance.now();
    const since = () => Math.round(performance.now() - startedAt);
    const transport = candidate ?? (await transportInUse());
    if (transport === null) {
      await capture(author, queue);
      return { outcome: 'captured', answer: null, durationMs: since() };
    }
    const mail = await leased(author, queue);
    const patience = Promise.withResolvers<Omit<SentNow, 'durationMs'>>();
    const timer = setTimeout(() => patience.resolve({ outcome: 'timeout', answer: null }), patienceMs);
    const result = await Promise.race([attempt(transport, mail).finally(() => slots.release()), patience.promise]);
    clearTimeout(timer);
    return { ...result, durationMs: since() };
  };
}
