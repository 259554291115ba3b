/** Records in memory when sessions, memberships and keys were last seen, and writes it in the background. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { startOfDay } from '../../core/calendar.ts';
import { MINUTE } from '../../core/clock.ts';
import type { Deadline } from '../../core/deadline.ts';
import { together, type Unwritten, writeBatches } from '../../core/last-batches.ts';
import { TimesById } from '../../core/times-by-id.ts';
import { wakeLoop } from '../../core/wake-loop.ts';
import { BOOKKEEPING, type Database, type Unit } from '../../db/database.ts';
import { noteKeyUse } from '../../store/api-keys.ts';
import type { LastSeenAt } from '../../store/last-seen.ts';
import { noteMembersSeen } from '../../store/members.ts';
import { noteSessionsSeen } from '../../store/sessions.ts';

const RESOLUTION_MS = MINUTE;
/** Maximum per kind, some 70 bytes each. While the disk refuses writes, others are recorded when seen again. */
const MOST_NOTED = 100_000;
/** Rows per change: a millisecond, even if they are far apart. */
const BATCH_ROWS = 50;
/** Rows sorted together: a millisecond. */
const SORTED_ROWS = 10_000;
/** Time to sort one of 100,000 ids on a busy machine. A sort cannot be interrupted, so none begins too late. */
const SORT_MS = 0.003;
/** Runs over which many rows are spread: nearly a minute, the resolution, at a run a second. */
const RUNS = 50;
/** Minimum rows per run: fewer are not worth spreading. */
const FEW_ROWS = 250;
const PAUSE_MS = 20;

/** A key as cached. */
export interface UsedKey {
  readonly keyId: string;
  lastUsedAt: number | null;
}

/** A session as cached. */
export interface UsedSession {
  readonly sessionId: string;
  readonly applicationUserId: string;
  lastSeenAt: number;
}

/** A use to be written. A session's has the id of its member. */
export interface SeenNote {
  readonly id: string;
  readonly memberId: string | null;
  readonly at: number;
}

/** Notes uses of sessions and keys. */
export interface Uses {
  /** Updates at most once a minute, and on the first use of each day. */
  sessionSeen(session: UsedSession, now: number): void;
  /** Updates at most once a minute. */
  keyUsed(key: UsedKey, now: number): void;
}

/** Records uses in memory, to the minute; a crash loses those of the last minutes. */
export interface LastSeen extends Uses {
  /** Records uses that a thread has noted. */
  record(notes: readonly SeenNote[]): void;
  /** Writes all entries if they are few, else a part. Calls during a run cause one more. */
  flush(): Promise<void>;
  /** Writes everything without pauses, for a clean stop. @returns how many entries are unwritten at the deadline. */
  flushAll(deadline: Deadline): Promise<Unwritten>;
}

/** @param note returns whether the use was recorded. */
export function usesBy(note: (seen: SeenNote) => boolean): Uses {
  return {
    sessionSeen(session, now) {
      const { lastSeenAt } = session;
      if (now - lastSeenAt < RESOLUTION_MS && lastSeenAt >= startOfDay(now)) return;
      const { sessionId, applicationUserId } = session;
      if (note({ id: sessionId, memberId: applicationUserId, at: now })) session.lastSeenAt = now;
    },
    keyUsed(key, now) {
      const { keyId, lastUsedAt } = key;
      if (lastUsedAt !== null && now - lastUsedAt < RESOLUTION_MS) return;
      if (note({ id: keyId, memberId: null, at: now })) key.lastUsedAt = now;
    },
  };
}

interface Notes {
  readonly write: (unit: Unit, seen: readonly LastSeenAt[]) => Promise<unknown>;
  seen: TimesById;
  /** The day of `seen`. Days are written separately, because a person counts as active on each. */
  day: number;
  /** Unwritten entries of earlier days. */
  readonly older: TimesById[];
  /** The entries being written, in parts. Once all are written, the next ones replace them. */
  writing: TimesById;
  /** The ids of `writing` that are not yet in `next`. */
  rest: Generator<string, undefined>;
  /** The next ids, in descending order: batches are taken from the end. */
  next: string[];
  /** The number of unwritten entries of `writing`. */
  left: number;
}

function notesOf(write: Notes['write']): Notes {
  const none = new TimesById();
  return { write, seen: new TimesById(), day: 0, older: [], writing: none, rest: none.ids(), next: [], left: 0 };
}

const noted = ({ seen, older, left }: Notes): number =>
  older.reduce((count, { size }) => count + size, seen.size + left);

/** @param db written to only by `flush` and `flushAll`. @param most entries per kind; given by tests only. */
export function lastSeen(db: Database, most = MOST_NOTED): LastSeen {
  const sessions = notesOf(noteSessionsSeen);
  const members = notesOf(noteMembersSeen);
  const keys = notesOf(async (unit, seen) => {
    for (const one of seen) await noteKeyUse(unit, one);
  });
  const writing = wakeLoop(writeSome, () => {});

  /** Updates existing entries even when the maximum is reached. @returns whether it was recorded. */
  function note(notes: Notes, id: string, at: number): boolean {
    const day = startOfDay(at);
    if (day !== notes.day) {
      if (notes.seen.size > 0) notes.older.push(notes.seen);
      Object.assign(notes, { day, seen: new TimesById() });
    }
    if (noted(notes) >= most && notes.seen.get(id) === undefined) return false;
    notes.seen.set(id, at);
    return true;
  }

  function beginNext(notes: Notes): void {
    const older = notes.older.shift();
    const writing = older ?? notes.seen;
    if (older === undefined) notes.seen = new TimesById();
    Object.assign(notes, { writing, rest: writing.ids(), left: writing.size });
  }

  async function writeTimes(times: TimesById, ids: readonly string[], write: Notes['write']): Promise<void> {
    const seen = ids.map((id) => ({ id, at: times.get(id) as number }));
    await db.write(SYSTEM_ACTOR, (unit) => write(unit, seen), BOOKKEEPING);
  }

  /** Removes entries only after they are committed. */
  async function writeBatch(notes: Notes): Promise<void> {
    if (notes.left === 0) beginNext(notes);
    const { next, writing, write } = notes;
    // Sorted by id, the order of the table: neighbours share pages, at a tenth of the cost.
    if (next.length === 0) next.push(...some(notes.rest, SORTED_ROWS).sort().reverse());
    const batch = next.slice(-BATCH_ROWS);
    await writeTimes(writing, batch, write);
    next.length -= batch.length;
    notes.left -= batch.length;
  }

  async function writeDown(notes: Notes): Promise<void> {
    let due = Math.max(FEW_ROWS, Math.ceil(noted(notes) / RUNS));
    while (noted(notes) > 0 && due > 0 && !writing.isStopped()) {
      await writeBatch(notes);
      due -= BATCH_ROWS;
      if (due > 0) await Bun.sleep(PAUSE_MS);
    }
  }

  async function writeSome(): Promise<boolean> {
    for (const notes of [sessions, members, keys]) await writeDown(notes);
    return false;
  }

  /** Sorts all ids at once, unlike `writeBatch`: each page of the table is then written once. */
  async function writeRest(notes: Notes, deadline: Deadline): Promise<Unwritten> {
    const parts: Unwritten[] = [];
    while (noted(notes) > 0) {
      if (deadline.remainingMs() <= noted(notes) * SORT_MS) {
        parts.push({ count: noted(notes), cause: null });
        break;
      }
      if (notes.left === 0) beginNext(notes);
      const { writing, write } = notes;
      const ids = [...notes.next, ...notes.rest].sort();
      Object.assign(notes, { next: [], left: 0 });
      parts.push(await writeBatches(ids, deadline, (batch) => writeTimes(writing, batch, write)));
    }
    return together(parts);
  }

  function recordOne({ id, memberId, at }: SeenNote): boolean {
    if (memberId === null) return note(keys, id, at);
    const isNoted = note(sessions, id, at);
    return note(members, memberId, at) && isNoted;
  }

  return {
    ...usesBy(recordOne),
    record(notes) {
      for (const seen of notes) recordOne(seen);
    },
    flush: writing.run,
    async flushAll(deadline) {
      await writing.stop();
      const parts: Unwritten[] = [];
      for (const notes of [keys, sessions, members]) parts.push(await writeRest(notes, deadline));
      return together(parts);
    },
  };
}

function some(ids: Iterator<string, undefined>, most: number): string[] {
  const found: string[] = [];
  for (let id = ids.next(); !id.done; id = ids.next()) {
    found.push(id.value);
    if (found.length === most) break;
  }
  return found;
}
