/** Stop and restart: accepted work is finished, and known state is known again. */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { stopsUnderLoad } from '../faults/stop-under-load.ts';
import {
  emptyFolder,
  eventually,
  readDatabase,
  request,
  run,
  type RunningServer,
  sendCode,
  signIn,
  startServer,
} from '../support/binary.ts';

// Starting processes is slow on a busy machine.
setDefaultTimeout(120_000);

const scratch = emptyFolder();
afterAll(() => scratch.remove());

const key = (await run(['key'], { cwd: scratch.path })).stdout.trim();
const BOOTSTRAP = { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_WORKSPACE_KEY: key };
const LIMIT_WINDOW_MS = 15 * 60_000;

/** Opens a connection that counts its answers. */
async function connection({ url }: RunningServer) {
  const { hostname, port } = new URL(url);
  const over = Promise.withResolvers<void>();
  let said = '';
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => void (said += chunk.toString()),
      close: () => over.resolve(),
      error: () => over.resolve(),
    },
  });
  return {
    ask: () =>
      void socket.write(
        `GET /api/applications HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      ),
    answers: () => said.split('HTTP/1.1 200').length - 1,
    over: over.promise,
  };
}

/** Sends a request without the end of its body: the server has begun with it and waits. */
async function halfSent(server: RunningServer, body: string) {
  const { hostname, port } = new URL(server.url);
  let answer = '';
  const closed = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => void (answer += chunk.toString()),
      close: () => closed.resolve(answer),
      error: (_, error) => closed.reject(error),
    },
  });
  socket.write(
    `POST /api/applications HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 5)}`,
  );
  // A later answer over another connection shows that the server has seen this one.
  for (let look = 0; look < 3; look += 1) await request(server, 'GET', '/healthz');
  return {
    answer: closed.promise,
    finish: () => void socket.write(body.slice(5)),
    drop: () => socket.terminate(),
  };
}

async function isRefusing({ url }: RunningServer): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`, { keepalive: false }).catch(() => null);
  return answer === null;
}

describe.concurrent('SIGTERM', () => {
  test('lets a request in flight finish while new ones are refused, then exits with 0', async () => {
    const folder = join(scratch.path, 'in-flight');
    const server = await startServer(folder, BOOTSTRAP);
    const held = await halfSent(server, JSON.stringify({ name: 'Finished while stopping' }));
    server.process.kill('SIGTERM');
    await eventually('the server turns new requests away', () => isRefusing(server));
    expect(server.process.exitCode).toBeNull();
    held.finish();
    const answer = await held.answer;
    expect(answer).toStartWith('HTTP/1.1 200');
    expect(await server.process.exited).toBe(0);

    const { id } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).data;
    const restarted = await startServer(folder);
    expect((await request(restarted, 'GET', `/api/applications/${id}`, { token: key })).status).toBe(200);
    await restarted.stop();
  });

  test('ends the server within ten seconds although a request never finishes', async () => {
    const server = await startServer(join(scratch.path, 'never'), BOOTSTRAP);
    const held = await halfSent(server, JSON.stringify({ name: 'Never sent in full' }));
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
    held.drop();
  });

  // The kernel accepts connections even while the process is stopped.
  test.each([true, false])('answers every request that has arrived, read or not (held: %p)', async (isHeld) => {
    const server = await startServer(join(scratch.path, `arrived-${isHeld}`), BOOTSTRAP);
    const kept = await Promise.all(Array.from({ length: 10 }, () => connection(server)));
    for (const { ask } of kept) ask();
    await eventually('all are answered once', () => kept.every(({ answers }) => answers() === 1));
    if (isHeld) server.process.kill('SIGSTOP');
    const fresh = await Promise.all(Array.from({ length: 10 }, () => connection(server)));
    for (const { ask } of [...fresh, ...kept]) ask();
    server.process.kill('SIGTERM');
    if (isHeld) server.process.kill('SIGCONT');
    await Promise.all([...kept, ...fresh].map(({ over }) => over));
    expect(kept.map(({ answers }) => answers())).toEqual(kept.map(() => 2));
    expect(fresh.map(({ answers }) => answers())).toEqual(fresh.map(() => 1));
    expect(await server.process.exited).toBe(0);
  });

  test('does not wait for idle connections', async () => {
    const server = await startServer(join(scratch.path, 'idle'));
    const { hostname, port } = new URL(server.url);
    const idle = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
    await Promise.all(Array.from({ length: 5 }, () => request(server, 'GET', '/healthz')));
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(4000);
    idle.terminate();
  });
});

test('SIGTERM during all kinds of work loses nothing acknowledged, and ends every stream', async () => {
  // The tests above cover bodies that never arrive.
  const { rounds, faults } = await stopsUnderLoad(1, { sessionsEach: 2000, slowBodies: 0 });
  const [{ losses, problems, streams, cut }] = rounds as [(typeof rounds)[0]];
  expect({ losses, problems, faults, cut }).toEqual({ losses: [], problems: [], faults: [], cut: 0 });
  expect(streams).toBe(20);
});

describe('a mail server that accepts connections and says nothing', () => {
  let connections = 0;
  const silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { open: () => void (connections += 1), data() {} },
  });
  afterAll(() => silent.stop(true));

  const SILENT = { GATEHOUSE_SMTP_URL: `smtp://127.0.0.1:${silent.port}` };

  const countOfQueued = (folder: string) =>
    readDatabase(folder, (sqlite) => {
      const row = sqlite.query("SELECT count(*) AS n FROM mails WHERE status = 'queued'").get();
      return (row as { n: number }).n;
    });

  test('does not delay the exit on SIGTERM beyond ten seconds', async () => {
    const folder = join(scratch.path, 'mail');
    const first = await startServer(folder, BOOTSTRAP);
    await sendCode(first, 'owner@example.com');
    await first.stop();
    // The scheduled job sends a mail found at the start, and a stop waits for it.
    const sqlite = new Database(join(folder, 'gatehouse.db'));
    sqlite.run("UPDATE mails SET status = 'queued', attempts = 0");
    sqlite.close();
    const server = await startServer(folder, SILENT);
    await eventually('the mail server is connected to', () => connections > 0);
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('loses no mail: the next start at once sends mails in progress at the stop', async () => {
    const under = join(scratch.path, 'under-way');
    connections = 0;
    const server = await startServer(under, { ...BOOTSTRAP, ...SILENT });
    await sendCode(server, 'owner@example.com');
    await eventually('the mail server is connected to', () => connections > 0);
    expect(await server.stop()).toBe(0);
    expect(countOfQueued(under)).toBe(1);
    const restarted = await startServer(under);
    await eventually('the mail is captured', () => countOfQueued(under) === 0).finally(() => restarted.stop());
  });
});

describe('a restart', () => {
  test('keeps sessions, keys and people', async () => {
    const folder = join(scratch.path, 'restart');
    const server = await startServer(folder, BOOTSTRAP);
    const { token, userId } = await signIn(server, 'owner@example.com');
    const made = await request(server, 'POST', '/api/workspace/api-keys', {
      token,
      body: { name: 'backend', access: 'read' },
    });
    expect(await server.stop()).toBe(0);
    const restarted = await startServer(folder);
    const session = await request(restarted, 'POST', '/api/v1/session', { token });
    expect([session.status, session.json.userId]).toEqual([200, userId]);
    const byKey = await request(restarted, 'GET', '/api/applications', { token: made.json.data.token });
    expect(byKey.status).toBe(200);
    await restarted.stop();
  });

  test('keeps the counters of the rate limits', async () => {
    const folder = join(scratch.path, 'limits');
    const env = { ...BOOTSTRAP, GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '3' };
    const send = (server: RunningServer, email: string) =>
      request(server, 'POST', '/api/v1/auth/otp/send', { body: { email } });
    // Limit windows follow the wall clock; a run across the edge of a window is repeated.
    for (let isConclusive = false; !isConclusive;) {
      const window = Math.floor(Date.now() / LIMIT_WINDOW_MS);
      const server = await startServer(folder, env);
      const round = crypto.randomUUID();
      const first = [];
      for (const name of ['a', 'b', 'c']) first.push((await send(server, `${name}-${round}@example.com`)).status);
      await server.stop();
      const restarted = await startServer(folder, env);
      const after = await send(restarted, `d-${round}@example.com`);
      await restarted.stop();
      isConclusive = Math.floor(Date.now() / LIMIT_WINDOW_MS) === window;
      if (!isConclusive) continue;
      expect(first).toEqual([200, 200, 200]);
      expect([after.status, after.json.error]).toEqual([429, 'rate_limited']);
      expect(Number(after.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });
});
