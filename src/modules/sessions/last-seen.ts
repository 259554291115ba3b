/** Remembers when sessions, memberships and keys were last seen, and writes it down off the request's path. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { MINUTE } from '../../core/clock.ts';
import type { Database, Unit } from '../../db/database.ts';
import { noteKeyUse } from '../../store/api-keys.ts';
import { noteMemberSeen } from '../../store/members.ts';
import { noteSessionSeen } from '../../store/sessions.ts';

const RESOLUTION_MS = MINUTE;
/** Rows in one change: two milliseconds for neighbours, five for rows that are far apart. */
const SLICE_ROWS = 250;
/** Rows that are put in order together: a millisecond's work. */
const SORTED_ROWS = 10_000;
/**
 * Pause between two changes. Each makes all that look something up read changed pages anew, so they are few: 100,000 rows
 * take half a minute, in a resolution of one.
 */
const PAUSE_MS = 60;

export interface LastSeen {
  /** @param known what the row said when it was read; nothing is noted while that is less than a minute old. */
  sessionSeen(sessionId: string, applicationUserId: string, known: number, now: number): void;
  keyUsed(keyId: string, known: number | null, now: number): void;
  /**
   * Writes down what has been noted, a few rows a change. Calls while it runs join the run.
   *
   * @param isHasty without pauses, for a clean stop.
   */
  flush(isHasty?: boolean): Promise<void>;
}

/** What has been noted of one kind, and how one of it is written. */
interface Notes {
  readonly seen: Map<string, number>;
  readonly write: (unit: Unit, id: string, at: number) => Promise<void>;
}

export function lastSeen(db: Database): LastSeen {
  const sessions: Notes = { seen: new Map(), write: noteSessionSeen };
  const members: Notes = { seen: new Map(), write: noteMemberSeen };
  const keys: Notes = { seen: new Map(), write: noteKeyUse };
  let running: Promise<void> | undefined;
  let mayPause = true;

  /** What is noted meanwhile is left to the next run. Only what has been written is forgotten. */
  async function writeDown({ seen, write }: Notes): Promise<void> {
    for (let left = seen.size; left > 0; left -= SORTED_ROWS) {
      // In the order of the ids, which is that of the table: neighbours share pages, at a tenth of the cost.
      const ids = [...seen.keys().take(Math.min(left, SORTED_ROWS))].sort();
      for (let from = 0; from < ids.length; from += SLICE_ROWS) {
        const slice = ids.slice(from, from + SLICE_ROWS).map((id) => [id, seen.get(id)!] as const);
        await db.write(SYSTEM_ACTOR, async (unit) => {
          for (const [id, at] of slice) await write(unit, id, at);
        });
        for (const [id, at] of slice) if (seen.get(id) === at) seen.delete(id);
        if (mayPause) await Bun.sleep(PAUSE_MS);
      }
    }
  }

  async function writeAll(): Promise<void> {
    for (const notes of [sessions, members, keys]) await writeDown(notes);
  }

  return {
    sessionSeen(sessionId, applicationUserId, known, now) {
      if (now - known < RESOLUTION_MS) return;
      sessions.seen.set(sessionId, now);
      members.seen.set(applicationUserId, now);
    },
    keyUsed(keyId, known, now) {
      if (known === null || now - known >= RESOLUTION_MS) keys.seen.set(keyId, now);
    },
    async flush(isHasty = false) {
      if (isHasty) {
        mayPause = false;
        await running?.catch(() => {});
      }
      running ??= writeAll().finally(() => (running = undefined));
      await running;
    },
  };
}
