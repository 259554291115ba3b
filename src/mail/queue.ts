/**
 * The mail queue: leases queued mails, sends them, records outcomes. Any number of instances share one queue. A crash may
 * repeat a mail but never loses one. No request waits for a mail server, and no code waits behind bulk mail.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { HOUR, SECOND, type WorldClock } from '../core/clock.ts';
import { deadlineIn, waitUntil } from '../core/deadline.ts';
import type { Claim } from '../core/lease-keeper.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import { CLAIMING, type Database, type Unit } from '../db/database.ts';
import { isOutage, isUnavailable } from '../db/errors.ts';
import {
  DUE_MAILS_READ,
  type DuePosition,
  endMailLeases,
  listDueMails,
  type Mail,
  MAIL_PRIORITIES,
  type MailPriority,
  type MailOutcome,
  recordMailOutcome,
} from '../store/mails.ts';
import type { LeasedMail, MailLeases } from './leases.ts';
import { type Candidate, mailSlots } from './slots.ts';
import { MailError, type MailTransport } from './transport.ts';
import { recordUndelivered } from './undelivered.ts';

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
  /**
   * Stops sending. Waits up to `patienceMs` for mails under way, none by default, and records them; the others are sent
   * again later: better twice than lost.
   */
  close(patienceMs?: number): Promise<void>;
}

export interface MailQueueDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly transport: MailTransport;
  readonly leases: MailLeases;
  readonly leaseHolder: string;
  readonly log: Logger;
}

interface Result {
  readonly mail: Mail;
  readonly outcome: MailOutcome;
}

/** Starts no work until it is called. */
export function mailQueue({ db, clock, transport, leases, leaseHolder, log }: MailQueueDependencies): MailQueue {
  const slots = mailSlots(transport);
  let isClosed = false;
  const sending = new Set<Promise<void>>();
  const results: Result[] = [];
  /** Results to be recorded once the database takes changes again. */
  const postponed: Result[] = [];
  /** Fills the free slots until nothing is due or no slot is left. */
  const loop = wakeLoop(round, (err) => {
    if (!isOutage(err)) log.error({ err }, 'mail could not be claimed; it will be tried again');
  });

  /** Returns the mails that may be leased now, most urgent first. */
  async function listClaimable(): Promise<(Candidate & Claim)[]> {
    const free = slots.free();
    const claimable: (Candidate & Claim)[] = [];
    for (const priority of PRIORITIES) {
      let after: DuePosition | undefined;
      for (let looked = 0; looked < MAX_LOOKED && !free.isFull(priority);) {
        const due = await listDueMails(db.reader, priority, { now: clock.now(), realNow: clock.real() }, after);
        for (const mail of due)
          if (!leases.has(mail.id) && free.take({ ...mail, priority })) claimable.push({ ...mail, priority });
        if (due.length < DUE_MAILS_READ) break;
        after = due.at(-1);
        looked += due.length;
      }
    }
    return claimable;
  }

  /** Records outcomes and starts new mails concurrently in two changes: either may fail without the other. */
  async function round(): Promise<boolean> {
    const returned = results.splice(0);
    const recorded = returned.length === 0 ? undefined : record(returned);
    await leases.releaseDoubted();
    const claimable = await listClaimable();
    const leased = claimable.length === 0 ? [] : await leases.take(claimable);
    const byId = new Map(leased.map((one) => [one.mail.id, one]));
    // The most urgent first.
    for (const candidate of claimable) {
      const one = byId.get(candidate.id);
      if (one) begin(one, candidate);
    }
    await recorded;
    return leased.length > 0;
  }

  function begin({ mail, until }: LeasedMail, candidate: Candidate): void {
    slots.begin(candidate);
    const work = send(mail, leases.hold(mail, until)).finally(() => sending.delete(work));
    sending.add(work);
  }

  async function record(returned: readonly Result[]): Promise<void> {
    try {
      const lost = await db.write(
        SYSTEM_ACTOR,
        async (unit) => {
          const recorded = await Promise.all(returned.map((result) => recordOutcome(unit, result)));
          return returned.filter((_, index) => recorded[index] !== true);
        },
        CLAIMING,
      );
      for (const { mail } of lost) logLoss(mail);
    } catch (error) {
      if (isUnavailable(error)) return void postponed.push(...returned);
      // The leases end and the mails are sent again: better twice than never.
      log.error({ err: error }, 'mail results could not be recorded');
    }
    for (const { mail } of returned) leases.end(mail);
  }

  async function recordOutcome(unit: Unit, { mail, outcome }: Result): Promise<boolean> {
    const isRecorded = await recordMailOutcome(unit, mail, outcome);
    if (isRecorded && outcome.status === 'failed') await recordUndelivered(unit, mail, outcome);
    return isRecorded;
  }

  function logLoss({ id: mailId, attempts }: Mail): void {
    log.warn(
      { mailId, attempts },
      'a mail was not recorded here: it was taken over or deleted, or is on record already',
    );
  }

  /** @param lost ends the wait: a mail server cannot be told to forget a mail, but its answer no longer counts. */
  async function send(mail: Mail, lost: AbortSignal): Promise<void> {
    const patience = setTimeout(() => {
      slots.stall(mail.id);
      loop.wake();
    }, PATIENCE_MS).unref();
    const outcome = lost.aborted ? null : await Promise.race([outcomeOf(mail), aborted(lost)]);
    clearTimeout(patience);
    slots.end(mail.id);
    if (outcome === null) {
      logLoss(mail);
      leases.end(mail);
    } else if (!isClosed) results.push({ mail, outcome });
    loop.wake();
  }

  async function outcomeOf(mail: Mail): Promise<MailOutcome> {
    return mail.expiresAt <= clock.now() ? expired(mail) : attempt(mail);
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
        if (!isClosed) log.error({ mailId, reason }, 'the mail server rejected a mail permanently');
        return { status: 'failed', error: reason, isExpired: false };
      }
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_MAIL_RETRY_MS);
      if (!isClosed) log.warn({ mailId, attempts, reason, retryInMs: wait }, 'a mail could not be sent yet');
      return { status: 'queued', error: reason, nextAttemptAt: clock.now() + wait };
    }
  }

  /** Takes up the results of an outage, too. */
  function retryPostponed(): void {
    results.push(...postponed.splice(0));
  }

  return {
    async start() {
      // No other living instance has this id, so its leases are left by a stop or crash.
      const stale = { holder: leaseHolder, realNow: clock.real() };
      await db.write(SYSTEM_ACTOR, (unit) => endMailLeases(unit, stale));
    },
    wake() {
      retryPostponed();
      loop.wake();
    },
    async runOnce() {
      retryPostponed();
      do {
        await loop.run();
        if (sending.size > 0) await Promise.race(sending);
      } while (!loop.isStopped() && (sending.size > 0 || results.length > 0));
    },
    async close(patienceMs = 0) {
      const stopped = loop.stop();
      if (patienceMs > 0 && sending.size > 0) await waitUntil(deadlineIn(patienceMs), Promise.all(sending));
      isClosed = true;
      transport.close();
      await stopped;
      if (patienceMs > 0 && results.length > 0) await record(results.splice(0));
    },
  };
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error';
}
