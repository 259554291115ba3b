/**
 * The mail queue: claims queued mails with a lease, sends, records. A crash repeats a mail, never loses one; a request
 * never waits for a mail server.
 */
import type { Logger } from 'pino';
import { type Clock, HOUR, MINUTE, SECOND } from '../core/clock.ts';
import type { Database } from '../db/unit-of-work.ts';
import { type Mail, type MailTransport, PermanentMailError } from './transport.ts';

const LEASE_MS = 2 * MINUTE;
const CLAIM = 20;
const FIRST_RETRY_MS = 5 * SECOND;
const LONGEST_RETRY_MS = HOUR;

export interface MailQueue {
  /** Sends everything that is due, and returns when it has. Calls while it runs join the run. */
  runOnce(): Promise<void>;
  /** Sends no more. What is under way is left to the next start: sent twice rather than lost. */
  close(): void;
}

export interface MailQueueDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly transport: MailTransport;
  readonly log: Logger;
}

export function mailQueue({ db, clock, transport, log }: MailQueueDependencies): MailQueue {
  const claim = db.sqlite.prepare<Mail, [number, number, number]>(
    `UPDATE mails SET leased_until = ?, attempts = attempts + 1
     WHERE id IN (SELECT id FROM mails WHERE status = 'queued' AND next_attempt_at <= ?
       AND (leased_until IS NULL OR leased_until <= ?) ORDER BY next_attempt_at LIMIT ${CLAIM})
     RETURNING id, recipient, subject, text, html, code, status, attempts, next_attempt_at AS nextAttemptAt,
       leased_until AS leasedUntil, expires_at AS expiresAt, last_error AS lastError, created_at AS createdAt,
       sent_at AS sentAt`,
  );
  const recordSent = db.sqlite.prepare(
    `UPDATE mails SET status = 'sent', sent_at = ?, leased_until = NULL, text = NULL, html = NULL, code = NULL,
       last_error = NULL WHERE id = ?`,
  );
  const recordCaptured = db.sqlite.prepare(
    `UPDATE mails SET status = 'captured', sent_at = ?, leased_until = NULL WHERE id = ?`,
  );
  const recordRetry = db.sqlite.prepare(
    'UPDATE mails SET next_attempt_at = ?, leased_until = NULL, last_error = ? WHERE id = ?',
  );
  const recordFailed = db.sqlite.prepare(
    `UPDATE mails SET status = 'failed', leased_until = NULL, text = NULL, html = NULL, code = NULL, last_error = ?
     WHERE id = ?`,
  );

  let isClosed = false;

  // The folder's lock says that nobody else sends: a lease left by a stop or a crash need not be waited for.
  db.sqlite.run("UPDATE mails SET leased_until = NULL WHERE status = 'queued' AND leased_until IS NOT NULL");

  async function deliver(mail: Mail): Promise<void> {
    if (mail.expiresAt <= clock.now()) {
      recordFailed.run('expired before it could be sent', mail.id);
      log.error({ mailId: mail.id, attempts: mail.attempts }, 'a mail expired before it could be sent');
      return;
    }
    try {
      const { status } = await transport.send(mail);
      if (isClosed) return;
      (status === 'sent' ? recordSent : recordCaptured).run(clock.now(), mail.id);
    } catch (error) {
      if (isClosed) return;
      const reason = describe(error);
      if (error instanceof PermanentMailError) {
        recordFailed.run(reason, mail.id);
        log.error({ mailId: mail.id, reason }, 'the mail server refused a mail for good');
        return;
      }
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (mail.attempts - 1), LONGEST_RETRY_MS);
      recordRetry.run(clock.now() + wait, reason, mail.id);
      log.warn({ mailId: mail.id, attempts: mail.attempts, reason, retryInMs: wait }, 'a mail could not be sent yet');
    }
  }

  async function drain(): Promise<void> {
    while (!isClosed) {
      const now = clock.now();
      const claimed = claim.all(now + LEASE_MS, now, now);
      if (claimed.length === 0) return;
      await Promise.all(claimed.map(deliver));
    }
  }

  let running: Promise<void> | undefined;
  let isWanted = false;

  return {
    async runOnce() {
      isWanted = true;
      // A mail queued while a run is ending must not wait for the next tick.
      running ??= (async () => {
        try {
          while (isWanted) {
            isWanted = false;
            await drain();
          }
        } finally {
          running = undefined;
        }
      })();
      await running;
    },
    close() {
      isClosed = true;
      transport.close();
    },
  };
}

/** What went wrong in words that hold no address and no part of the message. */
function describe(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  return [code, responseCode].filter(Boolean).join(' ') || (error instanceof Error ? error.name : 'unknown error');
}
