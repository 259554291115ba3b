/** Counts events in memory, and adds them to the day's counters every few seconds. A crash loses the last ones. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { startOfDay, startOfMonth, startOfWeek } from '../../core/calendar.ts';
import type { Clock } from '../../core/clock.ts';
import { ERROR_CATALOGUE } from '../../core/error.ts';
import { SESSION_METHODS } from '../../core/sign-in-methods.ts';
import { BOOKKEEPING, type Database } from '../../db/database.ts';
import type { NoteRefusal } from '../../http/limits.ts';
import type { AuditRecord } from '../../store/audit.ts';
import type { DeliveryAttempted } from '../../store/deliveries.ts';
import type { MemberSeen } from '../../store/members.ts';
import { NEVER } from '../../store/reservations.ts';
import { addDailyCounts, type DailyCount, type LimitReached, type Metric } from '../../store/stats.ts';

const SLICE_ROWS = 250;
/** Maximum number of unwritten counters, some 15 MB; events that would need another one are not counted. */
const MAX_WAITING = 50_000;

/** Counting never delays the caller. */
export interface Counts {
  readonly noteRefusal: NoteRefusal;
  recorded(record: AuditRecord): void;
  memberSeen(seen: MemberSeen): void;
  attempted(attempt: DeliveryAttempted): void;
  limitReached(reached: LimitReached): void;
  /** Writes everything counted before the call. */
  flush(): Promise<void>;
}

export function dailyCounter({ db, clock }: { readonly db: Database; readonly clock: Clock }): Counts {
  const waiting = new Map<string, { -readonly [Part in keyof DailyCount]: DailyCount[Part] }>();
  let writing = Promise.resolve();

  function count(applicationId: string, metric: Metric, day: number, label = ''): void {
    const key = `${applicationId} ${metric} ${day} ${label}`;
    const known = waiting.get(key);
    if (known) known.count += 1;
    else if (waiting.size < MAX_WAITING) waiting.set(key, { applicationId, metric, day, label, count: 1 });
  }

  function countNow(applicationId: string, metric: Metric, label: string): void {
    count(applicationId, metric, startOfDay(clock.now()), label);
  }

  /** Keeps what is counted during the write, and every count of a failed batch, for the next one. */
  async function writeAll(): Promise<void> {
    const keys = [...waiting.keys()];
    for (let from = 0; from < keys.length; from += SLICE_ROWS) {
      const slice = keys.slice(from, from + SLICE_ROWS).flatMap((key) => {
        const counter = waiting.get(key);
        return counter ? [{ key, counter, written: { ...counter } }] : [];
      });
      const counts = slice.map(({ written }) => written);
      await db.write(SYSTEM_ACTOR, (unit) => addDailyCounts(unit, counts), BOOKKEEPING);
      for (const { key, counter, written } of slice) {
        counter.count -= written.count;
        if (counter.count === 0) waiting.delete(key);
      }
    }
  }

  return {
    noteRefusal(applicationId, limit) {
      if (applicationId !== null) countNow(applicationId, 'limit_reached', limit);
    },
    limitReached: ({ applicationId, limit }) => countNow(applicationId, 'limit_reached', limit),
    recorded({ applicationId, kind, detail, createdAt }) {
      if (applicationId === null) return;
      const day = startOfDay(createdAt);
      if (kind === 'signin.succeeded') count(applicationId, 'sign_in', day, oneOf(SESSION_METHODS, detail?.['method']));
      if (kind === 'signin.refused' || kind === 'signin.code_refused')
        count(applicationId, 'refusal', day, oneOf(REASONS, detail?.['reason']));
    },
    memberSeen({ applicationId, at, before }) {
      const [week, month] = [startOfWeek(at), startOfMonth(at)];
      count(applicationId, 'active_day', startOfDay(at));
      if (before < week) count(applicationId, 'active_week', week);
      if (before < month) count(applicationId, 'active_month', month);
      if (before === NEVER) count(applicationId, 'new_user', startOfDay(at));
    },
    attempted({ applicationId, webhookId, isDelivered }) {
      countNow(applicationId, isDelivered ? 'delivered' : 'failed_attempt', webhookId);
    },
    flush() {
      writing = writing.catch(() => {}).then(writeAll);
      return writing;
    },
  };
}

const REASONS = Object.keys(ERROR_CATALOGUE);

/** Maps unknown labels to `other`, so that their number is bounded. */
function oneOf(words: readonly string[], given: unknown): string {
  return words.find((word) => word === given) ?? 'other';
}
