import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Connection } from './connection.ts';
import { startThreaded, type ThreadedServer } from './server.ts';
import { eventually } from '../support/eventually.ts';

setDefaultTimeout(120_000);

const MINUTE = 60_000;
const LIMIT = 40;

let threaded: ThreadedServer;
let connections: Connection[];
let application: { id: string; clientId: string };
beforeAll(async () => {
  threaded = await startThreaded({ environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: String(LIMIT) } });
  connections = await threaded.connectToAll();
  application = await threaded.createApplication();
});
afterAll(() => threaded.stop());

/** Waits for the start of a minute where little is left of this one, so that no window ends within a test. */
async function withinOneMinute(): Promise<void> {
  const left = MINUTE - (Date.now() % MINUTE);
  if (left < 8000) await Bun.sleep(left + 50);
}

const createKey = (perMinute: number, perDay = 1_000_000) =>
  threaded.data('POST', `/api/applications/${application.id}/api-keys`, {
    name: 'limited',
    access: 'read',
    rateLimits: { perMinute, perDay },
  });

/** Sends a number of requests on each connection at once. @returns all statuses. */
async function sendOnAll(each: number, send: (connection: Connection) => Promise<{ status: number }>) {
  const answers = await Promise.all(
    connections.flatMap((connection) => Array.from({ length: each }, () => send(connection))),
  );
  return answers.map(({ status }) => status);
}

const count = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

describe('a limit across threads', () => {
  test('of a key admits exactly its calls a minute, of all threads and of the main one', async () => {
    await withinOneMinute();
    const { token } = await createKey(LIMIT);
    const verify = (connection: Connection) =>
      connection.send('POST', '/api/v1/verify', { token, body: { token: 'est_none' } });
    const first = await sendOnAll(10, verify);
    expect(count(first, 200)).toBe(20);
    // The main thread answers this one and counts it with the others.
    expect((await threaded.call('GET', `/api/applications/${application.id}`, undefined, token)).status).toBe(200);
    const rest = await sendOnAll(15, verify);
    expect([count(rest, 200), count(rest, 429)]).toEqual([LIMIT - 21, 30 - (LIMIT - 21)]);
    expect((await threaded.call('GET', `/api/applications/${application.id}`, undefined, token)).status).toBe(429);
  });

  test('of a key counts no refused call against the day', async () => {
    await withinOneMinute();
    const { token } = await createKey(10, 15);
    const verify = (connection: Connection) =>
      connection.send('POST', '/api/v1/verify', { token, body: { token: 'est_none' } });
    expect(count(await sendOnAll(20, verify), 200)).toBe(10);
    const { text } = await threaded.call('GET', `/api/applications/${application.id}/api-keys`);
    expect(text).toContain('"usage":{"minute":10,"day":10}');
  });

  test('of a key shows its calls of all threads over time', async () => {
    await withinOneMinute();
    const { id, token } = await createKey(LIMIT);
    const verify = (connection: Connection) =>
      connection.send('POST', '/api/v1/verify', { token, body: { token: 'est_none' } });
    const sent = (await sendOnAll(5, verify)).length;
    await eventually('the calls of the key', async () => {
      const { text } = await threaded.call('GET', `/api/applications/${application.id}/api-keys/${id}/calls`);
      return text.includes(`"accepted":0,"refused":${sent}}`);
    });
  });

  test('of a session admits exactly its calls a minute', async () => {
    await withinOneMinute();
    const { token } = await threaded.signIn(application.clientId, 'ada@example.com');
    const statuses = await sendOnAll(LIMIT, (connection) => connection.send('POST', '/api/v1/session', { token }));
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([LIMIT, LIMIT]);
  });

  test('of a key survives a restart', async () => {
    await withinOneMinute();
    const { token } = await createKey(1000, 12);
    const verify = (connection: Connection) =>
      connection.send('POST', '/api/v1/verify', { token, body: { token: 'est_none' } });
    expect(count(await sendOnAll(4, verify), 200)).toBe(8);
    await threaded.server.services.limiter.flush();
    const { folder } = threaded;
    const before = threaded;
    await before.server.stop();
    threaded = await startThreaded({ folder });
    connections = await threaded.connectToAll();
    const statuses = await sendOnAll(10, verify);
    expect(count(statuses, 200)).toBe(4);
  });
});

describe('what threads note', () => {
  test('reaches metrics, log and last-seen times', async () => {
    const { clientId, id } = await threaded.createApplication({ name: 'Noted' });
    const { token, userId } = await threaded.signIn(clientId, 'noted@example.com');
    threaded.sqlite
      .query(
        'UPDATE sessions SET last_seen_at = 0 WHERE application_user_id IN (SELECT id FROM application_users WHERE user_id = ?)',
      )
      .run(userId);
    threaded.sqlite.query('UPDATE applications SET first_verified_at = NULL WHERE id = ?').run(id);
    await threaded.server.db.maintain();
    const lines = () => threaded.logLines.filter((line) => line.includes('"route":"/api/v1/session"'));
    const before = lines().length;
    const statuses = await sendOnAll(5, (connection) => connection.send('POST', '/api/v1/session', { token }));
    expect(count(statuses, 200)).toBe(10);
    await eventually('the lines', () => lines().length === before + 10);
    for (const line of lines()) expect(JSON.parse(line)).toMatchObject({ method: 'POST', ip: null });
    await eventually('the last-seen time', async () => {
      await threaded.server.services.flushCounters();
      const row = threaded.sqlite
        .query(
          'SELECT max(last_seen_at) AS at FROM sessions WHERE application_user_id IN (SELECT id FROM application_users WHERE user_id = ?)',
        )
        .get(userId) as { at: number };
      return row.at > 0;
    });
    await eventually('the first verification', async () => {
      await threaded.server.services.verification.flushFirstVerified();
      return (
        (
          threaded.sqlite.query('SELECT first_verified_at AS at FROM applications WHERE id = ?').get(id) as {
            at: number | null;
          }
        ).at !== null
      );
    });
    const { text } = await threaded.call('GET', '/metrics');
    expect(text).toMatch(/gatehouse_verdicts_total\{endpoint="session",outcome="ok"\} 10\n/);
    expect(text).toMatch(/gatehouse_http_requests_total\{method="POST",route="\/api\/v1\/session",status="200"\} 10\n/);
  });
});
