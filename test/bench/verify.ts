/**
 * Requests per second of POST /api/v1/verify with live look-ups: 10,000 sessions, the compiled binary, wrk on the same
 * machine. Prints one JSON line. Usage: bun test/bench/verify.ts [seconds]
 */
import { Database } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../src/core/id.ts';
import { systemRandom } from '../../src/core/random.ts';
import { hashSecret, mintSecret } from '../../src/core/secret.ts';

const SESSIONS = 10_000;
const seconds = Number(process.argv[2] ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
const port = 18_080;
const url = `http://127.0.0.1:${port}`;
const workspaceKey = mintSecret('apiKey', systemRandom);
/** Another command than the binary, for a profiler: BENCH_COMMAND='bun --cpu-prof-md src/main.ts'. */
const command = (process.env['BENCH_COMMAND'] ?? 'dist/gatehouse').split(' ');
const server = Bun.spawn([...command, 'serve', '--data', folder, '--port', String(port)], {
  env: { ...process.env, GATEHOUSE_WORKSPACE_KEY: workspaceKey, GATEHOUSE_OWNER_EMAIL: 'owner@example.com' },
  stdout: Bun.file(join(folder, 'log')),
});

async function call(path: string, body?: object): Promise<{ id: string; token: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspaceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });
  return ((await response.json()) as { data: { id: string; token: string } }).data;
}

try {
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await Bun.sleep(20);
  const { id: applicationId } = await call('/api/applications', { name: 'Bench' });
  const { token: key } = await call(`/api/applications/${applicationId}/api-keys`, {
    name: 'bench',
    access: 'read',
    rateLimits: { perMinute: 1_000_000, perDay: 1_000_000_000 },
  });
  const tokens = insertSessions(join(folder, 'gatehouse.db'), applicationId);
  await Bun.write(join(folder, 'tokens'), tokens.join('\n'));
  await Bun.write(
    join(folder, 'verify.lua'),
    `local tokens = {}
     for line in io.lines("${join(folder, 'tokens')}") do tokens[#tokens + 1] = line end
     local headers = { ["Authorization"] = "Bearer ${key}", ["Content-Type"] = "application/json" }
     local next = 0
     request = function()
       next = next % #tokens + 1
       return wrk.format("POST", "/api/v1/verify", headers, '{"token":"' .. tokens[next] .. '"}')
     end
     local bad = 0
     response = function(status, _, body)
       if status ~= 200 or not body:find('"success":true', 1, true) then bad = bad + 1 end
       if bad > 0 and bad < 3 then print("unexpected: " .. status .. " " .. body) end
     end`,
  );
  const idleMiB = residentMiB(server.pid);
  const wrk = Bun.spawnSync([
    'wrk',
    '-t1',
    '-c32',
    `-d${seconds}s`,
    '--latency',
    '-s',
    join(folder, 'verify.lua'),
    url,
  ]);
  const output = wrk.stdout.toString();
  console.log(output);
  console.log(
    JSON.stringify({
      sessions: SESSIONS,
      requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
      p99: /99%\s+(\S+)/.exec(output)?.[1],
      residentMiB: { before: idleMiB, after: residentMiB(server.pid) },
    }),
  );
} finally {
  server.kill('SIGTERM');
  await server.exited;
  rmSync(folder, { recursive: true, force: true });
}

function insertSessions(path: string, applicationId: string): string[] {
  const sqlite = new Database(path, { strict: true });
  const now = Date.now();
  const role = sqlite
    .query('SELECT id FROM roles WHERE application_id = ? AND slug = ?')
    .get(applicationId, 'user') as { id: string };
  const user = sqlite.prepare(
    "INSERT INTO users (id, kind, email, given_name, family_name, created_at, updated_at) VALUES (?, 'person', ?, 'Ada', 'Lovelace', ?, ?)",
  );
  const member = sqlite.prepare(
    `INSERT INTO application_users (id, application_id, user_id, status, last_seen_at, roles_updated_at, scopes_updated_at,
       memberships_updated_at, created_at, updated_at) VALUES (?1, ?2, ?3, 'active', ?4, ?4, ?4, ?4, ?4, ?4)`,
  );
  const grant = sqlite.prepare('INSERT INTO application_user_roles VALUES (?, ?)');
  const session = sqlite.prepare(
    `INSERT INTO sessions (id, token_hash, application_user_id, method, last_seen_at, created_at, expires_at)
     VALUES (?, ?, ?, 'otp', ?, ?, ?)`,
  );
  const tokens: string[] = [];
  sqlite.transaction(() => {
    for (let index = 0; index < SESSIONS; index += 1) {
      const userId = newId('user', now);
      const memberId = newId('applicationUser', now);
      const token = mintSecret('session', systemRandom);
      user.run(userId, `person${index}@example.com`, now, now);
      member.run(memberId, applicationId, userId, now);
      grant.run(memberId, role.id);
      session.run(newId('session', now), hashSecret(token), memberId, now, now, now + 86_400_000);
      tokens.push(token);
    }
  })();
  sqlite.close();
  return tokens;
}

function residentMiB(pid: number): number {
  const status = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]).stdout.toString();
  return Math.round(Number(status) / 1024);
}
