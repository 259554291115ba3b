/** The PostgreSQL server under a benchmark: databases of its own, rows, and the processor time of all its processes. */
import { readdirSync, readFileSync } from 'node:fs';
import { SQL } from 'bun';
import { newId } from '../../src/core/id.ts';
import { systemRandom } from '../../src/core/random.ts';
import { hashSecret, mintSecret } from '../../src/core/secret.ts';

const HOUR = 3_600_000;

export interface BenchDatabase {
  readonly url: string;
  readonly sql: SQL;
  /** Processor time of the whole server so far, in milliseconds. Linux only, and only on this machine. */
  cpuMs(): number;
  drop(): Promise<void>;
}

/** Creates a database. @param serverUrl as superuser. @throws where the server is not durable: its figures mean nothing. */
export async function createDatabase(serverUrl: string, name: string): Promise<BenchDatabase> {
  const admin = new SQL(Object.assign(new URL(serverUrl), { pathname: 'postgres' }).href, { max: 1 });
  const [settings] = await admin.unsafe(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit, pg_backend_pid() AS pid`,
  );
  if (settings.fsync !== 'on' || settings.commit !== 'on') throw new Error('give a server with fsync and commits on');
  const server = parentOf(settings.pid);
  await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.unsafe(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(serverUrl), { pathname: name }).href;
  const sql = new SQL(url, { max: 1 });
  return {
    url,
    sql,
    cpuMs: () => treeCpuMs(server),
    async drop() {
      await sql.close({ timeout: 0 });
      await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.close({ timeout: 0 });
    },
  };
}

const statOf = (pid: number | string) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number);

const parentOf = (pid: number) => statOf(pid)[1]!;

/** Sums a process, its children, and those of its children that have ended. */
function treeCpuMs(root: number): number {
  // The kernel counts in hundredths of a second for user programs.
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = statOf(pid);
      if (Number(pid) === root) ticks += stat[11]! + stat[12]! + stat[13]! + stat[14]!;
      else if (stat[1] === root) ticks += stat[11]! + stat[12]!;
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * 10;
}

/** Inserts members of an application, each with a role and an open session. @returns the tokens of the sessions. */
export async function insertSessions(sql: SQL, applicationId: string, count: number): Promise<string[]> {
  const now = Date.now();
  const rows = Array.from({ length: count }, (_, index) => {
    const token = mintSecret('session', systemRandom);
    const ids = { user: newId('user', now), member: newId('applicationUser', now), session: newId('session', now) };
    return { ...ids, token, hash: hashSecret(token).toHex(), email: `person${index}@example.com` };
  });
  const given = JSON.stringify(rows.map(({ token: _, ...row }) => row));
  const FROM = `FROM json_to_recordset($1::text::json) r ("user" text, member text, session text, hash text, email text)`;
  const insert = (statement: string, ...values: unknown[]) => sql.unsafe(`${statement} ${FROM}`, [given, ...values]);
  await insert(
    `INSERT INTO users (id, kind, email, given_name, family_name, created_at, updated_at)
     SELECT "user", 'person', email, 'Ada', 'Lovelace', ${now}, ${now}`,
  );
  await insert(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at,
       scopes_updated_at, memberships_updated_at, created_at, updated_at)
     SELECT member, $2, "user", 'active', ${now - HOUR}, ${now}, ${now}, ${now}, ${now}, ${now}`,
    applicationId,
  );
  await insert(
    `INSERT INTO application_user_roles (application_user_id, role_id)
     SELECT member, (SELECT id FROM roles WHERE application_id = $2 AND slug = 'user')`,
    applicationId,
  );
  await insert(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
     SELECT session, decode(hash, 'hex'), member, 'otp', ${now - HOUR}, ${now - HOUR}, ${now + 24 * HOUR}`,
  );
  await settle(sql);
  return rows.map(({ token }) => token);
}

export interface InsertedDeliveries {
  readonly count: number;
  /** Due at once, or done long ago. */
  readonly status: 'pending' | 'delivered';
}

/** Inserts events, each with a delivery. */
export async function insertDeliveries(
  sql: SQL,
  applicationId: string,
  webhookId: string,
  { count, status }: InsertedDeliveries,
): Promise<void> {
  const now = Date.now();
  const rows = Array.from({ length: count }, () => ({ event: newId('event', now), delivery: newId('delivery', now) }));
  const FROM = `FROM json_to_recordset($1::text::json) r (event text, delivery text)`;
  const given = JSON.stringify(rows);
  await sql.unsafe(
    `INSERT INTO events (id, application_id, type, data, created_at)
     SELECT event, $2, 'user.banned', '{"userId":"usr_bench"}', ${now} ${FROM}`,
    [given, applicationId],
  );
  await sql.unsafe(
    `INSERT INTO deliveries (id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, created_at, finished_at)
     SELECT delivery, $2, event, 'user.banned', $3, 0, ${now}, ${now}, ${status === 'delivered' ? now : 'NULL'} ${FROM}`,
    [given, webhookId, status],
  );
  await settle(sql);
}

/** Inserts better-auth's rows of as many people and sessions. @returns the tokens. */
export async function insertOtherSessions(sql: SQL, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `${systemRandom.bytes(16).toHex()}`,
    token: systemRandom.bytes(16).toHex(),
    email: `person${index}@example.com`,
  }));
  const given = JSON.stringify(rows);
  const FROM = `FROM json_to_recordset($1::text::json) r (id text, token text, email text)`;
  await sql.unsafe(
    `INSERT INTO "user" (id, name, email, "emailVerified") SELECT id, 'Ada Lovelace', email, true ${FROM}`,
    [given],
  );
  await sql.unsafe(
    `INSERT INTO session (id, "expiresAt", token, "updatedAt", "userId")
     SELECT id, now() + interval '7 days', token, now(), id ${FROM}`,
    [given],
  );
  await settle(sql);
  return rows.map(({ token }) => token);
}

/** Collects the planner's statistics, and writes a checkpoint that would otherwise run during the measurement. */
async function settle(sql: SQL): Promise<void> {
  await sql.unsafe('ANALYZE');
  await sql.unsafe('CHECKPOINT');
}
