/** Mail queue without a mail server: captures due mails in the database, many per change and without leases. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { wakeLoop } from '../core/wake-loop.ts';
import { CLAIMING, type Database, type Unit } from '../db/database.ts';
import { isOutage } from '../db/errors.ts';
import { captureDueMails, type Mail } from '../store/mails.ts';
import type { MailQueue } from './queue.ts';

/** Batch size; one batch takes about 2 ms. */
const CAPTURED_AT_ONCE = 200;

export interface Outbox {
  readonly onCapture: ((mail: Mail) => void) | null;
  /** True if no mail may leave this instance, whatever server its database names, as in a drill. */
  readonly isOnly?: boolean;
}

export interface OutboxDependencies extends Outbox {
  readonly db: Database;
  readonly log: Logger;
  /** Returns whether a mail server has been set since the queue woke; nothing is captured then. */
  readonly hasServer: (unit: Unit) => Promise<boolean>;
}

/** Starts no work until it is called. */
export function outboxQueue({ db, log, onCapture, hasServer }: OutboxDependencies): MailQueue {
  async function capture(): Promise<boolean> {
    const captured = await db.write(
      SYSTEM_ACTOR,
      async (unit) => ((await hasServer(unit)) ? [] : captureDueMails(unit, CAPTURED_AT_ONCE)),
      CLAIMING,
    );
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
