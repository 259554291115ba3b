/** Remembers when sessions, memberships and keys were last seen, and writes it down in batches off the request's path. */
import type { Database } from '../../db/unit-of-work.ts';
import { MINUTE } from '../../core/clock.ts';

const RESOLUTION_MS = MINUTE;
const BATCH = 250;

export interface LastSeen {
  /** @param known what the row said when it was read; nothing is noted while that is less than a minute old. */
  sessionSeen(sessionId: string, applicationUserId: string, known: number, now: number): void;
  keyUsed(keyId: string, known: number | null, now: number): void;
  flush(): void;
}

export function lastSeen({ sqlite }: Database): LastSeen {
  const sessions = new Map<string, number>();
  const members = new Map<string, number>();
  const keys = new Map<string, number>();
  const writers: [Map<string, number>, (id: string, at: number) => void][] = (
    [
      [sessions, 'UPDATE sessions SET last_seen_at = max(last_seen_at, ?) WHERE id = ?'],
      [members, 'UPDATE application_users SET last_seen_at = max(last_seen_at, ?) WHERE id = ?'],
      [keys, 'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?'],
    ] as const
  ).map(([seen, sql]) => {
    const statement = sqlite.prepare(sql);
    return [seen, (id, at) => statement.run(at, id)];
  });

  /** Writes one batch; only what has been committed is forgotten. */
  function flushSome(seen: Map<string, number>, write: (id: string, at: number) => void): void {
    const batch = [...seen.entries().take(BATCH)];
    sqlite.transaction(() => batch.forEach(([id, at]) => write(id, at)))();
    for (const [id] of batch) seen.delete(id);
  }

  return {
    sessionSeen(sessionId, applicationUserId, known, now) {
      if (now - known < RESOLUTION_MS) return;
      sessions.set(sessionId, now);
      members.set(applicationUserId, now);
    },
    keyUsed(keyId, known, now) {
      if (known === null || now - known >= RESOLUTION_MS) keys.set(keyId, now);
    },
    flush() {
      for (const [seen, write] of writers) while (seen.size > 0) flushSome(seen, write);
    },
  };
}
