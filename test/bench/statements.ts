/**
 * Measures whether `+?` still pays: the same lookup of a session with `= ?` and with `= +?`, in microseconds. The
 * two would be alike in a Bun or SQLite that no longer re-plans the first.
 * Usage: bun test/bench/statements.ts
 */
import { Database } from 'bun:sqlite';
import { migrate } from '../../src/db/sqlite/migrate.ts';

const SESSIONS = 10_000;
const ROUNDS = 50_000;
const sqlite = new Database(':memory:', { strict: true });
migrate(sqlite, ':memory:');
sqlite.run(`INSERT INTO applications (id, client_id, slug, name, stage, signin_gate, beta_request_policy,
  session_ttl_seconds, return_urls, created_at, updated_at)
  VALUES ('app', 'c', 's', 'n', 'live', 'public', 'manual', 300, '[]', 1, 1)`);
sqlite.run(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${SESSIONS - 1})
  INSERT INTO users (id, kind, email, created_at, updated_at) SELECT 'usr' || i, 'person', i || '@example.com', 1, 1 FROM n`);
sqlite.run(`INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at,
  scopes_updated_at, memberships_updated_at, created_at, updated_at)
  SELECT 'apu' || id, 'app', id, 'active', 1, 1, 1, 1, 1, 1 FROM users`);
sqlite.run(`INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
  SELECT 'ses' || id, randomblob(32), 'apu' || id, 'otp', 1, 1, 2 FROM users`);
const hashes = sqlite.query('SELECT token_hash AS hash FROM sessions').all() as { hash: Uint8Array }[];

const timings = ['?', '+?'].map((bound) => {
  const statement = sqlite.prepare(
    `SELECT s.id, m.id AS member, u.email, a.slug FROM sessions s JOIN application_users m ON m.id = s.application_user_id
     JOIN users u ON u.id = m.user_id JOIN applications a ON a.id = m.application_id WHERE s.token_hash = ${bound}`,
  );
  const look = (round: number) => statement.get(hashes[(round * 7919) % SESSIONS]!.hash);
  for (let round = 0; round < ROUNDS / 5; round += 1) look(round);
  const begin = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) look(round);
  return [`= ${bound}`, Math.round(((performance.now() - begin) / ROUNDS) * 100_000) / 100];
});
console.log(JSON.stringify({ microseconds: Object.fromEntries(timings) }));
