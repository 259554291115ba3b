/** Records in memory when an application was first verified against, and why its callers were refused until then. */
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { SECOND } from '../../core/clock.ts';
import { BOOKKEEPING, type Database } from '../../db/database.ts';
import { listVerifiedApplications, noteFirstVerification, noteVerificationRefusal } from '../../store/applications.ts';
import type { TokenRefusal } from './model.ts';

/** Applications known to be verified. A full set is emptied; each application then costs one more read. */
const MAX_KNOWN = 50_000;
/** Applications noted between two flushes. Calls beyond them are noted when they come again. */
const MAX_PENDING = 1_000;
/** The same refusal of one application is written at most this often. */
const REFUSAL_INTERVAL_MS = 10 * SECOND;
const BATCH_ROWS = 50;

/** `reason` is null for a success. */
interface Note {
  readonly at: number;
  readonly reason: TokenRefusal | null;
}

/** A crash loses the notes of the last second. The next call makes them again. */
export interface FirstVerified {
  /** Notes that a token of the application was verified. For a known application it costs one lookup in memory. */
  verified(applicationId: string, now: number): void;
  /** Notes that a caller of the application was refused a token. Ignored once a verification has succeeded. */
  refused(applicationId: string, reason: TokenRefusal, now: number): void;
  /** Writes the notes. Applications that were verified before are only read. */
  flush(): Promise<void>;
}

/** @param db written to only by `flush`. */
export function firstVerified(db: Database): FirstVerified {
  const known = new Set<string>();
  const writtenRefusals = new Map<string, Note>();
  let pending = new Map<string, Note>();
  let running: Promise<void> = Promise.resolve();

  function note(applicationId: string, made: Note): void {
    if (pending.size < MAX_PENDING || pending.has(applicationId)) pending.set(applicationId, made);
  }

  function remember(applicationId: string): void {
    if (known.size >= MAX_KNOWN) known.clear();
    known.add(applicationId);
    writtenRefusals.delete(applicationId);
  }

  function rememberRefusal(applicationId: string, refusal: Note): void {
    if (writtenRefusals.size >= MAX_PENDING) writtenRefusals.clear();
    writtenRefusals.set(applicationId, refusal);
  }

  async function writeBatch(batch: readonly (readonly [string, Note])[]): Promise<void> {
    const verified = new Set(
      await listVerifiedApplications(
        db.reader,
        batch.map(([id]) => id),
      ),
    );
    const rest = batch.filter(([id]) => !verified.has(id));
    if (rest.length > 0)
      await db.write(
        SYSTEM_ACTOR,
        async (unit) => {
          for (const [id, { at, reason }] of rest)
            if (reason === null) await noteFirstVerification(unit, { id, at });
            else await noteVerificationRefusal(unit, { id, reason, at });
        },
        BOOKKEEPING,
      );
    for (const [id, made] of batch)
      if (verified.has(id) || made.reason === null) remember(id);
      else rememberRefusal(id, made);
  }

  async function writeAll(): Promise<void> {
    const taken = [...pending];
    pending = new Map();
    try {
      while (taken.length > 0) {
        await writeBatch(taken.slice(0, BATCH_ROWS));
        taken.splice(0, BATCH_ROWS);
      }
    } finally {
      // After a failure the rest waits for the next flush; newer notes win.
      for (const [id, made] of taken) if (!pending.has(id)) note(id, made);
    }
  }

  return {
    verified(applicationId, at) {
      if (!known.has(applicationId) && pending.get(applicationId)?.reason !== null)
        note(applicationId, { at, reason: null });
    },
    refused(applicationId, reason, at) {
      if (known.has(applicationId) || pending.get(applicationId)?.reason === null) return;
      const last = writtenRefusals.get(applicationId);
      if (last?.reason === reason && at - last.at < REFUSAL_INTERVAL_MS) return;
      note(applicationId, { at, reason });
    },
    flush() {
      running = running.catch(() => {}).then(writeAll);
      return running;
    },
  };
}
