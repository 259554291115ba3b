import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from './connection.ts';
import { startThreaded, type ThreadedServer } from './server.ts';
import { eventually } from '../support/eventually.ts';

setDefaultTimeout(60_000);

let threaded: ThreadedServer;
beforeAll(async () => {
  threaded = await startThreaded({ environment: { GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => threaded.stop());

const linesOf = (route: string) => threaded.logLines.filter((line) => line.includes(`"route":"${route}"`));

describe('a request that a thread hands over', () => {
  test('is answered like one that arrived in the main thread: status, headers, body', async () => {
    const [first] = await threaded.connectToAll();
    const answer = await first!.send('GET', '/api/applications', { token: threaded.workspaceKey });
    expect(answer.status).toBe(200);
    expect(answer.head).toMatch(/x-request-id: req_/i);
    expect(answer.head).toMatch(/ratelimit-limit: /i);
    expect(JSON.parse(answer.text).success).toBe(true);
  });

  test('has the client address of its connection and of a trusted proxy', async () => {
    const connection = await connect(threaded.port);
    await connection.send('GET', '/readyz', { headers: { 'X-Forwarded-For': '203.0.113.9' } });
    const line = await eventually('the line', () => linesOf('/readyz').at(-1));
    expect(JSON.parse(line)).toMatchObject({ status: 200, ip: '203.0.113.9' });
    connection.close();
  });

  test('without a body answers HEAD like GET, and 304 without a body', async () => {
    const connection = await connect(threaded.port);
    const got = await connection.send('GET', '/docs', { headers: { Accept: 'text/html' } });
    const asked = await connection.send('HEAD', '/docs', { headers: { Accept: 'text/html' } });
    const lengthOf = (head: string) => /content-length: (\d+)/i.exec(head)?.[1];
    expect(asked.status).toBe(200);
    expect(asked.text).toBe('');
    expect(lengthOf(asked.head)).toBe(lengthOf(got.head)!);
    const tag = /etag: (\S+)/i.exec(got.head)![1]!;
    const unchanged = await connection.send('GET', '/docs', { headers: { Accept: 'text/html', 'If-None-Match': tag } });
    expect([unchanged.status, unchanged.text]).toEqual([304, '']);
    // The connection is still in step.
    expect((await connection.send('GET', '/healthz')).text).toBe('{"status":"ok"}');
    connection.close();
  });

  test('carries an answer of many KiB whole, again and again', async () => {
    const bodies = new Set<string>();
    for (let time = 0; time < 5; time += 1) bodies.add((await threaded.call('GET', '/openapi.json')).text);
    expect(bodies.size).toBe(1);
    expect([...bodies][0]!.length).toBeGreaterThan(100_000);
    expect(Object.keys(JSON.parse([...bodies][0]!).paths).length).toBeGreaterThan(50);
  });

  test('carries a body that arrives in parts, slowly and in chunks', async () => {
    const name = 'Läden und Bücher 🦉';
    const text = JSON.stringify({ name });
    const bytes = Buffer.from(text);
    const connection = await connect(threaded.port);
    const head = (framing: string) =>
      `POST /api/applications HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${threaded.workspaceKey}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
    const answered = () =>
      new Promise<string>((resolve) => connection.socket.once('data', (part) => resolve(String(part))));
    const slow = answered();
    connection.socket.write(head(`Content-Length: ${bytes.length}`));
    for (let at = 0; at < bytes.length; at += 7) {
      await Bun.sleep(2);
      connection.socket.write(bytes.subarray(at, at + 7));
    }
    expect(await slow).toContain(name);
    const chunked = answered();
    connection.socket.write(head('Transfer-Encoding: chunked'));
    for (let at = 0; at < bytes.length; at += 11) {
      const part = bytes.subarray(at, at + 11);
      connection.socket.write(
        Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
      );
      await Bun.sleep(1);
    }
    connection.socket.write('0\r\n\r\n');
    expect(await chunked).toContain(name);
    connection.close();
  });

  test('is refused with a body beyond the limit, and the server goes on', async () => {
    const body = 'x'.repeat(3 * 1024 * 1024);
    const { status, json } = await threaded.call('POST', '/api/applications', { name: body });
    expect([status, json.error]).toEqual([413, 'payload_too_large']);
    expect((await threaded.call('GET', '/healthz')).status).toBe(200);
  });

  test('is refused where its path had dots, as without threads', async () => {
    const connection = await connect(threaded.port);
    const answer = await connection.send('GET', '/api/x/../applications', { token: threaded.workspaceKey });
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_request']);
    connection.close();
  });
});

describe('an upload', () => {
  test('of some MiB arrives whole, and one without room or rights is refused', async () => {
    const application = await threaded.createApplication({ name: 'Pictures' });
    const { token } = await threaded.signIn(application.clientId, 'ada@example.com');
    const png = await picture();
    const send = (bytes: Uint8Array<ArrayBuffer>, bearer: string) =>
      fetch(`${threaded.server.localUrl}/api/account/self/images/avatar`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'image/webp' },
        body: bytes,
      });
    const stored = await send(png, token);
    expect([stored.status, (await stored.json()).success]).toEqual([200, true]);
    expect((await send(png, 'est_wrong')).status).toBe(401);
    expect((await send(new Uint8Array(100 * 1024 * 1024), token)).status).toBe(413);
    expect((await threaded.call('GET', '/healthz')).status).toBe(200);
  });
});

describe('an event stream', () => {
  async function openStream(token: string, signal?: AbortSignal) {
    const response = await fetch(`${threaded.server.localUrl}/api/v1/session/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      ...(signal && { signal }),
    });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    const until = async (part: string) => {
      while (!text.includes(part)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended after ${text}`);
        text += decoder.decode(value);
      }
      return text;
    };
    return { response, until };
  }
  const open = async () =>
    Number(
      /gatehouse_streams_open\{kind="session"\} (\d+)/.exec((await threaded.call('GET', '/metrics')).text)?.[1] ?? 0,
    );

  test('shows changes as they happen, and ends on the server when its client leaves', async () => {
    const application = await threaded.createApplication({ name: 'Streams' });
    const { token, userId } = await threaded.signIn(application.clientId, 'eve@example.com');
    const abort = new AbortController();
    const before = await open();
    const stream = await openStream(token, abort.signal);
    expect(stream.response.headers.get('content-type')).toStartWith('text/event-stream');
    await stream.until('"roles":');
    expect(await open()).toBe(before + 1);
    await threaded.data('POST', `/api/applications/${application.id}/roles`, { name: 'Admin', slug: 'admin' });
    await threaded.data('PUT', `/api/applications/${application.id}/users/${userId}/roles`, { slugs: ['admin'] });
    await stream.until('"admin"');
    abort.abort();
    await eventually('the stream has ended', async () => (await open()) === before);
  });

  test('of a client that leaves at once ends on the server too, and so do bodies that break off', async () => {
    const application = await threaded.createApplication({ name: 'Leavers' });
    const { token } = await threaded.signIn(application.clientId, 'leaver@example.com');
    const before = await open();
    for (let time = 0; time < 60; time += 1) {
      const leaver = await connect(threaded.port);
      const bearer = `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`;
      leaver.socket.write(
        time % 3 === 0
          ? `POST /api/account/self/images/avatar HTTP/1.1\r\n${bearer}Content-Type: image/webp\r\nContent-Length: 90000\r\n\r\nRIFF`
          : `GET /api/v1/session/events HTTP/1.1\r\n${bearer}\r\n`,
      );
      if (time % 2 === 0) await Bun.sleep(time % 5);
      leaver.close();
    }
    await eventually('no request is left', () => threaded.server.pending() === 0);
    await eventually('no stream is left', async () => (await open()) === before);
  });

  test('ends with the ban of its person', async () => {
    const application = await threaded.createApplication({ name: 'Bans' });
    const { token, userId } = await threaded.signIn(application.clientId, 'mallory@example.com');
    const stream = await openStream(token);
    await stream.until('event: ');
    await threaded.data('POST', `/api/applications/${application.id}/users/${userId}/ban`);
    await stream.until('event: revoked');
  });
});

/** A picture that no server compresses: some hundred KiB. */
async function picture(): Promise<Uint8Array<ArrayBuffer>> {
  const guide = new URL('../../src/modules/docs/guides/images/console-light.webp', import.meta.url);
  return new Uint8Array(await Bun.file(guide).arrayBuffer());
}
