/**
 * Hourly mail budgets for mails that the recipient did not just request, such as invitations, counted in the change
 * that queues them. Codes and account notices are not counted.
 */
import { HOUR } from '../core/clock.ts';
import { AppError } from '../core/error.ts';
import type { Reader, Unit } from '../db/database.ts';
import { findBudget } from '../store/budgets.ts';
import { type OutgoingMail, queueMail } from '../store/mails.ts';
import { addToRateCounter, type CounterKey, findRateCount } from '../store/rate-counters.ts';

/** Stored value; do not rename. */
const BUCKET = 'workspace-mail';

export interface MailStanding {
  readonly limit: number;
  readonly remaining: number;
  /** True if one more mail may be queued. */
  readonly isAllowed: boolean;
  /** Seconds until the hour ends, at least 1. */
  readonly resetSeconds: number;
}

/** Budgets by workspace; the key null is the console's. */
export interface WorkspaceMail {
  standing(reader: Reader, workspaceId: string | null, now: number): Promise<MailStanding>;
  /** Returns how many mails may still be queued this hour. */
  left(unit: Unit, workspaceId: string | null): Promise<number>;
  /** Queues all mails or none. @returns their ids. @throws {AppError} rate_limited if too few are left. */
  queue(unit: Unit, workspaceId: string | null, mails: readonly OutgoingMail[]): Promise<string[]>;
}

/** @param perHour mails per clock hour. */
export function workspaceMail(perHour: number): WorkspaceMail {
  async function standing(reader: Reader, workspaceId: string | null, now: number): Promise<MailStanding> {
    const key = await keyOf(reader, workspaceId, now);
    const remaining = Math.max(0, perHour - (await findRateCount(reader, key)));
    const resetSeconds = Math.max(1, Math.ceil((key.windowEndsAt - now) / 1000));
    return { isAllowed: remaining > 0, limit: perHour, remaining, resetSeconds };
  }

  return {
    standing,
    async left(unit, workspaceId) {
      return (await standing(unit, workspaceId, unit.now)).remaining;
    },
    async queue(unit, workspaceId, mails) {
      if (mails.length === 0) return [];
      const { limit, remaining, resetSeconds } = await standing(unit, workspaceId, unit.now);
      if (mails.length > remaining)
        throw new AppError('rate_limited', {
          hint: 'workspace_mail_spent',
          values: { max: limit },
          limit,
          retryAfterSeconds: resetSeconds,
        });
      await addToRateCounter(unit, { ...(await keyOf(unit, workspaceId, unit.now)), count: mails.length });
      const ids: string[] = [];
      for (const mail of mails) ids.push(await queueMail(unit, mail));
      return ids;
    },
  };
}

async function keyOf(reader: Reader, workspaceId: string | null, now: number): Promise<CounterKey> {
  const subject = await findBudget(reader, workspaceId);
  const windowStartedAt = now - (now % HOUR);
  return { bucket: BUCKET, subject, windowStartedAt, windowEndsAt: windowStartedAt + HOUR };
}
