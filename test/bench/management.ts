/**
 * Management on a large application: 200,000 members and 1,000,000 audit rows in the compiled binary. Prints the median
 * and worst time of each call, and the longest that any other request had to wait meanwhile; then the query plans.
 * Usage: bun test/bench/management.ts
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/core/id.ts';
import { systemRandom } from '../../src/core/random.ts';
import { mintSecret } from '../../src/core/secret.ts';

const MEMBERS = 200_000;
const AUDIT_ROWS = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
const port = 18_081;
const url = `http://127.0.0.1:${port}`;
const workspaceKey = mintSecret('apiKey', systemRandom);
const server = Bun.spawn(['dist/gatehouse', 'serve', '--data', folder, '--port', String(port)], {
  env: {
    ...process.env,
    GATEHOUSE_WORKSPACE_KEY: workspaceKey,
    GATEHOUSE_OWNER_EMAIL: 'owner@example.com',
    GATEHOUSE_LOG_LEVEL: 'warn',
  },
  stdout: 'ignore',
});

async function call(method: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as { data: { id: string; nextCursor: string | null; items: unknown[] } };
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(json)}`);
  return json.data;
}

/** Times a call several times over, while another client asks for /healthz without pause. */
async function measure(name: string, times: number, work: (round: number) => Promise<unknown>): Promise<void> {
  let isRunning = true;
  let longestWait = 0;
  const prober = (async () => {
    while (isRunning) {
      const startedAt = performance.now();
      await (await fetch(`${url}/healthz`)).text();
      longestWait = Math.max(longestWait, performance.now() - startedAt);
      await Bun.sleep(1);
    }
  })();
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) {
    const startedAt = performance.now();
    await work(round);
    taken.push(performance.now() - startedAt);
  }
  isRunning = false;
  await prober;
  taken.sort((left, right) => left - right);
  const milliseconds = (value: number) => `${value.toFixed(1)} ms`.padStart(10);
  console.log(
    `${name.padEnd(34)} median ${milliseconds(taken[times >> 1]!)}  worst ${milliseconds(taken.at(-1)!)}  others waited ${milliseconds(longestWait)}`,
  );
}

try {
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await Bun.sleep(20);
  const { id } = await call('POST', '/api/applications', { name: 'Large' });
  const path = `/api/applications/${id}`;
  fill(join(folder, 'gatehouse.db'), id);

  const row = (round: number, index: number) => ({
    email: `import${round}-${index}@example.com`,
    roleSlugs: ['user', 'developer'],
    profile: { username: `import${round}x${index}`, givenName: 'Ada', familyName: 'Lovelace', locale: 'en' },
  });
  const rows = (round: number) => ({ users: Array.from({ length: 500 }, (_, index) => row(round, index)) });
  await measure('import of 500 new users', 5, (round) => call('POST', `${path}/users/bulk`, rows(round)));
  await measure('the same import again', 5, (round) => call('POST', `${path}/users/bulk`, rows(round)));
  await measure('username check of 500', 5, () =>
    call('POST', `${path}/usernames/check`, {
      usernames: Array.from({ length: 500 }, (_, index) => `import0x${index}`),
    }),
  );
  await measure('users page of 50', 20, () => call('GET', `${path}/users`));
  await measure('users page of 200 with profile', 10, () => call('GET', `${path}/users?include=profile&limit=200`));
  let cursor = (await call('GET', `${path}/users?limit=200`)).nextCursor;
  for (let page = 0; page < 200; page += 1)
    cursor = (await call('GET', `${path}/users?limit=200&cursor=${cursor}`)).nextCursor;
  await measure('users page after 40,000 users', 20, () => call('GET', `${path}/users?cursor=${cursor}`));
  for (const query of [
    '',
    'status=ok',
    'status=error',
    'family=role',
    'country=FI',
    'family=signin&country=FI&status=error',
  ])
    await measure(`activity ?${query}`, 20, () => call('GET', `${path}/activity/list?${query}`));
  await measure('activity ?q= (common)', 10, () => call('GET', `${path}/activity/list?q=PERSON1`));
  await measure('activity ?q= (rare)', 5, () => call('GET', `${path}/activity/list?q=person199999@`));
  await measure('activity ?q= (nobody)', 5, () => call('GET', `${path}/activity/list?q=nobody-at-all`));
  plans(join(folder, 'gatehouse.db'), id);
} finally {
  server.kill('SIGTERM');
  await server.exited;
  rmSync(folder, { recursive: true, force: true });
}

function fill(databasePath: string, applicationId: string): void {
  const sqlite = new Database(databasePath, { strict: true });
  sqlite.run('PRAGMA busy_timeout = 10000');
  const now = Date.now();
  const user = sqlite.prepare(
    "INSERT INTO users (id, kind, email, given_name, created_at, updated_at) VALUES (?1, 'person', ?2, 'Ada', ?3, ?3)",
  );
  const member = sqlite.prepare(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at, scopes_updated_at,
       memberships_updated_at, created_at, updated_at) VALUES (?1, ?2, ?3, 'active', ?4, ?5, ?5, ?5, ?5, ?5)`,
  );
  const audit = sqlite.prepare(
    `INSERT INTO audit_records (id, application_id, kind, ok, user_id, email, actor_type, ip_country, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'anonymous', ?, ?)`,
  );
  const kinds = ['signin.succeeded', 'signin.code_sent', 'signin.refused', 'session.signed_out', 'role.assigned'];
  const countries = ['DE', 'FR', 'US', 'GB', 'NL', 'FI'];
  const ids: string[] = [];
  for (let start = 0; start < MEMBERS; start += 10_000)
    sqlite.transaction(() => {
      for (let index = start; index < start + 10_000; index += 1) {
        const userId = newId('user', now);
        ids.push(userId);
        user.run(userId, `person${index}@example.com`, now);
        member.run(newId('applicationUser', now), applicationId, userId, now - index * 1000, now);
      }
    })();
  for (let start = 0; start < AUDIT_ROWS; start += 10_000)
    sqlite.transaction(() => {
      for (let index = start; index < start + 10_000; index += 1) {
        const person = index % MEMBERS;
        const kind = kinds[index % 5]!;
        const country = index % 1000 === 0 ? 'FI' : countries[index % 5]!;
        const at = now - (AUDIT_ROWS - index) * 100;
        audit.run(
          newId('audit', at),
          applicationId,
          kind,
          kind === 'signin.refused' ? 0 : 1,
          ids[person]!,
          `person${person}@example.com`,
          country,
          at,
        );
      }
    })();
  sqlite.close();
}

function plans(databasePath: string, applicationId: string): void {
  const sqlite = new Database(databasePath, { readonly: true });
  const filters: Record<string, string> = {
    'activity, no filter': '',
    'activity, status=ok': 'AND ok = 1',
    'activity, status=error': 'AND ok = 0',
    'activity, family': "AND family = 'role'",
    'activity, country': "AND ip_country = 'FI'",
    'activity, q (a slice)': '',
  };
  for (const [name, filter] of Object.entries(filters))
    explain(
      name,
      `SELECT id FROM audit_records WHERE application_id = '${applicationId}' ${filter}
       AND (created_at, id) < (${Date.now()}, 'z') ORDER BY created_at DESC, id DESC LIMIT 51`,
    );
  explain(
    'users page',
    `SELECT m.id FROM application_users m JOIN users u ON u.id = m.user_id WHERE m.application_id = '${applicationId}'
     AND u.kind = 'person' AND (m.last_seen_at, m.id) < (${Date.now()}, 'z') ORDER BY m.last_seen_at DESC, m.id DESC LIMIT 51`,
  );
  sqlite.close();

  function explain(name: string, sql: string): void {
    const steps = sqlite.query(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    console.log(`${name.padEnd(24)} ${steps.map(({ detail }) => detail).join('; ')}`);
  }
}
