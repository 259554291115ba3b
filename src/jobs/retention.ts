/** Forgets what has outlived its use: expired sessions and codes after 30 days, sent mail likewise, audit after a year. */
import { type Clock, DAY, HOUR } from '../core/clock.ts';
import type { Database } from '../db/unit-of-work.ts';
import type { Job } from './scheduler.ts';

const BATCH = 500;

/** Each statement takes a cut-off time and removes at most one batch, so that no request waits behind it. */
const RULES: readonly { keepMs: number; sql: string }[] = [
  { keepMs: 30 * DAY, sql: batch('sessions', 'expires_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('sessions', 'revoked_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('code_challenges', 'expires_at < ?1') },
  { keepMs: DAY, sql: batch('code_failures', 'failed_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('mails', "status <> 'queued' AND created_at < ?1") },
  { keepMs: 365 * DAY, sql: batch('audit_records', 'created_at < ?1') },
];

function batch(table: string, condition: string): string {
  return `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${BATCH})`;
}

export function retentionJob({ db, clock }: { db: Database; clock: Clock }): Job {
  return {
    name: 'retention',
    everyMs: HOUR,
    async runOnce() {
      const statements = RULES.map(({ keepMs, sql }) => ({ keepMs, statement: db.sqlite.prepare(sql) }));
      for (const { keepMs, statement } of statements)
        while (statement.run(clock.now() - keepMs).changes === BATCH) await Bun.sleep(0);
      for (const { statement } of statements) statement.finalize();
    },
  };
}
