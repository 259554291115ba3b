/** Judges sessions and keys as of now, and records the use of valid ones. */
import { expiredCredentials } from './expired-credentials.ts';
import type { LastSeen, UsedKey, UsedSession } from './last-seen.ts';
import type { TokenRefusal } from './model.ts';
import { refusalAt, type Validity } from './validity.ts';

type Judged = Validity & (UsedSession | UsedKey);

export interface Judge {
  /** Returns null if the session or key is valid, and records the use. @param now epoch ms. */
  refusalOf(row: Judged, now: number): TokenRefusal | null;
  /** Judges without recording a use. @param now epoch ms. */
  judge(row: Judged, now: number): TokenRefusal | null;
}

/** @param seen notes the uses. */
export function judgeOf(seen: Pick<LastSeen, 'sessionSeen' | 'keyUsed'>): Judge {
  const ended = expiredCredentials();

  /** Keeps expired credentials expired when the clock goes back. */
  function judge(row: Judged, now: number): TokenRefusal | null {
    const refusal = refusalAt(row, now);
    if (refusal === 'expired') ended.note(idOf(row), row.endsAt);
    return refusal === null && ended.includes(idOf(row), row.endsAt) ? 'expired' : refusal;
  }

  return {
    judge,
    refusalOf(row, now) {
      const refusal = judge(row, now);
      if (refusal !== null) return refusal;
      if ('sessionId' in row) seen.sessionSeen(row, now);
      else seen.keyUsed(row, now);
      return null;
    },
  };
}

const idOf = (row: Judged): string => ('sessionId' in row ? row.sessionId : row.keyId);
