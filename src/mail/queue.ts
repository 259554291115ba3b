/**
 * The mail queue: claims queued mails with a lease, sends, records. A crash may repeat a mail, but never loses one. No
 * request waits for a mail server, and no code that somebody waits for stands behind mails to many.
 */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { HOUR, MINUTE, SECOND, type WorldClock } from '../core/clock.ts';
import type { Database } from '../db/database.ts';
import { isOutage } from '../db/engine-error.ts';
import {
  DUE_MAILS_READ,
  type DuePosition,
  endMailLeases,
  leaseMail,
  listDueMails,
  type Mail,
  MAIL_LANES,
  type MailLane,
  type MailOutcome,
  recordMailOutcome,
} from '../store/mails.ts';
import { pump } from './pump.ts';
import { type Candidate, inFlight } from './places.ts';
import { MailError, type MailTransport } from './transport.ts';
import { recordUndelivered } from './undelivered.ts';

/** In real time, longer than an attempt can take, so that a lease never runs out under a live one. */
const LEASE_MS = 2 * MINUTE;
const FIRST_RETRY_MS = 5 * SECOND;
export const LONGEST_MAIL_RETRY_MS = HOUR;

/** How long a mail takes at most that does not hang, in real time; then others no longer wait for its place. */
const PATIENCE_MS = 2 * SECOND;
/** How many of a lane are looked at for those that may go: what hangs may stand before them. */
const MAX_LOOKED = 2000;

const LANES = Object.keys(MAIL_LANES) as MailLane[];

/** The one sender of queued mail. */
export interface MailQueue {
  /** Takes up at once what a stop or a crash left under way; to be called before anything is sent. */
  start(): Promise<void>;
  /** Sends what is due, soon; many calls are one look. */
  wake(): void;
  /** Sends everything that is due, and returns when it has. */
  runOnce(): Promise<void>;
  /** Sends no more. What is under way is left to the next start: sent twice rather than lost. */
  close(): void;
}

export interface MailQueueDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly transport: MailTransport;
  readonly log: Logger;
}

interface Result {
  readonly mail: Mail;
  readonly outcome: MailOutcome;
}

/** Runs no statement and sends nothing by itself: its calls do. */
export function mailQueue({ db, clock, transport, log }: MailQueueDependencies): MailQueue {
  /** Mails whose outcome is not recorded yet. None is claimed again, even if its lease runs out. */
  const here = new Set<string>();
  /** Those that are being sent. */
  const places = inFlight(transport);
  const sending = new Set<Promise<void>>();
  const results: Result[] = [];
  /** Fills the free places until nothing more is due or there are none. */
  const { wake, run, close, isClosed } = pump(turn, (err) => {
    if (!isOutage(err)) log.error({ err }, 'mail could not be claimed; it will be tried again');
  });

  /** What may be claimed now, the most urgent first. */
  async function listClaimable(): Promise<Candidate[]> {
    const room = places.room();
    const claimable: Candidate[] = [];
    for (const lane of LANES) {
      let after: DuePosition | undefined;
      for (let looked = 0; looked < MAX_LOOKED && !room.isFull(lane);) {
        const due = await listDueMails(db.reader, lane, { now: clock.now(), realNow: clock.real() }, after);
        for (const mail of due)
          if (!here.has(mail.id) && room.take({ ...mail, lane })) claimable.push({ ...mail, lane });
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
        const mail = await leaseMail(unit, candidate.id, { realNow, until: realNow + LEASE_MS });
        if (mail) claimed.push([mail, candidate]);
      }
      return claimed;
    });
  }

  /** Records what has come back and fills its places, in two changes at once: either may fail without the other. */
  async function turn(): Promise<boolean> {
    const returned = results.splice(0);
    const recorded = returned.length === 0 ? undefined : record(returned);
    const claimable = await listClaimable();
    const claimed = claimable.length === 0 ? [] : await lease(claimable);
    for (const [mail, candidate] of claimed) {
      here.add(mail.id);
      places.begin(candidate);
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
      // The leases run out, and the mails are sent again: twice rather than never.
      log.error({ err: error }, 'what became of mails could not be recorded');
    } finally {
      for (const { mail } of returned) here.delete(mail.id);
    }
  }

  async function send(mail: Mail): Promise<void> {
    const patience = setTimeout(() => {
      places.hang(mail.id);
      wake();
    }, PATIENCE_MS).unref();
    const outcome = mail.expiresAt <= clock.now() ? expired(mail) : await attempt(mail);
    clearTimeout(patience);
    places.end(mail.id);
    if (isClosed()) return;
    results.push({ mail, outcome });
    wake();
  }

  /** Why it was not taken before stays on record. */
  function expired({ id: mailId, attempts, lastError }: Mail): MailOutcome {
    log.error({ mailId, attempts, reason: lastError }, 'a mail expired before it could be sent');
    const error = `expired before it could be sent${lastError === null ? '' : `; the last time: ${lastError}`}`;
    return { status: 'failed', error, isExpired: true };
  }

  /** Never throws: whatever happens is an outcome. */
  async function attempt(mail: Mail): Promise<MailOutcome> {
    const { id: mailId, attempts } = mail;
    try {
      await transport.send(mail);
      return { status: 'sent' };
    } catch (error) {
      const { reason, isPermanent } = error instanceof MailError ? error : new MailError(nameOf(error), false);
      if (isPermanent) {
        if (!isClosed()) log.error({ mailId, reason }, 'the mail server refused a mail for good');
        return { status: 'failed', error: reason, isExpired: false };
      }
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LONGEST_MAIL_RETRY_MS);
      if (!isClosed()) log.warn({ mailId, attempts, reason, retryInMs: wait }, 'a mail could not be sent yet');
      return { status: 'queued', error: reason, nextAttemptAt: clock.now() + wait };
    }
  }

  return {
    async start() {
      // The folder's lock says that nobody else sends: a lease left by a stop or a crash need not be waited for.
      await db.write(SYSTEM_ACTOR, endMailLeases);
    },
    wake,
    async runOnce() {
      do {
        await run();
        if (sending.size > 0) await Promise.race(sending);
      } while (!isClosed() && (sending.size > 0 || results.length > 0));
    },
    close() {
      close();
      transport.close();
    },
  };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown error';
}
