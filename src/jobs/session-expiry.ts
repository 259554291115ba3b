/** Reports each expired session once, as `user.session_expired`, in small transactions. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Reader, Unit } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { type ExpiredSession, listExpiredSessions, noteExpiryReported } from '../store/expired-sessions.ts';
import { findSubscribers } from '../store/webhooks.ts';
import type { Job } from './scheduler.ts';

/** Sessions read per transaction. */
const BATCH = 200;
/** Approximate limit of the reports and deliveries per transaction. */
const MOST_ROWS = 400;

/** Reports expired sessions. Skips sessions ended before their expiry, whose end was already reported. */
export function sessionExpiryJob({ db, clock }: { db: Database; clock: Clock }): Job {
  /** @returns the last session read; null if there are no more. */
  async function reportSome(unit: Unit, after: ExpiredSession | null): Promise<ExpiredSession | null> {
    const expired = await listExpiredSessions(unit, unit.now, { after, limit: BATCH });
    const costs = rowsOfReports(unit);
    let rows = 0;
    for (const [place, session] of expired.entries()) {
      const { sessionId, userId, applicationId } = session;
      if (session.isBeingEnded) continue;
      await noteExpiryReported(unit, sessionId);
      await emit(unit, { type: 'user.session_expired', applicationId, data: { userId, sessionId } });
      rows += await costs(applicationId);
      if (rows >= MOST_ROWS && place < expired.length - 1) return session;
    }
    return expired.length < BATCH ? null : (expired.at(-1) ?? null);
  }

  return {
    name: 'session expiry',
    everyMs: 5000,
    isExclusive: true,
    async runOnce() {
      if ((await listExpiredSessions(db.reader, clock.now(), { after: null, limit: 1 })).length === 0) return;
      let after: ExpiredSession | null = null;
      do {
        after = await db.write(SYSTEM_ACTOR, (unit): Promise<ExpiredSession | null> => reportSome(unit, after));
        await Bun.sleep(0);
      } while (after !== null);
    },
  };
}

/** Returns a function that counts the rows of a report: one, and one for each endpoint that may want it. */
function rowsOfReports(reader: Reader): (applicationId: string) => Promise<number> {
  const known = new Map<string, number>();
  return async (applicationId) => {
    let rows = known.get(applicationId);
    if (rows === undefined)
      known.set(applicationId, (rows = 1 + (await findSubscribers(reader, applicationId)).length));
    return rows;
  };
}
