/** Forgets what has outlived its use: sessions, codes, sent mail, events and deliveries after 30 days, audit when configured. */
import { type Clock, DAY, HOUR } from '../core/clock.ts';
import type { Database } from '../db/unit-of-work.ts';
import type { Job } from './scheduler.ts';

const BATCH = 500;

/** Each statement takes a cut-off time and removes at most one batch, so that no request waits behind it. */
const RULES: readonly { keepMs: number; sql: string }[] = [
  { keepMs: 30 * DAY, sql: batch('sessions', 'expires_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('sessions', 'revoked_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('code_challenges', 'expires_at < ?1') },
  // Made at every look at a sign-in page, and good for nothing afterwards.
  { keepMs: DAY, sql: batch('passkey_challenges', 'expires_at < ?1') },
  { keepMs: DAY, sql: batch('provider_states', 'expires_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('device_grants', 'expires_at < ?1') },
  { keepMs: DAY, sql: batch('code_failures', 'failed_at < ?1') },
  { keepMs: 30 * DAY, sql: batch('mails', "status <> 'queued' AND created_at < ?1") },
  {
    keepMs: 30 * DAY,
    sql: batch('deliveries', "status IN ('delivered', 'failed') AND created_at < ?1 AND finished_at < ?1"),
  },
  {
    keepMs: 30 * DAY,
    sql: batch('events', 'created_at < ?1 AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = events.id)'),
  },
];

function batch(table: string, condition: string): string {
  return `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${condition} LIMIT ${BATCH})`;
}

export interface RetentionDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly auditDays: number;
}

export function retentionJob({ db, clock, auditDays }: RetentionDependencies): Job {
  const rules = [...RULES, { keepMs: auditDays * DAY, sql: batch('audit_records', 'created_at < ?1') }];

  return {
    name: 'retention',
    everyMs: HOUR,
    async runOnce() {
      const statements = rules.map(({ keepMs, sql }) => ({ keepMs, statement: db.sqlite.prepare(sql) }));
      for (const { keepMs, statement } of statements)
        while (statement.run(clock.now() - keepMs).changes === BATCH) await Bun.sleep(0);
      for (const { statement } of statements) statement.finalize();
    },
  };
}
