import { Database as SqliteDatabase } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { startOfDay } from '@/core/calendar.ts';
import { DAY } from '@/core/clock.ts';
import { migrationNames, migrationText } from '../../fixtures/schemas.ts';

const migrations = migrationNames();

const startOfWeek = (at: number) => startOfDay(at) - ((startOfDay(at) / DAY + 3) % 7) * DAY;
const startOfMonth = (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth());

function apply(sqlite: SqliteDatabase, names: readonly string[]): void {
  for (const name of names) sqlite.run(migrationText(name));
}

test('an upgrade counts from existing records and memberships', () => {
  const sqlite = new SqliteDatabase(':memory:', { strict: true });
  const own = migrations.findIndex((name) => name.endsWith('_console.sql'));
  apply(sqlite, migrations.slice(0, own));
  sqlite.run('PRAGMA foreign_keys = OFF');
  const now = Date.now();
  const record = sqlite.prepare(
    `INSERT INTO audit_records (id, application_id, kind, ok, actor_type, detail, created_at)
     VALUES (?, 'app_1', ?, 1, 'anonymous', ?, ?)`,
  );
  const day = startOfDay(now) - 3 * DAY;
  for (const at of [day, day + 1, day - 1]) record.run(`a${at}`, 'signin.succeeded', '{"method":"otp"}', at);
  record.run('b', 'signin.refused', '{"reason":"gate_closed"}', day);
  record.run('c', 'signin.code_sent', null, day);
  const person = sqlite.prepare('INSERT INTO users (id, kind, email, created_at, updated_at) VALUES (?, ?, ?, 1, 1)');
  const member = sqlite.prepare(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at, scopes_updated_at,
       memberships_updated_at, created_at, updated_at) VALUES (?1, 'app_1', ?1, 'active', ?2, 1, 1, 1, ?3, 1)`,
  );
  const add = (id: string, seenAt: number, kind = 'person') => {
    person.run(id, kind, `${id}@example.com`);
    member.run(id, seenAt, day);
  };
  add('ada', now);
  add('bob', startOfWeek(now));
  add('cleo', startOfMonth(now));
  add('dora', 1);
  add('never', 0);
  add('key', now, 'api_key');
  apply(sqlite, migrations.slice(own));

  const rows = sqlite.query('SELECT application_id, metric, day, label, count FROM daily_counts').all() as {
    application_id: string;
    metric: string;
    day: number;
    label: string;
    count: number;
  }[];
  const at = (metric: string, start: number) =>
    rows.filter((row) => row.metric === metric && row.day === start).map(({ label, count }) => [label, count]);
  const seenSince = (start: number) =>
    [now, startOfWeek(now), startOfMonth(now)].filter((seen) => seen >= start).length;
  expect(at('sign_in', day)).toEqual([['otp', 2]]);
  expect(at('sign_in', day - DAY)).toEqual([['otp', 1]]);
  expect(at('refusal', day)).toEqual([['gate_closed', 1]]);
  expect(at('new_user', day)).toEqual([['', 4]]);
  expect(at('active_day', startOfDay(now))).toEqual([['', seenSince(startOfDay(now))]]);
  expect(at('active_week', startOfWeek(now))).toEqual([['', seenSince(startOfWeek(now))]]);
  expect(at('active_month', startOfMonth(now))).toEqual([['', seenSince(startOfMonth(now))]]);
  expect(rows).toHaveLength(7);
});
