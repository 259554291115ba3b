import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  guardedFetch,
  OutboundError,
  type OutboundProblem,
  type OutboundRequest,
  type OutboundSettings,
} from '../../src/outbound/guarded-fetch.ts';
import { AUTHORITY, SELF_SIGNED_CERT, SELF_SIGNED_KEY, SHOP_CERT, SHOP_KEY } from './certificates.ts';

const cleanUps: (() => unknown)[] = [];
afterAll(() => Promise.all(cleanUps.map((cleanUp) => cleanUp())));

type Answer = (request: Request) => Response | Promise<Response>;

/** A real server on loopback that records its requests. */
function serve(
  answer: Answer = () => new Response('hello'),
  options: { hostname?: string; tls?: Bun.TLSOptions } = {},
) {
  const requests: Request[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    ...options,
    fetch(request) {
      requests.push(request);
      return answer(request);
    },
  });
  cleanUps.push(() => server.stop(true));
  return { port: server.port!, requests, url: (path = '/') => `http://127.0.0.1:${server.port}${path}` };
}

/** A server that writes raw bytes instead of HTTP. */
function serveRaw(onData: (socket: Bun.Socket<undefined>) => void) {
  const sockets = new Set<Bun.Socket<undefined>>();
  const listener = Bun.listen<undefined>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void sockets.add(socket),
      data: onData,
      close: (socket) => void sockets.delete(socket),
    },
  });
  cleanUps.push(() => {
    for (const socket of sockets) socket.terminate();
    listener.stop(true);
  });
  return { port: listener.port };
}

function openTo(...addresses: string[]): BlockList {
  const list = new BlockList();
  for (const address of addresses) list.addAddress(address);
  return list;
}

/** The guard of a self-hosted instance: public addresses only. */
const strict = (settings: Partial<OutboundSettings> = {}) =>
  guardedFetch({ allowed: new BlockList(), isLoopbackAllowed: false, ...settings });

/** The guard of an ephemeral instance. */
const relaxed = (settings: Partial<OutboundSettings> = {}) => strict({ isLoopbackAllowed: true, ...settings });

const request = (url: string, input: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'GET',
  timeoutMs: 5000,
  maxBytes: 10_000,
  ...input,
});

/** Returns the problem of a failed request. Throws if it succeeded, or failed with anything but an OutboundError. */
async function problemOf(work: Promise<unknown>): Promise<OutboundProblem> {
  const outcome = await work.then(
    () => 'answered',
    (error: unknown) => error,
  );
  if (!(outcome instanceof OutboundError)) throw new Error(`expected a refusal, not ${String(outcome)}`);
  return outcome.problem;
}

const text = (body: Uint8Array) => Buffer.from(body).toString();

describe('an invalid URL', () => {
  test.each([
    '',
    'shop.example.com',
    '//shop.example.com/',
    'http://',
    'https://',
    'ftp://shop.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,hello',
    'blob:https://shop.example.com/1',
    'gopher://shop.example.com/',
    'ws://shop.example.com/',
    'http://user@shop.example.com/',
    'http://user:password@shop.example.com/',
    'http://:password@shop.example.com/',
    'https://shop.example.com@127.0.0.1/',
  ])('is refused before its name is resolved: "%s"', async (url) => {
    const asked: string[] = [];
    const get = relaxed({
      async resolve(hostname) {
        asked.push(hostname);
        return ['127.0.0.1'];
      },
    });
    expect(await problemOf(get(request(url)))).toBe('refused');
    expect(asked).toEqual([]);
  });

  test('is refused without repeating its user name or password', async () => {
    const refusal = await strict()(request('https://ada:hunter2@shop.example.com/')).catch(String);
    expect(refusal).not.toContain('hunter2');
    expect(refusal).not.toContain('ada');
  });
});

describe('a server on loopback', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.000.000.001',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '0',
    '0.0.0.0',
    '%31%32%37.0.0.1',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
  ])('is not reached by the name http://%s', async (host) => {
    const canary = serve();
    expect(['refused', 'unresolved']).toContain(await problemOf(strict()(request(`http://${host}:${canary.port}/`))));
    expect(canary.requests).toHaveLength(0);
  });

  test.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    'fd00::1',
    'not an address',
    '',
  ])('is not reached by a name that resolves to "%s"', async (address) => {
    const canary = serve();
    const get = strict({ resolve: async () => [address] });
    expect(await problemOf(get(request(`http://shop.example.com:${canary.port}/`)))).toBe('refused');
    expect(canary.requests).toHaveLength(0);
  });

  test('is not reached by a name with a private address among public ones, at any position', async () => {
    const open = serve(undefined, { hostname: '127.0.0.2' });
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.2', '10.0.0.7'],
      ['127.0.0.2', '::1'],
    ]) {
      const get = strict({ allowed: openTo('127.0.0.2'), resolve: async () => addresses });
      expect(await problemOf(get(request(`http://shop.example.com:${open.port}/`)))).toBe('refused');
    }
    expect(open.requests).toHaveLength(0);
  });

  test('is not reached by a name that is public when it is checked and loopback at the next lookup', async () => {
    const open = serve(undefined, { hostname: '127.0.0.2' });
    const canary = serve(undefined, { hostname: '127.0.0.1' });
    let asked = 0;
    const get = strict({
      allowed: openTo('127.0.0.2'),
      resolve: async () => [asked++ === 0 ? '127.0.0.2' : '127.0.0.1'],
    });
    const first = await get(request(`http://rebind.example.com:${open.port}/`));
    expect([first.status, asked, open.requests.length]).toEqual([200, 1, 1]);
    expect(await problemOf(get(request(`http://rebind.example.com:${canary.port}/`)))).toBe('refused');
    expect(await problemOf(get(request(`http://rebind.example.com:${open.port}/`)))).toBe('refused');
    expect([canary.requests.length, open.requests.length, asked]).toEqual([0, 1, 3]);
  });
});

describe('a name that does not resolve', () => {
  test('is not requested: an error and an empty answer both fail closed', async () => {
    const failing = strict({ resolve: () => Promise.reject(new Error('NXDOMAIN')) });
    expect(await problemOf(failing(request('https://nothing.example.com/')))).toBe('unresolved');
    const empty = strict({ resolve: async () => [] });
    expect(await problemOf(empty(request('https://nothing.example.com/')))).toBe('unresolved');
  });

  test('fails closed with the real resolver', async () => {
    expect(await problemOf(strict()(request('https://nothing.invalid/')))).toBe('unresolved');
  });

  test('a lookup beyond the time limit is a timeout, and a later answer is ignored', async () => {
    const late = Promise.withResolvers<string[]>();
    const get = strict({ resolve: () => late.promise });
    expect(await problemOf(get(request('https://slow.example.com/', { timeoutMs: 50 })))).toBe('timeout');
    late.reject(new Error('too late'));
  });
});

describe('an instance that allows loopback', () => {
  test('reaches it by address and by name, and still no private address', async () => {
    const server = serve();
    expect((await relaxed()(request(server.url()))).status).toBe(200);
    expect((await relaxed()(request(`http://localhost:${server.port}/`))).status).toBe(200);
    for (const host of ['0.0.0.0', '10.0.0.1', '192.168.0.1', '169.254.169.254', '[fd00::1]'])
      expect(await problemOf(relaxed()(request(`http://${host}:${server.port}/`)))).toBe('refused');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a request', () => {
  test('has the name as its Host, with a non-default port', async () => {
    const hosts: (string | null)[] = [];
    const server = serve((incoming) => {
      hosts.push(incoming.headers.get('host'));
      return new Response();
    });
    const get = relaxed({ resolve: async () => ['127.0.0.1'] });
    await get(request(`http://shop.example.com:${server.port}/`));
    await get(request(`http://Bücher.example:${server.port}/`));
    expect(hosts).toEqual([`shop.example.com:${server.port}`, `xn--bcher-kva.example:${server.port}`]);
  });

  test('is sent unchanged: method, path, query, headers and body', async () => {
    const seen: unknown[] = [];
    const server = serve(async (incoming) => {
      const { pathname, search } = new URL(incoming.url);
      seen.push([incoming.method, pathname, search, incoming.headers.get('x-signature'), await incoming.text()]);
      return new Response('taken', { status: 202 });
    });
    const answer = await relaxed()(
      request(server.url('/hooks/in?a=1&b=%20'), {
        method: 'POST',
        headers: { 'X-Signature': 't=1' },
        body: '{"a":"ü"}',
      }),
    );
    expect([answer.status, text(answer.body)]).toEqual([202, 'taken']);
    expect(seen).toEqual([['POST', '/hooks/in', '?a=1&b=%20', 't=1', '{"a":"ü"}']]);
  });

  test('contains no cookie or credential of ours', async () => {
    const server = serve(() => new Response('', { headers: { 'Set-Cookie': 'a=1' } }));
    await relaxed()(request(server.url()));
    await relaxed()(request(server.url()));
    for (const { headers } of server.requests)
      expect([headers.get('cookie'), headers.get('authorization'), headers.get('referer')]).toEqual([null, null, null]);
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect with status %i', async (status) => {
    const canary = serve();
    const server = serve(() => new Response(null, { status, headers: { Location: canary.url('/internal') } }));
    const answer = await relaxed()(request(server.url()));
    expect([answer.status, answer.headers.get('location')]).toEqual([status, canary.url('/internal')]);
    expect([server.requests.length, canary.requests.length]).toEqual([1, 0]);
  });

  test('returns any status', async () => {
    const server = serve((incoming) => new Response('no', { status: Number(new URL(incoming.url).pathname.slice(1)) }));
    for (const status of [200, 204, 404, 410, 500, 503])
      expect((await relaxed()(request(server.url(`/${status}`)))).status).toBe(status);
  });
});

describe('an answer', () => {
  test('is not decompressed: a gzip bomb stays as small as it was sent', async () => {
    const bomb = Bun.gzipSync(new Uint8Array(50_000_000));
    const server = serve(() => new Response(bomb, { headers: { 'Content-Encoding': 'gzip' } }));
    const { body } = await relaxed()(request(server.url(), { maxBytes: 1_000_000 }));
    expect(body.byteLength).toBe(bomb.byteLength);
    expect(body.slice(0, 2)).toEqual(new Uint8Array([0x1f, 0x8b]));
  });

  test('an endless answer is cut at the limit, and the connection is closed', async () => {
    const letGo = Promise.withResolvers<void>();
    const server = serve(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new Uint8Array(64 * 1024).fill(97));
              await new Promise(setImmediate);
            },
            cancel: () => letGo.resolve(),
          }),
        ),
    );
    const { body } = await relaxed()(request(server.url(), { maxBytes: 1000 }));
    expect(text(body)).toBe('a'.repeat(1000));
    await letGo.promise;
  });

  test('is read completely at exactly the limit, and not at all with a limit of zero', async () => {
    const server = serve(() => new Response('12345'));
    const bodyOf = async (maxBytes: number) => text((await relaxed()(request(server.url(), { maxBytes }))).body);
    expect([await bodyOf(5), await bodyOf(4), await bodyOf(6), await bodyOf(0)]).toEqual([
      '12345',
      '1234',
      '12345',
      '',
    ]);
  });
});

describe('a server that does not answer', () => {
  test('is a timeout during the connection', async () => {
    const silent = serveRaw(() => {});
    const get = relaxed({ resolve: async () => ['127.0.0.1'] });
    const work = get(request(`https://shop.test:${silent.port}/`, { timeoutMs: 100 }));
    expect(await problemOf(work)).toBe('timeout');
  });

  test('is a timeout before its headers', async () => {
    const silent = serveRaw(() => {});
    const half = serveRaw((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Type: te'));
    for (const { port } of [silent, half])
      expect(await problemOf(relaxed()(request(`http://127.0.0.1:${port}/`, { timeoutMs: 100 })))).toBe('timeout');
  });

  test('is a timeout during its body', async () => {
    const server = serve(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new Uint8Array([97]));
              await Bun.sleep(10);
            },
          }),
        ),
    );
    const startedAt = performance.now();
    expect(await problemOf(relaxed()(request(server.url(), { timeoutMs: 150 })))).toBe('timeout');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

describe('a failed connection', () => {
  test('is a connection error if no server listens', async () => {
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const { port } = listener;
    listener.stop(true);
    expect(await problemOf(relaxed()(request(`http://127.0.0.1:${port}/`)))).toBe('connection');
  });

  test('is a connection error if it is reset before, within or after the headers', async () => {
    for (const bytes of ['', 'HTTP/1.1 200 OK\r\nContent-', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf']) {
      const server = serveRaw((socket) => {
        socket.write(bytes);
        socket.flush();
        socket.end();
      });
      expect(await problemOf(relaxed()(request(`http://127.0.0.1:${server.port}/`)))).toBe('connection');
    }
  });

  test('is a connection error if the server does not speak HTTP', async () => {
    const server = serveRaw((socket) => void socket.end('220 mail.example.com ESMTP\r\n'));
    expect(await problemOf(relaxed()(request(`http://127.0.0.1:${server.port}/`)))).toBe('connection');
  });

  test('is a TLS error if the certificate is self-signed or of an unknown authority', async () => {
    const selfSigned = serve(undefined, { tls: { cert: SELF_SIGNED_CERT, key: SELF_SIGNED_KEY } });
    const unknown = serve(undefined, { tls: { cert: SHOP_CERT, key: SHOP_KEY } });
    const get = relaxed({ resolve: async () => ['127.0.0.1'] });
    for (const server of [selfSigned, unknown]) {
      expect(await problemOf(get(request(`https://shop.test:${server.port}/`)))).toBe('tls');
      expect(server.requests).toHaveLength(0);
    }
  });
});

describe('in a separate process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-outbound-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));

  async function fetchInChild(environment: Record<string, string>, urls: string[]): Promise<unknown> {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'fetch-in-child.ts'), ...urls], {
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdout: 'pipe',
      stderr: 'inherit',
    });
    return JSON.parse(await new Response(child.stdout).text());
  }

  test('a certificate must match the requested name, not the pinned address', async () => {
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    const server = serve(undefined, { tls: { cert: SHOP_CERT, key: SHOP_KEY } });
    const outcomes = await fetchInChild(
      { NODE_EXTRA_CA_CERTS: authority },
      // A kept-alive connection to the same address must not be reused for another name.
      ['shop.test', 'other.test', 'shop.test', 'www.shop.test', '127.0.0.1'].map(
        (name) => `https://${name}:${server.port}/`,
      ),
    );
    expect(outcomes).toEqual([200, 'tls', 200, 'tls', 'tls']);
    expect(server.requests).toHaveLength(2);
  });

  test('a proxy named in the environment is not used', async () => {
    const proxy = serve(() => new Response('proxied', { status: 203 }));
    const server = serve();
    const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
    const outcomes = await fetchInChild(Object.fromEntries(variables.map((name) => [name, proxy.url()])), [
      `http://shop.test:${server.port}/`,
      server.url(),
    ]);
    expect(outcomes).toEqual([200, 200]);
    expect([server.requests.length, proxy.requests.length]).toEqual([2, 0]);
  });
});
