/** Counts events in memory, and adds them to the counters of day and hour every few seconds. A crash loses the last ones. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { startOfDay, startOfHour } from '../../core/calendar.ts';
import { type Clock, DAY } from '../../core/clock.ts';
import { ERROR_CATALOGUE } from '../../core/error.ts';
import { SESSION_METHODS } from '../../core/sign-in-methods.ts';
import { BOOKKEEPING, type Database } from '../../db/database.ts';
import type { NoteRefusal } from '../../http/limits.ts';
import type { AuditRecord } from '../../store/audit.ts';
import type { DeliveryAttempted } from '../../store/deliveries.ts';
import { addHourlyCounts, type HourlyCount } from '../../store/hourly-counts.ts';
import type { FirstSeen } from '../../store/last-seen.ts';
import { NEVER } from '../../store/reservations.ts';
import { addDailyCounts, type DailyCount, type GapMetric, type LimitReached, type Metric } from '../../store/stats.ts';
import { countBuffer } from './count-buffer.ts';
import { keyCalls, type NoteKeyCalls } from './key-calls.ts';
import { latencyMetric } from '../webhooks/latency.ts';
import { ACTIVE_PERIODS, activeMetric, type ActivePeriod, LONGEST_GAP, sessionMetric } from './rolling.ts';

/** Counting never delays the caller. */
export interface Counts {
  readonly noteRefusal: NoteRefusal;
  recorded(record: AuditRecord): void;
  memberSeen(seen: FirstSeen): void;
  sessionSeen(seen: FirstSeen): void;
  attempted(attempt: DeliveryAttempted): void;
  limitReached(reached: LimitReached): void;
  readonly keyCalled: NoteKeyCalls;
  /** Writes everything counted before the call. */
  flush(): Promise<void>;
}

export function dailyCounter({ db, clock }: { readonly db: Database; readonly clock: Clock }): Counts {
  const days = countBuffer<Omit<DailyCount, 'count'>>(async (counts) => {
    await db.write(SYSTEM_ACTOR, (unit) => addDailyCounts(unit, counts), BOOKKEEPING);
  });
  const hours = countBuffer<Omit<HourlyCount, 'count'>>(async (counts) => {
    await db.write(SYSTEM_ACTOR, (unit) => addHourlyCounts(unit, counts), BOOKKEEPING);
  });

  function count(applicationId: string, metric: Metric, at: number, label = ''): void {
    const day = startOfDay(at);
    days.add(`${applicationId} ${metric} ${day} ${label}`, { applicationId, metric, day, label });
  }

  const calls = keyCalls();

  function countHour(subject: string, metric: string, at: number, times = 1): void {
    const hour = startOfHour(at);
    hours.add(`${subject} ${metric} ${hour}`, { subject, metric, hour }, times);
  }

  /** Counts by day and hour: a period is compared with the one before it up to the same hour. */
  function countBoth(applicationId: string, metric: Metric, at: number, label = ''): void {
    count(applicationId, metric, at, label);
    countHour(applicationId, metric, at);
  }

  function countGap(
    metric: GapMetric,
    hourly: (period: ActivePeriod) => string,
    { applicationId, at, before }: FirstSeen,
  ): void {
    const gap = before === NEVER ? LONGEST_GAP : Math.min(LONGEST_GAP, (startOfDay(at) - startOfDay(before)) / DAY);
    count(applicationId, metric, at, String(gap));
    for (const period of ACTIVE_PERIODS) if (gap >= period) countHour(applicationId, hourly(period), at);
  }

  return {
    noteRefusal(applicationId, limit) {
      if (applicationId !== null) count(applicationId, 'limit_reached', clock.now(), limit);
    },
    limitReached: ({ applicationId, limit }) => count(applicationId, 'limit_reached', clock.now(), limit),
    recorded({ applicationId, kind, detail, createdAt }) {
      if (applicationId === null) return;
      if (kind === 'signin.succeeded')
        countBoth(applicationId, 'sign_in', createdAt, oneOf(SESSION_METHODS, detail?.['method']));
      if (kind === 'signin.refused' || kind === 'signin.code_refused')
        countBoth(applicationId, 'refusal', createdAt, oneOf(REASONS, detail?.['reason']));
    },
    memberSeen(seen) {
      const { applicationId, at, before } = seen;
      count(applicationId, 'active_day', at);
      countGap('active_gap', activeMetric, seen);
      if (before === NEVER) countBoth(applicationId, 'new_user', at);
    },
    sessionSeen: (seen) => countGap('session_gap', sessionMetric, seen),
    attempted({ applicationId, webhookId, kind, isDelivered, durationMs }) {
      if (kind !== 'events') return;
      const now = clock.now();
      count(applicationId, isDelivered ? 'delivered' : 'failed_attempt', now, webhookId);
      countHour(webhookId, isDelivered ? 'delivered' : 'failed', now);
      countHour(webhookId, latencyMetric(durationMs), now);
    },
    keyCalled: calls.called,
    async flush() {
      for (const { keyId, metric, count } of calls.take()) countHour(keyId, metric, clock.now(), count);
      await Promise.all([days.flush(), hours.flush()]);
    },
  };
}

const REASONS = Object.keys(ERROR_CATALOGUE);

/** Maps unknown labels to `other`, so that their number is bounded. */
function oneOf(words: readonly string[], given: unknown): string {
  return words.find((word) => word === given) ?? 'other';
}
