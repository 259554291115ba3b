/** Limits how many workspaces an account may create, in all and per day. */
import { isoTime, SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import type { LimitState } from '../../http/rate-limit.ts';
import { countWorkspacesMade, listCreationTimes } from '../../store/workspaces.ts';

export type CreationSettings = Pick<LimitSettings, 'workspacesPerAccount' | 'workspacesPerDay'>;

const { windowMs } = LIMITS.workspacesPerDay;

interface DayState extends LimitState {
  /** When the oldest of them is 24 hours old, in epoch milliseconds. */
  readonly resetAt: number;
}

export type CreationLimit = ReturnType<typeof creationLimit>;

export function creationLimit({ workspacesPerAccount, workspacesPerDay }: CreationSettings) {
  /** @returns null if there is no daily limit. */
  async function ofDay(unit: Unit, userId: string): Promise<DayState | null> {
    const { now } = unit;
    if (workspacesPerDay === null) return null;
    const times = await listCreationTimes(unit, { userId, since: now - windowMs, until: now });
    const remaining = Math.max(0, workspacesPerDay - times.length);
    // At the limit, the oldest of the last `workspacesPerDay` has to become 24 hours old first.
    const resetAt = (times[workspacesPerDay - 1] ?? times.at(-1) ?? now) + windowMs;
    const resetSeconds = Math.max(1, Math.ceil((resetAt - now) / SECOND));
    return { isAllowed: remaining > 0, limit: workspacesPerDay, remaining, resetSeconds, resetAt };
  }

  return {
    ofDay,

    /** @throws {AppError} conflict at the account's total limit; rate_limited at its daily limit. */
    async requireRoom(unit: Unit, userId: string): Promise<void> {
      if (workspacesPerAccount !== null && (await countWorkspacesMade(unit, userId)) >= workspacesPerAccount)
        throw new AppError('conflict', { hint: 'too_many_workspaces', values: { max: workspacesPerAccount } });
      const day = await ofDay(unit, userId);
      if (day === null || day.isAllowed) return;
      const { limit, resetAt, resetSeconds: retryAfterSeconds } = day;
      const values = { max: limit, at: isoTime(resetAt) };
      throw new AppError('rate_limited', { hint: 'workspaces_of_day_made', values, limit, retryAfterSeconds });
    },
  };
}
