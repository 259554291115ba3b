/**
 * Rows of one very large tenant, written by a few SQL statements into a database file whose server is stopped: ten
 * million audit records take some minutes and just under 6 GB.
 */
import type { Database } from 'bun:sqlite';
import { newId } from '../../src/core/id.ts';
import { giveRole, insertDeliveries, insertInterests, insertMembers, type Person } from './rows.ts';

const DAY = 86_400_000;
const DAYS = 300;

export interface LargeTenant {
  readonly applicationId: string;
  readonly webhookId: string;
  readonly members: number;
  readonly auditRecords: number;
}

/** Gives an application its members, waitlist, audit records, deliveries, mails and statistics. */
export function fillLargeTenant(sqlite: Database, tenant: LargeTenant): void {
  const { applicationId, webhookId, members, auditRecords } = tenant;
  // A write-ahead log would hold a copy of all rows. The server's start switches back to it.
  sqlite.run('PRAGMA journal_mode = DELETE');
  const people = insertMembers(sqlite, applicationId, members);
  giveRole(sqlite, applicationId, 'user', people);
  giveRole(sqlite, applicationId, 'developer', people.slice(-10));
  // The last to be found by every order: they have names of another script, a username and a status of their own.
  for (const { userId, memberId } of people.slice(-10)) {
    sqlite.run("UPDATE users SET given_name = 'Žofie', family_name = 'Ångström' WHERE id = ?", [userId]);
    sqlite.run("UPDATE application_users SET username = 'zz' || substr(id, -8), status = 'paused' WHERE id = ?", [
      memberId,
    ]);
  }
  insertInterests(sqlite, applicationId, 'notify_when_public', members);
  insertDeliveries(sqlite, applicationId, [webhookId], { count: members / 4, status: 'delivered' });
  insertMails(sqlite, applicationId, people);
  insertCounts(sqlite, applicationId);
  insertAuditBySql(sqlite, applicationId, people, auditRecords);
  // Its backend has verified sessions for long: the console leaves out the first steps.
  sqlite.run('UPDATE applications SET first_verified_at = created_at WHERE id = ?', [applicationId]);
}

/** Inserts records evenly over the last days: one of five about a person, one of twenty a refusal. */
function insertAuditBySql(
  sqlite: Database,
  applicationId: string,
  people: readonly Person[],
  auditRecords: number,
): void {
  const indexes = sqlite
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'audit_records' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) sqlite.run(`DROP INDEX ${name}`);
  sqlite.run('PRAGMA temp_store = FILE');
  sqlite.run('CREATE TEMP TABLE people (n INTEGER PRIMARY KEY, user_id TEXT, email TEXT)');
  const add = sqlite.prepare('INSERT INTO people VALUES (?, ?, ?)');
  sqlite.transaction(() => people.forEach(({ userId, email }, index) => void add.run(index, userId, email)))();
  // Short ids: with those of the product the file would be 8 GB.
  sqlite.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT ${auditRecords})
     INSERT INTO audit_records (id, application_id, workspace_id, kind, ok, user_id, email, actor_type, ip_country, created_at)
     SELECT printf('aud_%010d', numbers.n), a.id, a.workspace_id,
       CASE WHEN numbers.n % 20 = 0 THEN 'signin.refused' WHEN numbers.n % 1000 = 7 THEN 'role.assigned'
         WHEN numbers.n % 3 = 0 THEN 'signin.code_sent' WHEN numbers.n % 3 = 1 THEN 'signin.succeeded'
         ELSE 'session.signed_out' END,
       numbers.n % 20 <> 0, CASE WHEN numbers.n % 5 = 1 THEN p.user_id END,
       CASE WHEN numbers.n % 20 = 0 OR numbers.n % 5 = 1 THEN p.email END, 'anonymous',
       CASE WHEN numbers.n % 100000 = 3 THEN 'FI' ELSE substr('DEFRUSGBNL', 1 + numbers.n % 5 * 2, 2) END,
       ${Date.now()} - (${auditRecords} - numbers.n) * ${Math.floor((DAYS * DAY) / auditRecords)}
     FROM numbers CROSS JOIN applications a JOIN people p ON p.n = numbers.n * 7919 % ${people.length}
     WHERE a.id = '${applicationId}'`,
  );
  for (const { sql } of indexes) sqlite.run(sql);
}

/** Inserts a sent mail to each person. */
function insertMails(sqlite: Database, applicationId: string, people: readonly Person[]): void {
  const now = Date.now();
  const mail = sqlite.prepare(
    `INSERT INTO mails (id, recipient, subject, status, attempts, next_attempt_at, expires_at, created_at, sent_at,
       application_id, workspace_id)
     SELECT ?1, ?2, 'Hello', 'sent', 1, ?3, ?3, ?3, ?3, id, workspace_id FROM applications WHERE id = ?4`,
  );
  sqlite.transaction(() =>
    people.forEach(({ email }) => void mail.run(newId('mail', now), email, now, applicationId)),
  )();
}

/** Inserts a year of statistics with as many labels as an application can have. */
function insertCounts(sqlite: Database, applicationId: string): void {
  const today = Date.now() - (Date.now() % DAY);
  const counter = sqlite.prepare('INSERT OR IGNORE INTO daily_counts VALUES (?, ?, ?, ?, 7)');
  const labels: Record<string, number> = { sign_in: 5, refusal: 12, delivered: 50, failed_attempt: 50, new_user: 1 };
  sqlite.transaction(() => {
    for (let day = 0; day < 365; day += 1)
      for (const [metric, count] of Object.entries(labels))
        for (let label = 0; label < count; label += 1)
          counter.run(applicationId, metric, today - day * DAY, metric === 'new_user' ? '' : `label${label}`);
  })();
}
