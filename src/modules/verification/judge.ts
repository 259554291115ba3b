/** Judges sessions and keys as of now, and records the use of valid ones. */
import type { Clock } from '../../core/clock.ts';
import type { KeyCredential } from '../../store/verification.ts';
import { expiredCredentials } from './expired-credentials.ts';
import type { LastSeen } from './last-seen.ts';
import type { TokenRefusal } from './model.ts';
import type { KeySubject, SessionSubject } from './subject.ts';
import { judgeKey, judgeSession } from './verdict.ts';

type Judged = SessionSubject | KeySubject | KeyCredential;

export interface Judge {
  /** Returns null if the session or key is valid, and records the use. */
  refusalOf(row: Judged): TokenRefusal | null;
  /** Judges without recording a use. @param now epoch ms. */
  judge(row: Judged, now: number): TokenRefusal | null;
}

export interface JudgeDependencies {
  readonly clock: Clock;
  readonly seen: Pick<LastSeen, 'sessionSeen' | 'keyUsed'>;
}

export function judgeOf({ clock, seen }: JudgeDependencies): Judge {
  const ended = expiredCredentials();

  function judge(row: Judged, now: number): TokenRefusal | null {
    return 'sessionId' in row
      ? unlessEnded(row.sessionId, row, judgeSession(row, now))
      : unlessEnded(row.keyId, row, judgeKey(row, now));
  }

  /** Keeps expired credentials expired when the clock goes back. */
  function unlessEnded(id: string, row: Judged, refusal: TokenRefusal | null): TokenRefusal | null {
    if (refusal === 'expired') ended.note(id, row);
    return refusal === null && ended.includes(id, row) ? 'expired' : refusal;
  }

  return {
    judge,
    refusalOf(row) {
      const now = clock.now();
      const refusal = judge(row, now);
      if (refusal !== null) return refusal;
      if ('sessionId' in row) seen.sessionSeen(row, now);
      else seen.keyUsed(row, now);
      return null;
    },
  };
}
