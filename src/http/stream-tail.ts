/**
 * Notices of committed rows for the open streams of one kind: at once by news of the change, and by a poll of the rows
 * where news was lost. The poll is one statement for all streams of this instance.
 */
import type { Clock } from '../core/clock.ts';
import type { RecordKind } from '../core/id.ts';
import { recentSet } from '../core/recent-set.ts';
import type { LateRows } from './recent-ids.ts';

/** Interval of the poll: the delay of a notice whose news was lost. */
export const POLL_MS = 3000;

/** Rows of a poll. Where there are more, every stream reads. */
const MAX_ROWS = 10_000;

/** Ids remembered, so that a poll repeats no news. */
const MAX_SEEN = 20_000;

export interface StreamTailOptions<Notice> {
  readonly kind: RecordKind;
  readonly clock: Clock;
  /** How long after the time in its id a row may become visible; 0 where ids become visible in order. */
  readonly lateMs: number;
  /** Returns the newest notices for open streams from a time on. */
  list(from: number, limit: number): Promise<readonly Notice[]>;
  /** Returns whether a notice concerns an open stream. */
  isFollowed(notice: Notice): boolean;
  /** Gets each notice once, in the order of the rows as far as it is known. */
  publish(notices: readonly Notice[]): void;
  /** Has every stream read on: notices were left out. */
  wakeAll(): void;
}

export interface StreamTail<Notice> {
  /** Takes the news of commits. */
  hear(notices: readonly Notice[]): void;
  /** Finds the rows without news. */
  poll(): Promise<void>;
  /** Null where rows become visible in the order of their ids. */
  readonly late: LateRows | null;
}

export function streamTail<Notice extends { readonly id: string }>({
  kind,
  clock,
  lateMs,
  list,
  isFollowed,
  publish,
  wakeAll,
}: StreamTailOptions<Notice>): StreamTail<Notice> {
  const seen = recentSet<string>(MAX_SEEN);
  let polledAt: number | null = null;

  const settledUntil = () => (polledAt ??= clock.now()) - lateMs;

  const unseen = (notices: readonly Notice[]) => notices.filter(({ id }) => seen.add(id));

  return {
    hear(notices) {
      const followed = notices.filter(isFollowed);
      publish(lateMs === 0 ? followed : unseen(followed));
    },
    async poll() {
      const at = clock.now();
      const notices = await list(settledUntil(), MAX_ROWS);
      publish(unseen(notices.toReversed()));
      if (notices.length === MAX_ROWS) wakeAll();
      polledAt = at;
    },
    late: lateMs === 0 ? null : { kind, settledUntil },
  };
}
