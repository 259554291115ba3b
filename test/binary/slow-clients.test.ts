/** Clients that send slowly, too much, or all at once: raw connections, with deadlines shortened by settings. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, eventually, request, signIn, startEphemeral } from '../support/binary.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
beforeAll(async () => {
  server = await startEphemeral([], {
    GATEHOUSE_LIMIT_BODY_SECONDS: '2',
    GATEHOUSE_LIMIT_SLOW_BODIES_PER_ADDRESS: '2',
    GATEHOUSE_LIMIT_REQUESTS_AT_ONCE: '5',
    GATEHOUSE_LIMIT_STREAMS_PER_PERSON: '3',
  });
});
afterAll(() => server.stop());

async function open(first: string) {
  const { hostname, port } = new URL(server.url);
  let said = '';
  let isClosed = false;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, part) => void (said += part.toString()),
      close: () => void (isClosed = true),
      error: () => void (isClosed = true),
    },
  });
  socket.write(first);
  return {
    said: () => said,
    status: () => Number(/^HTTP\/1.1 (\d+)/.exec(said)?.[1] ?? 0),
    isClosed: () => isClosed,
    send: (text: string) => void socket.write(text),
    drop: () => socket.terminate(),
  };
}

const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n${more}\r\n`;
const SEND = '/api/v1/auth/otp/send';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const slowBody = () => open(`${head('POST', SEND, `${JSON_TYPE}Content-Length: 1000\r\n`)}{`);
const slowChunks = () => open(`${head('POST', SEND, `${JSON_TYPE}Transfer-Encoding: chunked\r\n`)}1\r\n{\r\n`);

test('slow bodies are refused at their deadline, or sooner past the client’s share, with our own error', async () => {
  const held = [await slowBody(), await slowChunks(), await slowBody()];
  const trickle = setInterval(() => {
    held[0]!.send('a');
    held[1]!.send('1\r\na\r\n');
  }, 100);
  try {
    await eventually('all are answered and closed', () => held.every(({ isClosed }) => isClosed()));
  } finally {
    clearInterval(trickle);
  }
  expect(held.map(({ status }) => status()).sort()).toEqual([408, 408, 429]);
  const refused = held.find(({ status }) => status() === 429)!.said();
  expect(refused).toMatch(/\r\nRateLimit-Limit: 2\r\n/i);
  expect(refused).toMatch(/\r\nRetry-After: 5\r\n/i);
  expect(refused).toContain('"error":"rate_limited"');
  const cut = held.filter(({ status }) => status() === 408).map(({ said }) => said());
  expect(cut.every((text) => text.includes('"error":"request_timeout"') && text.includes('"requestId":"req_'))).toBe(
    true,
  );
});

test('a slow MCP message is refused like any other body', async () => {
  const token = `Authorization: Bearer ${server.workspaceKey}\r\n`;
  const slow = () => open(`${head('POST', '/mcp', `${token}${JSON_TYPE}Content-Length: 1000\r\n`)}{`);
  const held = [await slow(), await slow(), await slow()];
  const trickle = setInterval(() => held.forEach(({ send }) => send(' ')), 100);
  try {
    await eventually('all are answered and closed', () => held.every(({ isClosed }) => isClosed()));
  } finally {
    clearInterval(trickle);
  }
  expect(held.map(({ status }) => status()).sort()).toEqual([408, 408, 429]);
  expect(held.find(({ status }) => status() === 429)!.said()).toMatch(/\r\nRetry-After: 5\r\n/i);
});

test('a full server refuses at once, stays live, and recovers when earlier requests end', async () => {
  const held = await Promise.all(Array.from({ length: 5 }, slowBody));
  await eventually('the room is full', async () => (await request(server, 'GET', '/readyz')).status === 503);
  const refused = await request(server, 'GET', '/readyz');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refused.json).toMatchObject({ success: false, error: 'unavailable', requestId: expect.any(String) });
  expect((await request(server, 'GET', '/healthz')).status).toBe(200);
  for (const { drop } of held) drop();
  await eventually('there is room', async () => (await request(server, 'GET', '/readyz')).status === 200);
});

describe('heads', () => {
  test.each([
    ['of 17 KB', () => `X: ${'a'.repeat(17 * 1024)}\r\n`],
    ['of a thousand fields', () => Array.from({ length: 1000 }, (_, at) => `X${at}: a\r\n`).join('')],
  ])('%s are refused with 431', async (_, more) => {
    const large = await open(head('GET', '/healthz', more()));
    await eventually('it is closed', large.isClosed);
    expect(large.status()).toBe(431);
  });

  test('of 12 KB are read', async () => {
    const large = await open(head('GET', '/healthz', `X: ${'a'.repeat(12 * 1024)}\r\n`));
    await eventually('it is answered', () => large.status() === 200);
    large.drop();
  });
});

test('a person’s streams are limited across sessions, and a closed one frees its slot', async () => {
  const sessions: { token: string }[] = [];
  while (sessions.length < 4) sessions.push(await signIn(server, 'ada@example.com', server.clientId));
  const listen = ({ token }: { token: string }) =>
    open(head('GET', '/api/v1/session/events', `Authorization: Bearer ${token}\r\n`));
  const held = await Promise.all(sessions.slice(0, 3).map(listen));
  await eventually('all have begun', () => held.every(({ said }) => said().includes('event: session')));
  const refused = await request(server, 'GET', '/api/v1/session/events', { token: sessions[3]!.token });
  expect([refused.status, refused.json.error, refused.headers.get('ratelimit-limit')]).toEqual([
    429,
    'rate_limited',
    '3',
  ]);
  held[0]!.drop();
  await eventually('there is room', async () => {
    const one = await listen(sessions[3]!);
    await eventually('an answer', () => one.status() > 0);
    if (one.status() !== 200) one.drop();
    else held[0] = one;
    return one.status() === 200;
  });
  for (const { drop } of held) drop();
});
