import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect as connectTls } from 'node:tls';
import { makeCertificate, writeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { connect } from './connection.ts';
import { startThreaded, type ThreadedServer } from './server.ts';

setDefaultTimeout(60_000);

let threaded: ThreadedServer | undefined;
afterEach(async () => {
  await threaded?.stop();
  threaded = undefined;
});

const logged = ({ logLines }: ThreadedServer, part: string) => logLines.find((line) => line.includes(part));

describe('a thread that ends', () => {
  test('is replaced, said in the log, and its requests end; the others go on, and no limit is lost', async () => {
    const running = (threaded = await startThreaded());
    const { id } = await running.createApplication();
    const { token } = await running.data('POST', `/api/applications/${id}/api-keys`, {
      name: 'limited',
      access: 'read',
      rateLimits: { perMinute: 1000, perDay: 30 },
    });
    const verify = async (connection: { send: Awaited<ReturnType<typeof connect>>['send'] }) =>
      (await connection.send('POST', '/api/v1/verify', { token, body: { token: 'est_none' } })).status;
    const [first, second] = await running.connectToAll();
    for (let time = 0; time < 10; time += 1) await Promise.all([verify(first!), verify(second!)]);
    const verified = async () =>
      Number(
        /verdicts_total\{endpoint="verify",outcome="invalid_token"\} (\d+)/.exec(
          (await running.call('GET', '/metrics')).text,
        )?.[1],
      );
    await eventually('the notes of both', async () => (await verified()) === 20);
    const [worker] = running.workers;
    worker!.terminate();
    await eventually('the line', () => logged(running, 'a thread that verifies ended and is replaced'));
    await eventually('the next thread', () => logged(running, 'the thread was replaced'));
    expect(running.workers.length).toBe(3);
    const statuses: number[] = [];
    for (let time = 0; time < 20; time += 1) {
      const connection = await connect(running.port);
      statuses.push(await verify(connection));
      connection.close();
    }
    expect(statuses).toEqual([...Array(10).fill(200), ...Array(10).fill(429)]);
    // The metrics keep the counts of the ended thread.
    await eventually('the notes of all three', async () => (await verified()) === 30);
  });

  test('ends the streams and bodies that it had handed over', async () => {
    const running = (threaded = await startThreaded());
    const { clientId } = await running.createApplication();
    const { token } = await running.signIn(clientId, 'ada@example.com');
    const response = await fetch(`${running.server.localUrl}/api/v1/session/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    await response.body!.getReader().read();
    const open = async () =>
      /streams_open\{kind="session"\} (\d+)/.exec((await running.call('GET', '/metrics')).text)?.[1];
    expect(await open()).toBe('1');
    for (const worker of running.workers.slice(0, 2)) worker.terminate();
    await eventually('the next threads', () => running.workers.length === 4 && running.server.pending() === 0);
    await eventually('no stream is open', async () => (await open().catch(() => null)) === '0');
  });
});

describe('a stop', () => {
  test('answers what has arrived, ends streams, and keeps what threads have noted', async () => {
    const running = await startThreaded();
    const { clientId } = await running.createApplication();
    const { token, userId } = await running.signIn(clientId, 'ada@example.com');
    running.sqlite.query('UPDATE sessions SET last_seen_at = 0').run();
    await running.server.db.maintain();
    const connections = await running.connectToAll();
    const stream = await fetch(`${running.server.localUrl}/api/v1/session/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    const others = await Promise.all(connections.map(() => connect(running.port)));
    // Accepted, so that what they send arrives.
    await Promise.all(others.map((other) => other.send('GET', '/healthz')));
    // Its first answer takes half a second of a processor: on a busy machine, longer than a stop waits.
    await running.call('GET', '/openapi.json');
    const sent = [
      ...connections.map((connection) => connection.send('POST', '/api/v1/session', { token })),
      // Handed over, with an answer that takes some milliseconds.
      ...others.map((other) => other.send('GET', '/openapi.json', { headers: { 'Accept-Encoding': 'identity' } })),
    ];
    const results = Promise.all(sent);
    await sent[0];
    const since = performance.now();
    const stopped = running.server.stop();
    expect((await results).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await stream.text();
    await stopped;
    expect(performance.now() - since).toBeLessThan(5000);
    const row = running.sqlite
      .query(
        'SELECT max(sessions.last_seen_at) AS at FROM sessions JOIN application_users ON application_users.id = application_user_id WHERE user_id = ?',
      )
      .get(userId) as { at: number };
    expect(row.at).toBeGreaterThan(0);
    expect(running.logLines.filter((line) => line.includes('"route":"/api/v1/session"')).length).toBe(2);
    await running.stop();
  });

  test('with nothing to do takes no long time', async () => {
    const running = await startThreaded();
    const since = performance.now();
    await running.stop();
    expect(performance.now() - since).toBeLessThan(3000);
  });
});

test('the use of a session on a thread counts in the statistics', async () => {
  const running = (threaded = await startThreaded());
  const { id, clientId } = await running.createApplication();
  const { token } = await running.signIn(clientId, 'ada@example.com');
  const activeToday = async () =>
    (await running.data('GET', `/api/applications/${id}/stats`)).activeSessions.day.count as number;
  await eventually('the new session counts', async () => (await activeToday()) === 1);
  // Moves the session's beginning to an earlier day.
  running.sqlite.run("DELETE FROM daily_counts WHERE metric = 'session_gap'");
  running.sqlite.query('UPDATE sessions SET last_seen_at = last_seen_at - 86400000').run();
  await running.server.db.maintain();
  const [connection] = await running.connectToAll();
  expect((await connection!.send('POST', '/api/v1/session', { token })).status).toBe(200);
  await eventually('the session counts', async () => (await activeToday()) === 1);
});

describe('a start', () => {
  test('fails with the remedy where the port is taken', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const environment = { GATEHOUSE_PORT: String(taken.port) };
    expect(startThreaded({ environment })).rejects.toThrow(`Port ${taken.port} on 127.0.0.1 is in use already`);
    await taken.stop(true);
  });
});

describe('with a certificate', () => {
  test('every thread speaks https, and shows the renewed one to new connections', async () => {
    const folder = scratchFolder('gatehouse-threads-tls');
    const files = writeCertificate(folder, await makeCertificate({ name: 'first' }));
    const environment = { GATEHOUSE_TLS_CERT: files.cert, GATEHOUSE_TLS_KEY: files.key };
    const running = (threaded = await startThreaded({ environment }));
    const connections = await running.connectToAll();
    expect(connections.length).toBe(2);
    for (const connection of connections) {
      const answer = await connection.send('GET', '/readyz');
      expect([answer.status, /strict-transport-security/i.test(answer.head)]).toEqual([200, true]);
    }
    writeCertificate(folder, await makeCertificate({ name: 'second' }));
    running.server.renewCertificate!();
    // A connection from before goes on.
    expect((await connections[0]!.send('GET', '/healthz')).status).toBe(200);
    const nameShown = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connectTls({ host: '127.0.0.1', port: running.port, rejectUnauthorized: false }, () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        });
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('closed')));
      });
    await eventually('only the new certificate', async () => {
      const names = new Set<string>();
      for (let time = 0; time < 16; time += 1) names.add(await nameShown().catch(() => 'reset'));
      return names.size === 1 && names.has('second');
    });
  });
});
