/**
 * The mail queue: leases queued mails, sends them, records outcomes. A crash may repeat a mail but never loses one. No
 * request waits for a mail server, and no code waits behind bulk mail.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { HOUR, MINUTE, SECOND, type WorldClock } from '../core/clock.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import type { Database } from '../db/database.ts';
import { isOutage } from '../db/errors.ts';
import {
  DUE_MAILS_READ,
  type DuePosition,
  endMailLeases,
  leaseMail,
  listDueMails,
  type Mail,
  MAIL_PRIORITIES,
  type MailPriority,
  type MailOutcome,
  recordMailOutcome,
} from '../store/mails.ts';
import { type Candidate, mailSlots } from './slots.ts';
import { MailError, type MailTransport } from './transport.ts';
import { recordUndelivered } from './undelivered.ts';

/** In real time, longer than any attempt, so that no lease ends during its attempt. */
const LEASE_MS = 2 * MINUTE;
const FIRST_RETRY_MS = 5 * SECOND;
export const LONGEST_MAIL_RETRY_MS = HOUR;

/** Real time after which a mail counts as stalled and frees its slot. */
const PATIENCE_MS = 2 * SECOND;
/** Mails examined per priority for one that may be sent, since blocked ones may come first. */
const MAX_LOOKED = 2000;

const PRIORITIES = Object.keys(MAIL_PRIORITIES) as MailPriority[];

/** This instance's only sender of queued mail. */
export interface MailQueue {
  /** Releases mails that a stop or crash left leased; call before anything is sent. */
  start(): Promise<void>;
  /** Sends due mails soon; several calls are one run. */
  wake(): void;
  /** Sends everything due, then resolves. */
  runOnce(): Promise<void>;
  /** Stops sending. The next start repeats unfinished mails: better twice than lost. */
  close(): void;
}

export interface MailQueueDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly transport: MailTransport;
  readonly leaseHolder: string;
  readonly log: Logger;
}

interface Result {
  readonly mail: Mail;
  readonly outcome: MailOutcome;
}

/** Starts no work until it is called. */
export function mailQueue({ db, clock, transport, leaseHolder: holder, log }: MailQueueDependencies): MailQueue {
  /** Mails without a recorded outcome. They are not leased again, even if their lease ends. */
  const unrecorded = new Set<string>();
  const slots = mailSlots(transport);
  const sending = new Set<Promise<void>>();
  const results: Result[] = [];
  /** Fills the free slots until nothing is due or no slot is left. */
  const { wake, run, stop, isStopped } = wakeLoop(round, (err) => {
    if (!isOutage(err)) log.error({ err }, 'mail could not be claimed; it will be tried again');
  });

  /** Returns the mails that may be leased now, most urgent first. */
  async function listClaimable(): Promise<Candidate[]> {
    const free = slots.free();
    const claimable: Candidate[] = [];
    for (const priority of PRIORITIES) {
      let after: DuePosition | undefined;
      for (let looked = 0; looked < MAX_LOOKED && !free.isFull(priority);) {
        const due = await listDueMails(db.reader, priority, { now: clock.now(), realNow: clock.real() }, after);
        for (const mail of due)
          if (!unrecorded.has(mail.id) && free.take({ ...mail, priority })) claimable.push({ ...mail, priority });
        if (due.length < DUE_MAILS_READ) break;
        after = due.at(-1);
        looked += due.length;
      }
    }
    return claimable;
  }

  function lease(claimable: readonly Candidate[]): Promise<[Mail, Candidate][]> {
    return db.write(SYSTEM_ACTOR, async (unit) => {
      const claimed: [Mail, Candidate][] = [];
      for (const candidate of claimable) {
        const realNow = clock.real();
        const lease = { id: candidate.id, holder, realNow, until: realNow + LEASE_MS };
        const mail = await leaseMail(unit, lease);
        if (mail) claimed.push([mail, candidate]);
      }
      return claimed;
    });
  }

  /** Records outcomes and starts new mails concurrently in two changes: either may fail without the other. */
  async function round(): Promise<boolean> {
    const returned = results.splice(0);
    const recorded = returned.length === 0 ? undefined : record(returned);
    const claimable = await listClaimable();
    const claimed = claimable.length === 0 ? [] : await lease(claimable);
    for (const [mail, candidate] of claimed) {
      unrecorded.add(mail.id);
      slots.begin(candidate);
      const work = send(mail).finally(() => sending.delete(work));
      sending.add(work);
    }
    await recorded;
    return claimed.length > 0;
  }

  async function record(returned: readonly Result[]): Promise<void> {
    try {
      await db.write(SYSTEM_ACTOR, async (unit) => {
        for (const { mail, outcome } of returned) {
          await recordMailOutcome(unit, mail.id, outcome);
          if (outcome.status === 'failed') await recordUndelivered(unit, mail, outcome);
        }
      });
    } catch (error) {
      // The leases end and the mails are sent again: better twice than never.
      log.error({ err: error }, 'mail results could not be recorded');
    } finally {
      for (const { mail } of returned) unrecorded.delete(mail.id);
    }
  }

  async function send(mail: Mail): Promise<void> {
    const patience = setTimeout(() => {
      slots.stall(mail.id);
      wake();
    }, PATIENCE_MS).unref();
    const outcome = mail.expiresAt <= clock.now() ? expired(mail) : await attempt(mail);
    clearTimeout(patience);
    slots.end(mail.id);
    if (isStopped()) return;
    results.push({ mail, outcome });
    wake();
  }

  /** Keeps the last refusal on record. */
  function expired({ id: mailId, attempts, lastError }: Mail): MailOutcome {
    log.error({ mailId, attempts, reason: lastError }, 'a mail expired before it could be sent');
    const error = `expired before it could be sent${lastError === null ? '' : `; the last time: ${lastError}`}`;
    return { status: 'failed', error, isExpired: true };
  }

  /** Sends a mail. Never throws: every failure is an outcome. */
  async function attempt(mail: Mail): Promise<MailOutcome> {
    const { id: mailId, attempts } = mail;
    try {
      await transport.send(mail);
      return { status: 'sent' };
    } catch (error) {
      const { reason, isPermanent } = error instanceof MailError ? error : new MailError(nameOf(error), false);
      if (isPermanent) {
        if (!isStopped()) log.error({ mailId, reason }, 'the mail server rejected a mail permanently');
        return { status: 'failed', error: reason, isExpired: false };
      }
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_MAIL_RETRY_MS);
      if (!isStopped()) log.warn({ mailId, attempts, reason, retryInMs: wait }, 'a mail could not be sent yet');
      return { status: 'queued', error: reason, nextAttemptAt: clock.now() + wait };
    }
  }

  return {
    async start() {
      // The folder's lock rules out another server with this id, so its leases are left by a stop or crash.
      await db.write(SYSTEM_ACTOR, (unit) => endMailLeases(unit, { holder, realNow: clock.real() }));
    },
    wake,
    async runOnce() {
      do {
        await run();
        if (sending.size > 0) await Promise.race(sending);
      } while (!isStopped() && (sending.size > 0 || results.length > 0));
    },
    close() {
      void stop();
      transport.close();
    },
  };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error';
}
