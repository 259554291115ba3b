/** Receivers that misbehave: each attempt is classified and recorded, and delays no other endpoint. */
import type { Socket } from 'bun';
import { describe, expect, test } from 'bun:test';
import { SECOND } from '@/core/clock.ts';
import { type GuardedFetch, guardedFetch, OutboundError } from '@/outbound/guarded-fetch.ts';
import { BlockList } from 'node:net';
import { eventually } from '../../support/eventually.ts';
import { isLong } from '../../support/long.ts';
import { CERTIFICATES } from './certificates.ts';
import { closing, emit, newestDelivery, setUp, subscribe, subscribeTo, toLoopback } from './scene.ts';

/** The attempt timeout in these tests; the real 15 s are tested once. */
const PATIENCE_MS = 2000;

interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Connections accepted, and connections closed. */
  readonly opened: number;
  readonly closed: number;
  close(): void;
}

/** A server that controls the raw connection. */
function rawServer(onRequest: (socket: Socket) => void, onDrain: (socket: Socket) => void = () => {}): RawServer {
  let opened = 0;
  let closed = 0;
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (opened += 1),
      data: (socket) => onRequest(socket),
      drain: (socket) => onDrain(socket),
      close: () => void (closed += 1),
      error: () => {},
    },
  });
  return closing({
    url: `http://127.0.0.1:${listener.port}/`,
    port: listener.port,
    get opened() {
      return opened;
    },
    get closed() {
      return closed;
    },
    close: () => listener.stop(true),
  });
}

/** A well-behaved server. */
function httpServer(fetch: () => Response, tls?: { key: string; cert: string }): { url: string; close(): unknown } {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, ...(tls && { tls }) });
  return closing({ url: server.url.href, close: () => server.stop(true) });
}

/** Writes without end, as fast as the client reads. */
function floodServer(head: string, piece: string): RawServer & { readonly sentBytes: number } {
  let sentBytes = 0;
  const flood = (socket: Socket) => {
    for (let turn = 0; turn < 64; turn += 1) {
      const written = socket.write(piece);
      sentBytes += Math.max(written, 0);
      if (written < piece.length) return;
    }
  };
  const server = rawServer((socket) => {
    socket.write(head);
    flood(socket);
  }, flood);
  return Object.defineProperty(server, 'sentBytes', { get: () => sentBytes }) as ReturnType<typeof floodServer>;
}

/** Writes a little at a time, repeatedly. */
function trickleServer(head: string, piece: string): RawServer {
  return rawServer((socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(piece) < 0 && clearInterval(timer), 20);
  });
}

/**
 * Sends one event to a hostile and to a healthy endpoint. Returns the recorded attempt, and whether the healthy one got
 * its event before the hostile one's attempt had ended.
 */
async function deliverBeside(url: string, outbound: GuardedFetch = toLoopback(PATIENCE_MS)) {
  let isOver = false;
  const send: GuardedFetch = (request) =>
    outbound(request).finally(() => {
      isOver ||= request.url === url;
    });
  const scene = await setUp({ outbound: send });
  const hostile = await subscribeTo(scene, url);
  const { receiver, id } = await subscribe(scene);
  await emit(scene);
  const all = scene.instance.services.deliveries.runOnce();
  await eventually('the healthy endpoint got its event', () => receiver.received.length === 1);
  const isHealthyFirst = !isOver;
  await all;
  expect(isOver).toBe(true);
  expect((await newestDelivery(scene, id)).status).toBe('delivered');
  const delivery = await newestDelivery(scene, hostile);
  expect(delivery).toMatchObject({ attempts: 1, attemptLog: [{ number: 1 }] });
  return { scene, hostile, delivery, attempt: delivery.attemptLog[0], isHealthyFirst };
}

const megabyte = 'x'.repeat(1024 * 1024);
const ok = 'HTTP/1.1 200 OK\r\n';

describe('a receiver that', () => {
  test.each<[string, () => RawServer, string]>([
    ['never answers', () => rawServer(() => {}), 'timeout'],
    ['trickles headers', () => trickleServer(ok, 'X-Slow: 1\r\n'), 'timeout'],
    ['trickles its body', () => trickleServer(`${ok}Content-Length: 100000\r\n\r\n`, '.'), 'timeout'],
    [
      'stops in the middle of its body',
      () => rawServer((s) => void s.write(`${ok}Content-Length: 9\r\n\r\nab`)),
      'timeout',
    ],
    [
      'never ends its interim answers',
      () => floodServer('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      'timeout',
    ],
    ['never ends its headers', () => floodServer(ok, `X-Filler: ${'y'.repeat(1000)}\r\n`.repeat(20)), 'connection'],
    ['never ends one header', () => floodServer(`${ok}X-Filler: `, 'y'.repeat(65_536)), 'connection'],
    ['resets at once', () => rawServer((socket) => socket.terminate()), 'connection'],
    ['closes without an answer', () => rawServer((socket) => socket.end()), 'connection'],
    [
      'resets in the middle of its body',
      () =>
        rawServer((socket) => {
          socket.write(`${ok}Content-Length: 100\r\n\r\nab`);
          setTimeout(() => socket.terminate(), 20);
        }),
      'connection',
    ],
    ['speaks no HTTP', () => rawServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n')), 'connection'],
  ])('%s is recorded with its error class and retried', async (_, serve, errorClass) => {
    const server = serve();
    const { attempt, delivery, isHealthyFirst } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass, statusCode: null, responseExcerpt: null });
    expect(attempt.durationMs).toBeWithin(errorClass === 'timeout' ? PATIENCE_MS - 20 : 0, PATIENCE_MS + 3000);
    expect(delivery.status).toBe('pending');
    if (errorClass === 'timeout') expect(isHealthyFirst).toBe(true);
    // No connection is left open.
    await eventually('the connection is closed', () => server.closed === server.opened);
  });

  test.if(isLong)(
    'stalls has 15 seconds of real time, and others are delivered meanwhile',
    async () => {
      const server = rawServer(() => {});
      const scene = await setUp();
      const hostile = await subscribeTo(scene, server.url);
      const { receiver } = await subscribe(scene);
      await emit(scene);
      const all = scene.instance.services.deliveries.runOnce();
      for (let index = 0; index < 20; index += 1) {
        await Bun.sleep(50);
        await emit(scene, `usr_beside_${index}`);
        const isIt = ({ event }: (typeof receiver.received)[number]) => event.data.userId === `usr_beside_${index}`;
        await eventually('beside', () => receiver.received.find(isIt));
      }
      // No attempt at the stalled receiver has ended yet, so no other delivery waited for one.
      expect(server.closed).toBe(0);
      // At most ten connections to it, however many events there are.
      expect(server.opened).toBe(10);
      // Its other attempts begin only after the first ones end; the test does not wait for them.
      const delivery = await eventually(
        'an attempt has run out of time',
        async () => {
          const { items } = (await scene.api.deliveries(hostile, '?limit=100')).json.data;
          return items.at(-1).nextAttemptAt !== items.at(-1).createdAt && items.at(-1);
        },
        20_000,
      );
      const { attemptLog } = (await scene.api.delivery(hostile, delivery.id)).json.data;
      expect(attemptLog).toMatchObject([{ errorClass: 'timeout', statusCode: null }]);
      expect(attemptLog[0].durationMs).toBeWithin(14_900, 16_000);
      await scene.api.remove(hostile);
      server.close();
      await all;
    },
    40_000,
  );

  test.each([301, 302, 303, 307, 308])('redirects with %d is not followed', async (status) => {
    let isFollowed = false;
    const canary = httpServer(() => {
      isFollowed = true;
      return new Response();
    });
    const location = `Location: ${canary.url}\r\n`;
    const server = rawServer((s) => void s.write(`HTTP/1.1 ${status} Moved\r\n${location}Content-Length: 2\r\n\r\nhi`));
    const { attempt } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass: 'redirect', statusCode: status, responseExcerpt: 'hi' });
    expect(isFollowed).toBe(false);
  });

  test.each([
    [400, 'status'],
    [401, 'status'],
    [404, 'status'],
    [429, 'status'],
    [500, 'status'],
    [503, 'status'],
  ])('answers %d is recorded with its status', async (status, errorClass) => {
    const server = rawServer((s) => void s.write(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`));
    const { attempt, delivery } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass, statusCode: status, responseExcerpt: 'no' });
    expect(delivery.status).toBe('pending');
  });

  test.each([200, 201, 202, 204, 299])('answers %d is recorded as delivered', async (status) => {
    const server = rawServer((s) => void s.write(`HTTP/1.1 ${status} Yes\r\nContent-Length: 0\r\n\r\n`));
    const { attempt, delivery } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass: null, statusCode: status, responseExcerpt: '' });
    expect(delivery.status).toBe('delivered');
  });

  test('never ends its body is disconnected after 1 KiB', async () => {
    const head = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
    const server = floodServer(head, `${megabyte.length.toString(16)}\r\n${megabyte}\r\n`);
    const { attempt, delivery } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass: null, statusCode: 200, responseExcerpt: 'x'.repeat(1024) });
    expect(delivery.status).toBe('delivered');
    await eventually('the connection is closed', () => server.closed === 1);
    // The rest is in the sockets' buffers.
    expect(server.sentBytes).toBeLessThan(64 * 1024 * 1024);
  });

  test('sends a gzip bomb gets it stored compressed', async () => {
    const bomb = Bun.gzipSync(new Uint8Array(10_000_000));
    const { url } = httpServer(() => new Response(bomb, { headers: { 'Content-Encoding': 'gzip' } }));
    const { scene, attempt } = await deliverBeside(url);
    expect(attempt).toMatchObject({ errorClass: null, statusCode: 200 });
    expect(attempt.responseExcerpt.startsWith('\u001f')).toBe(true);
    expect(attempt.responseExcerpt.length).toBeLessThanOrEqual(1024);
    const direct = await toLoopback()({ url, method: 'GET', timeoutMs: 1000, maxBytes: 20_000_000 });
    expect(direct.body.byteLength).toBe(bomb.byteLength);
    expect(scene.instance.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  test('is down is recorded as a failed connection', async () => {
    const server = rawServer(() => {});
    server.close();
    const { attempt } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass: 'connection', statusCode: null });
  });

  test('has a self-signed certificate is recorded as a TLS error', async () => {
    const server = httpServer(() => new Response('hi'), { key: CERTIFICATES.goodKey, cert: CERTIFICATES.good });
    const { attempt } = await deliverBeside(server.url);
    expect(attempt).toMatchObject({ errorClass: 'tls', statusCode: null });
  });

  test('speaks plain HTTP on a TLS port is recorded as a TLS error', async () => {
    const server = rawServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
    const { attempt } = await deliverBeside(`https://127.0.0.1:${server.port}/`);
    expect(attempt).toMatchObject({ errorClass: 'tls', statusCode: null });
  });
});

describe('a host name', () => {
  /** Public for the guard, but in a block that IANA has not allocated, so nothing is ever reached there. */
  const PUBLIC = '2d00::1';

  /** A guarded client with scripted DNS answers, and a canary on loopback that nothing may reach. */
  async function rebinding(answers: readonly (readonly string[])[]) {
    const canary = rawServer((socket) => void socket.end(`${ok}Content-Length: 0\r\n\r\n`));
    const asked: string[] = [];
    const send = guardedFetch({
      allowed: new BlockList(),
      isLoopbackAllowed: false,
      resolve: async (hostname) => {
        asked.push(hostname);
        return [...answers[Math.min(asked.length, answers.length) - 1]!];
      },
    });
    const outbound: GuardedFetch = (request) => send({ ...request, timeoutMs: PATIENCE_MS });
    const scene = await setUp({ mode: 'normal', outbound });
    return { scene, canary, asked, outbound };
  }

  test('a name that resolves first to a public address and then to loopback never reaches loopback', async () => {
    const { scene, canary, asked } = await rebinding([[PUBLIC], ['127.0.0.1']]);
    const { instance } = scene;
    const id = await subscribeTo(scene, `https://rebind.example.com:${canary.port}/`);
    await emit(scene);
    await instance.services.deliveries.runOnce();
    // One DNS lookup per attempt, so no second answer can differ between the check and the connection.
    expect(asked).toEqual(['rebind.example.com']);
    for (let retry = 0; retry < 3; retry += 1) {
      instance.clock.advance(200 * SECOND);
      await instance.services.deliveries.runOnce();
    }
    const { attemptLog } = await newestDelivery(scene, id);
    const classes = attemptLog.map(({ errorClass }: { errorClass: string }) => errorClass);
    expect(classes[0]).toMatch(/^(connection|timeout)$/);
    expect(classes.slice(1)).toEqual(['refused', 'refused', 'refused']);
    expect(canary.opened).toBe(0);
  });

  test.each([
    ['public and private at once', [PUBLIC, '127.0.0.1']],
    ['private and public at once', ['127.0.0.1', PUBLIC]],
    ['loopback mapped into IPv6', ['::ffff:127.0.0.1']],
    ['loopback mapped into IPv6, in full', ['0000:0000:0000:0000:0000:ffff:7f00:0001']],
    ['loopback of IPv6', ['::1']],
    ['link-local with a zone', ['fe80::1%lo']],
    ['this host', ['0.0.0.0']],
    ['metadata', ['169.254.169.254']],
    ['what is no address', ['localhost']],
  ])('a name with addresses %s is refused before anything is sent', async (_, addresses) => {
    const { scene, canary } = await rebinding([addresses]);
    const id = await subscribeTo(scene, `https://rebind.example.com:${canary.port}/`);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    const { attemptLog } = await newestDelivery(scene, id);
    expect(attemptLog).toMatchObject([{ errorClass: 'refused', statusCode: null }]);
    expect(canary.opened).toBe(0);
  });

  test('a name without an address is recorded as unresolved', async () => {
    const { scene, canary } = await rebinding([[]]);
    const id = await subscribeTo(scene, `https://rebind.example.com:${canary.port}/`);
    await emit(scene);
    await scene.instance.services.deliveries.runOnce();
    expect((await newestDelivery(scene, id)).attemptLog).toMatchObject([{ errorClass: 'unresolved' }]);
  });

  test('a name that the system’s own resolver maps to loopback is refused', async () => {
    const canary = rawServer((socket) => void socket.end(`${ok}Content-Length: 0\r\n\r\n`));
    const outbound = guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: false });
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', '127.1', '0x7f000001', '[::ffff:127.0.0.1]']) {
      const answer = outbound({
        url: `http://${host}:${canary.port}/`,
        method: 'POST',
        body: '',
        timeoutMs: 5000,
        maxBytes: 1,
      });
      const error = (await answer.catch((thrown: unknown) => thrown)) as OutboundError;
      expect(error).toBeInstanceOf(OutboundError);
      expect(['refused', 'unresolved']).toContain(error.problem);
    }
    expect(canary.opened).toBe(0);
  });

  test('a name whose resolution stalls is recorded as a timeout', async () => {
    const send = guardedFetch({
      allowed: new BlockList(),
      isLoopbackAllowed: true,
      resolve: (hostname) => (hostname === 'slow.example.com' ? new Promise(() => {}) : Promise.resolve(['127.0.0.1'])),
    });
    const { attempt, isHealthyFirst } = await deliverBeside('https://slow.example.com/', (request) =>
      send({ ...request, timeoutMs: PATIENCE_MS }),
    );
    expect(attempt).toMatchObject({ errorClass: 'timeout', statusCode: null });
    expect(isHealthyFirst).toBe(true);
  });
});

describe('the certificate of a receiver', () => {
  test('is verified by name, although the connection is pinned to an address', async () => {
    // A separate process, since trusted authorities are read at its start.
    const folder = await Bun.$`mktemp -d`.text().then((text) => text.trim());
    await Bun.write(`${folder}/ca.pem`, CERTIFICATES.authority);
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/tls-client.ts`], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: `${folder}/ca.pem` },
      stdout: 'pipe',
    });
    const results = JSON.parse(await new Response(child.stdout).text());
    await Bun.$`rm -r ${folder}`.quiet();
    expect(results).toEqual({
      good: 'good.test',
      // The previous request's connection is still open and is not reused for another name.
      otherName: 'tls',
      goodAgain: 'good.test',
      byAddress: 'tls',
      expired: 'tls',
    });
  });
});
