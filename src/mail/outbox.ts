/** Mail queue without a mail server: captures due mails in the database, many per change and without leases. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import { CLAIMING, type Database } from '../db/database.ts';
import { isOutage } from '../db/errors.ts';
import { captureDueMails, type Mail } from '../store/mails.ts';
import type { MailQueue } from './queue.ts';

/** Batch size; one batch takes about 2 ms. */
const CAPTURED_AT_ONCE = 200;

export interface Outbox {
  readonly onCapture: ((mail: Mail) => void) | null;
}

export interface OutboxDependencies extends Outbox {
  readonly db: Database;
  readonly log: Logger;
}

/** Starts no work until it is called. */
export function outboxQueue({ db, log, onCapture }: OutboxDependencies): MailQueue {
  async function capture(): Promise<boolean> {
    const captured = await db.write(SYSTEM_ACTOR, (unit) => captureDueMails(unit, CAPTURED_AT_ONCE), CLAIMING);
    if (onCapture) for (const mail of captured) onCapture(mail);
    return captured.length === CAPTURED_AT_ONCE;
  }

  const { wake, run, stop } = wakeLoop(capture, (err) => {
    if (!isOutage(err)) log.error({ err }, 'mail could not be captured; it will be tried again');
  });
  return {
    start: async () => {},
    wake,
    runOnce: run,
    close: stop,
  };
}
