/**
 * Management of a large application with 200,000 members and 1,000,000 audit records: the median and worst time of
 * each call, and the longest wait of others meanwhile; then the query plans. Prints one JSON line.
 * Usage: bun test/bench/management.ts [--scale 0.1]
 */
import type { Database } from 'bun:sqlite';
import { parseArgs } from 'node:util';
import { emptyFolder, readDatabase } from '../support/binary.ts';
import { insertAudit, insertMembers } from './rows.ts';
import { createApplication, createKey, fill, round, startServer } from './server.ts';
import { inWords, whileWatched } from './waits.ts';

const { values } = parseArgs({ options: { scale: { type: 'string', default: '1' } } });
const scale = Number(values.scale);
const members = Math.round(200_000 * scale);
const auditRecords = Math.round(1_000_000 * scale);
const PAGES_DEEP = Math.round(200 * scale);

const scratch = emptyFolder();
const folder = scratch.path;
let server = await startServer(folder);
try {
  const { id } = await createApplication(server, 'Large');
  const path = `/api/applications/${id}`;
  const key = await createKey(server, '/api/workspace', 'full');
  await server.stop();
  fill(folder, (sqlite) => insertAudit(sqlite, id, insertMembers(sqlite, id, members), auditRecords));
  server = await startServer(folder, { GATEHOUSE_LOG_LEVEL: 'warn' });
  const call = (method: string, rest: string, body?: object) => server.call(method, `${path}/${rest}`, body, key);

  const calls: object[] = [];
  /** Times a call repeatedly. */
  async function measure(name: string, times: number, work: (turn: number) => Promise<unknown>): Promise<void> {
    const { result: taken, waits } = await whileWatched(server, async () => {
      const each: number[] = [];
      for (let turn = 0; turn < times; turn += 1) {
        const startedAt = performance.now();
        await work(turn);
        each.push(performance.now() - startedAt);
      }
      return each.toSorted((left, right) => left - right);
    });
    const [medianMs, worstMs] = [round(taken[times >> 1]!, 1), round(taken.at(-1)!, 1)];
    calls.push({ name, medianMs, worstMs, others: waits });
    console.log(`${name.padEnd(34)} median ${medianMs} ms   worst ${worstMs} ms   others ${inWords(waits)}`);
  }

  const rows = (turn: number) => ({
    users: Array.from({ length: 500 }, (_, index) => ({
      email: `import${turn}-${index}@example.com`,
      roleSlugs: ['user', 'developer'],
      profile: { username: `import${turn}x${index}`, givenName: 'Ada', familyName: 'Lovelace', locale: 'en' },
    })),
  });
  await measure('import of 500 new users', 5, (turn) => call('POST', 'users/bulk', rows(turn)));
  await measure('the same import again', 5, (turn) => call('POST', 'users/bulk', rows(turn)));
  const usernames = Array.from({ length: 500 }, (_, index) => `import0x${index}`);
  await measure('username check of 500', 5, () => call('POST', 'usernames/check', { usernames }));
  await measure('users page of 50', 20, () => call('GET', 'users'));
  await measure('users page of 200 with profile', 10, () => call('GET', 'users?include=profile&limit=200'));
  let { nextCursor } = await call('GET', 'users?limit=200');
  for (let page = 0; page < PAGES_DEEP; page += 1)
    ({ nextCursor } = await call('GET', `users?limit=200&cursor=${nextCursor}`));
  await measure(`users page after ${PAGES_DEEP * 200} users`, 20, () => call('GET', `users?cursor=${nextCursor}`));
  const family = 'family=signin&country=FI&status=error';
  for (const query of ['', 'status=ok', 'status=error', 'family=role', 'country=FI', family])
    await measure(`activity ?${query}`, 20, () => call('GET', `activity/list?${query}`));
  await measure('activity ?q= (common)', 10, () => call('GET', 'activity/list?q=PERSON1'));
  await measure('activity ?q= (rare)', 5, () => call('GET', `activity/list?q=person${members - 1}@`));
  await measure('activity ?q= (nobody)', 5, () => call('GET', 'activity/list?q=nobody-at-all'));
  await measure('statistics of 30 days', 20, () => call('GET', 'stats'));
  await measure('statistics of 365 days', 10, () => call('GET', 'stats?days=365'));
  for (const query of ['status=active', 'role=user', 'q=person1', `q=person${members - 1}@`, 'q=nobody', 'sort=joined'])
    await measure(`users ?${query}`, 10, () => call('GET', `users?${query}`));
  const ofWorkspace = (rest: string) => server.call('GET', `/api/workspace/${rest}`, undefined, key);
  await measure('activity of the workspace', 20, () => ofWorkspace('activity/list'));
  await measure('activity of the workspace, errors', 20, () => ofWorkspace('activity/list?status=error'));
  const change = (action: string, userIds: string[]) => call('POST', 'users/actions', { action, userIds });
  const { items: chosen } = await call('GET', 'users?limit=200&status=active');
  const userIds = chosen.map(({ userId }: { userId: string }) => userId);
  await measure('200 users paused and resumed', 6, (turn) => change(turn % 2 === 0 ? 'pause' : 'resume', userIds));
  readDatabase(folder, (sqlite) => showPlans(sqlite, id));
  console.log(JSON.stringify({ benchmark: 'management', members, auditRecords, calls }));
} finally {
  server.kill();
  scratch.remove();
}

function showPlans(sqlite: Database, applicationId: string): void {
  const page = (filter: string) =>
    `SELECT id FROM audit_records WHERE application_id = '${applicationId}' ${filter}
     AND (created_at, id) < (${Date.now()}, 'z') ORDER BY created_at DESC, id DESC LIMIT 51`;
  const plans: Record<string, string> = {
    'activity, no filter': page(''),
    'activity, status=ok': page('AND ok = 1'),
    'activity, status=error': page('AND ok = 0'),
    'activity, family': page("AND family = 'role'"),
    'activity, country': page("AND ip_country = 'FI'"),
    'users page': `SELECT m.id FROM application_users m JOIN users u ON u.id = m.user_id
      WHERE m.application_id = '${applicationId}' AND u.kind = 'person' AND (m.last_seen_at, m.id) < (${Date.now()}, 'z')
      ORDER BY m.last_seen_at DESC, m.id DESC LIMIT 51`,
  };
  for (const [name, sql] of Object.entries(plans)) {
    const steps = sqlite.query(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
    console.log(`${name.padEnd(34)} ${steps.map(({ detail }) => detail).join('; ')}`);
  }
}
