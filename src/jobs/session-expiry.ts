/** Reports sessions that have ended by time, each once, as `user.session_expired`; in small transactions. */
import { SYSTEM_ACTOR } from '../core/actor.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../db/unit-of-work.ts';
import type { Job } from './scheduler.ts';

const BATCH = 200;

interface ExpiredRow {
  readonly sessionId: string;
  readonly applicationId: string;
  readonly userId: string;
}

export function sessionExpiryJob({ db, clock }: { db: Database; clock: Clock }): Job {
  const expired = db.sqlite.prepare<ExpiredRow, [number]>(
    `SELECT s.id AS sessionId, m.application_id AS applicationId, m.user_id AS userId
     FROM sessions s INDEXED BY sessions_expiring JOIN application_users m ON m.id = s.application_user_id
     WHERE s.expires_at <= +? AND s.revoked_at IS NULL AND s.expiry_reported_at IS NULL LIMIT ${BATCH}`,
  );
  const report = db.sqlite.prepare('UPDATE sessions SET expiry_reported_at = ? WHERE id = ?');

  function reportSome(): number {
    const rows = expired.all(clock.now());
    if (rows.length === 0) return 0;
    db.write(SYSTEM_ACTOR, (unit) => {
      for (const { sessionId, applicationId, userId } of rows) {
        report.run(unit.now, sessionId);
        unit.emit({ type: 'user.session_expired', applicationId, data: { userId, sessionId } });
      }
    });
    return rows.length;
  }

  return {
    name: 'session expiry',
    everyMs: 5000,
    async runOnce() {
      while (reportSome() === BATCH) await Bun.sleep(0);
    },
  };
}
