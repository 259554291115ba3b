/** Remembers when sessions, memberships and keys were last seen, and writes it down off the request's path. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { startOfDay } from '../../core/calendar.ts';
import { MINUTE } from '../../core/clock.ts';
import type { Deadline } from '../../core/deadline.ts';
import { together, type Unwritten, writeBatches } from '../../core/last-batches.ts';
import { TimesById } from '../../core/times-by-id.ts';
import type { Database, Unit } from '../../db/database.ts';
import { noteKeyUse } from '../../store/api-keys.ts';
import { noteMemberSeen } from '../../store/members.ts';
import { noteSessionSeen } from '../../store/sessions.ts';

const RESOLUTION_MS = MINUTE;
/**
 * Noted of each kind, some 70 bytes each: far more than are written a minute. Where the disk takes no writes, those beyond it
 * are noted when they come again.
 */
const MOST_NOTED = 500_000;
/** Rows in one change: a millisecond, even where they are far apart. */
const SLICE_ROWS = 50;
/** Rows that are put in order together: a millisecond's work. */
const SORTED_ROWS = 10_000;
/** Time to sort one of 500,000 ids on a busy machine. A sort cannot be interrupted, so none begins too late. */
const SORT_MS = 0.003;
/** Runs over which many rows are spread: nearly the minute of the resolution, at a run a second. */
const RUNS = 50;
/** Rows that are not worth being spread. */
const FEW_ROWS = 250;
/** Pause between two changes of one run. */
const PAUSE_MS = 20;

/** A session as far as that is concerned. */
interface Seen {
  readonly sessionId: string;
  readonly applicationUserId: string;
  lastSeenAt: number;
}

/** Notes uses in memory, to the minute; a crash loses those of the last minutes. */
export interface LastSeen {
  /** Nothing is noted while the last time is less than a minute old, and of today; else it moves on to now. */
  sessionSeen(session: Seen, now: number): void;
  keyUsed(keyId: string, known: number | null, now: number): void;
  /** Writes down what has been noted: all where it is little, else a part. Calls while it runs join the run. */
  flush(): Promise<void>;
  /** Writes everything without pauses, for a clean stop. @returns how many times are not written by the deadline. */
  flushAll(deadline: Deadline): Promise<Unwritten>;
}

/** What has been noted of one kind, and how one of it is written. */
interface Notes {
  readonly write: (unit: Unit, id: string, at: number) => Promise<void>;
  seen: TimesById;
  /** The day of these; those of another day are written apart, since whoever is seen counts for each. */
  day: number;
  /** Of the days before, and still to be written. */
  readonly older: TimesById[];
  /** What is being written, a part each time. Once nothing is left of it, what has been noted by then takes its place. */
  writing: TimesById;
  /** Of what is being written, but for those whose turn is next. */
  rest: Generator<string, undefined>;
  /** In the order of their ids, from the end. */
  next: string[];
  /** How many are still to be written. */
  left: number;
}

function notesOf(write: Notes['write']): Notes {
  const none = new TimesById();
  return { write, seen: new TimesById(), day: 0, older: [], writing: none, rest: none.ids(), next: [], left: 0 };
}

const noted = ({ seen, older, left }: Notes): number =>
  older.reduce((count, { size }) => count + size, seen.size + left);

/** @param db written to by `flush` alone. @param most noted of each kind; given by tests only. */
export function lastSeen(db: Database, most = MOST_NOTED): LastSeen {
  const sessions = notesOf(noteSessionSeen);
  const members = notesOf(noteMemberSeen);
  const keys = notesOf(noteKeyUse);
  let running: Promise<void> | undefined;
  let isStopping = false;

  /** Those that are noted already are brought up to date, however many there are. */
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

  /** Only what has been written is forgotten. */
  async function writeSlice(notes: Notes): Promise<void> {
    if (notes.left === 0) beginNext(notes);
    const { next, writing, write } = notes;
    // In the order of the ids, which is that of the table: neighbours share pages, at a tenth of the cost.
    if (next.length === 0) next.push(...some(notes.rest, SORTED_ROWS).sort().reverse());
    const slice = next.slice(-SLICE_ROWS);
    await db.write(SYSTEM_ACTOR, async (unit) => {
      for (const id of slice) await write(unit, id, writing.get(id) as number);
    });
    next.length -= slice.length;
    notes.left -= slice.length;
  }

  async function writeDown(notes: Notes): Promise<void> {
    let due = Math.max(FEW_ROWS, Math.ceil(noted(notes) / RUNS));
    while (noted(notes) > 0 && due > 0 && !isStopping) {
      await writeSlice(notes);
      due -= SLICE_ROWS;
      if (due > 0) await Bun.sleep(PAUSE_MS);
    }
  }

  async function writeSome(): Promise<void> {
    for (const notes of [sessions, members, keys]) await writeDown(notes);
  }

  /** Sorts all ids at once, unlike `writeSlice`: each page of the table is then written once. */
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
      parts.push(
        await writeBatches(ids, deadline, (batch) =>
          db.write(SYSTEM_ACTOR, async (unit) => {
            for (const id of batch) await write(unit, id, writing.get(id) as number);
          }),
        ),
      );
    }
    return together(parts);
  }

  return {
    sessionSeen(session, now) {
      const { sessionId, applicationUserId, lastSeenAt } = session;
      if (now - lastSeenAt < RESOLUTION_MS && lastSeenAt >= startOfDay(now)) return;
      const isNoted = note(sessions, sessionId, now);
      if (note(members, applicationUserId, now) && isNoted) session.lastSeenAt = now;
    },
    keyUsed(keyId, known, now) {
      if (known === null || now - known >= RESOLUTION_MS) note(keys, keyId, now);
    },
    async flush() {
      running ??= writeSome().finally(() => (running = undefined));
      await running;
    },
    async flushAll(deadline) {
      isStopping = true;
      await running?.catch(() => {});
      isStopping = false;
      const parts: Unwritten[] = [];
      for (const notes of [keys, sessions, members]) parts.push(await writeRest(notes, deadline));
      return together(parts);
    },
  };
}

/** What comes next. */
function some(ids: Iterator<string, undefined>, most: number): string[] {
  const found: string[] = [];
  for (let id = ids.next(); !id.done; id = ids.next()) {
    found.push(id.value);
    if (found.length === most) break;
  }
  return found;
}
