/**
 * An early refusal reaches clients and proxies that write the whole body before they read. The server does not reset
 * the connection while its answer is in transit.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';

setDefaultTimeout(120_000);

/** About the largest body that a proxy passes on by default. */
const BODY = Buffer.alloc(900_000, ' ');
const STALLED_MS = 4000;
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, ' '), Buffer.from('\r\n')]);

let server: EphemeralServer;
let spentKey: string;
let sessionToken: string;

beforeAll(async () => {
  server = await startEphemeral();
  const created = await request(server, 'POST', `/api/applications/${server.applicationId}/api-keys`, {
    token: server.workspaceKey,
    body: { name: 'spent', access: 'full', rateLimits: { perMinute: 1, perDay: 100 } },
  });
  spentKey = created.json.data.token;
  sessionToken = (await signIn(server, 'ada@example.com', server.clientId)).token;
  const path = `/api/applications/${server.applicationId}`;
  while ((await request(server, 'GET', path, { token: spentKey })).status !== 429);
});
afterAll(() => server.stop());

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly token?: string;
  readonly type?: string;
  readonly body?: readonly Buffer[];
  readonly length?: string;
}

interface Connection {
  write(bytes: Buffer): Promise<void>;
  /** Returns the next answer; reading begins with the first call. */
  read(): Promise<string>;
  drop(): void;
}

/** A connection that does not read sees no reset. */
async function stalled(): Promise<never> {
  await Bun.sleep(STALLED_MS);
  throw new Error('nothing more was taken');
}

async function open(): Promise<Connection> {
  const { hostname, port } = new URL(server.url);
  let unread = '';
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const end = () => {
    isOver = true;
    tell();
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (opened) => opened.pause(),
      data(_, part) {
        unread += part.toString('latin1');
        tell();
      },
      drain: tell,
      close: end,
      error: end,
    },
  });
  return {
    async write(bytes) {
      for (let written = 0; written < bytes.length;) {
        if (isOver) throw new Error('the connection was closed while the request was being written');
        const taken = socket.write(bytes.subarray(written));
        if (taken > 0) written += taken;
        else await Promise.race([news.promise, stalled()]);
      }
    },
    async read() {
      socket.resume();
      for (;;) {
        const bodyAt = unread.indexOf('\r\n\r\n') + 4;
        const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(unread) ?? [];
        const answerEnd = bodyAt + Number(length);
        if (bodyAt > 3 && unread.length >= answerEnd) {
          const answer = unread.slice(0, answerEnd);
          unread = unread.slice(answerEnd);
          return answer;
        }
        if (isOver) throw new Error(`the connection was closed after: ${unread}`);
        await news.promise;
      }
    },
    drop: () => socket.terminate(),
  };
}

/** Writes everything, then reads the answers. */
async function exchange({ write, read }: Connection, connection: string, sent: Sent): Promise<string> {
  const { method = 'POST', path = '/api/applications', token, type = 'application/json', body = [BODY] } = sent;
  const length = sent.length ?? `Content-Length: ${body.reduce((sum, part) => sum + part.length, 0)}`;
  const credential = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  const { host } = new URL(server.url);
  const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: ${connection}\r\n${credential}`;
  await write(Buffer.from(`${head}Content-Type: ${type}\r\n${length}\r\n\r\n`));
  // Later answers over other connections show that the server has seen and judged this one.
  for (let look = 0; look < 3; look += 1) await request(server, 'GET', '/healthz');
  for (const part of body) await write(part);
  return read();
}

const chunks = (count: number) => [...Array.from({ length: count }, () => CHUNK), Buffer.from('0\r\n\r\n')];

const CASES: Record<string, [status: number, sent: () => Sent]> = {
  'no credential': [401, () => ({})],
  'a path that does not exist': [404, () => ({ path: '/nowhere' })],
  'an application out of reach': [
    404,
    () => ({ path: '/api/applications/app_none/api-keys', token: server.workspaceKey }),
  ],
  'a body above the bound': [413, () => ({ token: server.workspaceKey, body: [BODY, BODY] })],
  'chunks above the bound': [
    413,
    () => ({ token: server.workspaceKey, body: chunks(40), length: 'Transfer-Encoding: chunked' }),
  ],
  'a file of another type': [
    415,
    () => ({
      method: 'PUT',
      path: '/api/account/self/images/avatar',
      token: sessionToken,
      type: 'text/plain',
    }),
  ],
  'a spent limit': [429, () => ({ path: `/api/applications/${server.applicationId}/api-keys`, token: spentKey })],
};

describe.each(Object.entries(CASES))('%s', (_, [status, sent]) => {
  test('reaches a client that closes the connection afterwards', async () => {
    const opened = await open();
    const answer = await exchange(opened, 'close', sent());
    expect(answer).toStartWith(`HTTP/1.1 ${status}`);
    if (status === 429) expect(answer).toMatch(/\r\nretry-after: \d+\r\n/i);
    opened.drop();
  });

  test('reaches a client that keeps the connection and uses it again', async () => {
    const opened = await open();
    for (let round = 0; round < 3; round += 1)
      expect(await exchange(opened, 'keep-alive', sent())).toStartWith(`HTTP/1.1 ${status}`);
    expect(await exchange(opened, 'keep-alive', { method: 'GET', path: '/healthz', body: [] })).toStartWith(
      'HTTP/1.1 200',
    );
    opened.drop();
  });
});

test('a client that never sends the rest gets the answer', async () => {
  const opened = await open();
  const answer = await exchange(opened, 'close', { body: [], length: 'Content-Length: 900000' });
  expect(answer).toStartWith('HTTP/1.1 401');
  opened.drop();
});

/** Sends zeros over a connection until it is answered or closed. */
async function pour({ url }: EphemeralServer, head: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const over = Promise.withResolvers<void>();
  const zeros = Buffer.alloc(0x40000);
  const push = (socket: Bun.Socket<undefined>) => {
    while (socket.write(zeros) === zeros.length);
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(opened) {
        opened.write(head);
        push(opened);
      },
      drain: push,
      data: () => over.resolve(),
      close: () => over.resolve(),
      error: () => over.resolve(),
    },
  });
  await over.promise;
  socket.terminate();
}

/** Reads the peak from /proc. */
test.if(process.platform === 'linux')(
  'concurrent large bodies of unauthenticated clients do not exhaust memory',
  async () => {
    const poured = await startEphemeral();
    const { pid } = poured.process;
    const peakMb = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
    const before = peakMb();
    const { host } = new URL(poured.url);
    const head = `POST /api/applications HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2000000000\r\n\r\n`;
    await Promise.all(Array.from({ length: 200 }, () => pour(poured, head)));
    expect(peakMb() - before).toBeLessThan(400);
    expect(await poured.stop()).toBe(0);
  },
);
