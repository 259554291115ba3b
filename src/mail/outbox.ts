/** Where there is no mail server: mail stays in the database, to be read there. Captured many in a change, without a lease. */
import type { Logger } from 'pino';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Database } from '../db/database.ts';
import { isOutage } from '../db/engine-error.ts';
import { captureDueMails, endMailLeases, type Mail } from '../store/mails.ts';
import { pump } from './pump.ts';
import type { MailQueue } from './queue.ts';

/** In one change: two milliseconds' work. */
const CAPTURED_AT_ONCE = 200;

/** What stands in for a mail server. */
export interface Outbox {
  /** Sees each mail as it is captured. */
  readonly onCapture: ((mail: Mail) => void) | null;
}

export interface OutboxDependencies extends Outbox {
  readonly db: Database;
  readonly log: Logger;
}

/** Runs no statement by itself: its calls do. */
export function outboxQueue({ db, log, onCapture }: OutboxDependencies): MailQueue {
  async function capture(): Promise<boolean> {
    const captured = await db.write(SYSTEM_ACTOR, (unit) => captureDueMails(unit, CAPTURED_AT_ONCE));
    if (onCapture) for (const mail of captured) onCapture(mail);
    return captured.length === CAPTURED_AT_ONCE;
  }

  const { wake, run, close } = pump(capture, (err) => {
    if (!isOutage(err)) log.error({ err }, 'mail could not be captured; it will be tried again');
  });
  return {
    start: () => db.write(SYSTEM_ACTOR, endMailLeases),
    wake,
    runOnce: run,
    close,
  };
}
