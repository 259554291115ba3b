/** Common properties of all responses: request id, headers, HEAD, and announced rate limits. */
import { describe, expect, test } from 'bun:test';
import { SECOND } from '@/core/clock.ts';
import { assetUrl } from '@/pages/assets.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { appOver, rawCall } from './app-over.ts';

const REQUEST_ID = /^req_[0-9a-z]{26}$/;

async function assetPath(instance: Instance): Promise<string> {
  const page = await instance.call('GET', '/sign-in');
  return /"(\/assets\/[^"]+)"/.exec(page.text)![1]!;
}

describe('every response', () => {
  test('has a request id of the server with every status', async () => {
    const instance = await createInstance();
    const seen = new Set<string>();
    const calls: [string, string, number][] = [
      ['GET', '/healthz', 200],
      ['HEAD', '/healthz', 200],
      ['GET', '/', 302],
      ['GET', '/sign-in', 200],
      ['GET', '/sign-in?clientId=nothing', 404],
      ['GET', '/setup?token=nothing', 404],
      ['GET', '/assets/nothing', 404],
      ['GET', '/openapi.yaml', 200],
      ['GET', '/openapi.roles.json', 200],
      ['GET', '/nothing', 404],
      ['PUT', '/healthz', 405],
      ['OPTIONS', '/api/applications', 405],
      ['POST', '/api/v1/session', 401],
      ['POST', '/api/v1/verify', 401],
      ['GET', '/api/applications', 401],
    ];
    for (const [method, path, status] of calls) {
      const { status: answered, headers } = await rawCall(instance, method, path, { 'x-request-id': 'mine' });
      const id = headers.get('x-request-id') ?? 'none';
      expect([method, path, answered, REQUEST_ID.test(id)]).toEqual([method, path, status, true]);
      seen.add(id);
    }
    expect(seen.size).toBe(calls.length);
  });

  test('carries a request id even for an asset of the pages', async () => {
    const instance = await createInstance();
    const { status, headers } = await instance.call('GET', await assetPath(instance));
    expect([status, headers.get('x-request-id')]).toEqual([200, expect.stringMatching(REQUEST_ID)]);
  });

  test('has the same request id in its body, its header and the log', async () => {
    const instance = await createInstance();
    const { app, log } = appOver(instance);
    const response = await app.fetch(new Request('http://localhost/api/applications'));
    const { requestId } = (await response.json()) as { requestId: string };
    expect(response.headers.get('x-request-id')).toBe(requestId);
    expect(log.map((line) => line['requestId'])).toEqual([requestId]);
  });

  test('writes one log line, with the route instead of the path and without credentials', async () => {
    const instance = await createInstance();
    const { app, log } = appOver(instance);
    const { id } = await instance.createApplication();
    await app.fetch(
      new Request(`http://localhost/api/applications/${id}?cursor=secret`, {
        headers: { authorization: `Bearer ${instance.workspaceKey}`, 'user-agent': 'ua' },
      }),
    );
    await app.fetch(new Request('http://localhost/setup?token=egs_secret'));
    await app.fetch(new Request('http://localhost/no/such/ada@example.com'));
    expect(log).toMatchObject([
      { level: 'info', method: 'GET', route: '/api/applications/:id', status: 200, ip: '203.0.113.7' },
      { route: '/setup', status: 404, principal: null },
      { route: '(none)', status: 404 },
    ]);
    expect(log[0]!['principal']).toMatch(/^key_/);
    expect(Object.keys(log[0]!).sort()).toEqual(
      ['level', 'time', 'requestId', 'method', 'route', 'status', 'durationMs', 'principal', 'ip'].sort(),
    );
    for (const secret of [instance.workspaceKey, 'secret', 'ada@example.com'])
      expect(JSON.stringify(log)).not.toContain(secret);
  });

  test('of the API must not be cached or sniffed', async () => {
    const instance = await createInstance();
    for (const [method, path] of [
      ['GET', '/api/applications'],
      ['POST', '/api/v1/session'],
      ['GET', '/nothing'],
    ] as const) {
      const { headers } = await instance.call(method, path);
      expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
    }
  });
});

describe('a HEAD request', () => {
  test.each([
    ['/healthz', 200],
    ['/sign-in', 200],
    ['/openapi.yaml', 200],
    [assetUrl('style.css'), 200],
    ['/nothing', 404],
    ['/api/applications', 401],
    ['/api/v1/session', 405],
  ])('for %s is answered as GET would be, without a body', async (path, status) => {
    const instance = await createInstance();
    const head = await rawCall(instance, 'HEAD', path);
    const get = await rawCall(instance, 'GET', path);
    expect([head.status, head.text]).toEqual([status, '']);
    expect(get.status).toBe(status);
    const names = (headers: Headers) => [...headers.keys()].filter((name) => name !== 'content-length').sort();
    expect(names(head.headers)).toEqual(names(get.headers));
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
  });

  test('is authenticated and rate limited like GET', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { token } = await instance.createKey(id, { rateLimits: { perMinute: 1, perDay: 10 } });
    const path = `/api/applications/${id}`;
    const head = () => rawCall(instance, 'HEAD', path, { authorization: `Bearer ${token}` });
    expect([(await head()).status, (await head()).status]).toEqual([200, 429]);
  });

  test('for an event stream opens no stream and uses no slot of one', async () => {
    const instance = await createInstance();
    const { id, clientId } = await instance.createApplication();
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    const { app, services } = instance;
    const streams = app.operations.filter(({ mediaType }) => mediaType === 'text/event-stream');
    expect(streams.map(({ path }) => path)).toContain('/api/applications/:id/webhooks/events');
    for (const { path, access } of streams)
      for (let count = 0; count < 21; count += 1) {
        const authorization = `Bearer ${access === 'holder' ? token : instance.workspaceKey}`;
        const head = await rawCall(instance, 'HEAD', path.replace(':id', id), { authorization });
        expect([head.status, head.headers.get('content-type'), head.headers.get('content-length'), head.text]).toEqual([
          200,
          'text/event-stream; charset=utf-8',
          null,
          '',
        ]);
      }
    expect([services.live.count(), services.activity.count(), services.eventStreams.count()]).toEqual([0, 0, 0]);
  });

  test('has the peer address of its own connection', async () => {
    const peers = new WeakMap<Request, string>();
    const instance = await createInstance();
    // A server knows the peer of the original request only, not of a copy of it.
    const { app, log } = appOver(instance, { peerAddress: (request) => peers.get(request) ?? null });
    for (const method of ['GET', 'HEAD']) {
      const request = new Request('http://localhost/healthz', { method });
      peers.set(request, '203.0.113.55');
      await app.fetch(request);
    }
    expect(log.map(({ ip }) => ip)).toEqual(['203.0.113.55', '203.0.113.55']);
  });
});

describe('a path', () => {
  test.each([['localhost'], ['auth.example.com:8443'], ['id'], ['sso'], ['x'], ['[::1]:8080'], ['10.0.0.1']])(
    'is found under any host name: %s',
    async (host) => {
      const { app } = await createInstance();
      for (const path of ['/healthz', '/healthz?x=/y', '/openapi.roles.json'])
        expect((await app.fetch(new Request(`http://${host}${path}`))).status).toBe(200);
      expect((await app.fetch(new Request(`http://${host}/nothing/healthz`))).status).toBe(404);
    },
  );
});

describe('a rate limit', () => {
  const limits = (headers: Headers) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`)).concat(headers.get('retry-after'));

  test('of a key is announced in every response, with Retry-After in the refusal', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { token } = await instance.createKey(id, { rateLimits: { perMinute: 2, perDay: 100 } });
    instance.clock.advance(15 * SECOND);
    const path = `/api/applications/${id}`;
    const answers = [];
    for (let call = 0; call < 3; call += 1) answers.push(await instance.call('GET', path, { token }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => limits(headers))).toEqual([
      ['2', '1', '45', null],
      ['2', '0', '45', null],
      ['2', '0', '45', '45'],
    ]);
    expect(answers[2]!.json).toMatchObject({ success: false, error: 'rate_limited' });
    expect(answers[2]!.json).not.toHaveProperty('data');
  });

  test('is announced in other refusals too', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { token } = await instance.createKey(id, { access: 'read', rateLimits: { perMinute: 5, perDay: 100 } });
    const forbidden = await instance.call('PATCH', `/api/applications/${id}`, { token, body: {} });
    const missing = await instance.call('GET', '/api/applications/app_x', { token });
    expect([forbidden.status, missing.status]).toEqual([403, 404]);
    expect([limits(forbidden.headers)[1], limits(missing.headers)[1]]).toEqual(['4', '3']);
  });

  test('of the day is announced once it is the tighter one', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { token } = await instance.createKey(id, { rateLimits: { perMinute: 5, perDay: 1 } });
    const path = `/api/applications/${id}`;
    expect(limits((await instance.call('GET', path, { token })).headers)).toEqual(['1', '0', '43200', null]);
    const refused = await instance.call('GET', path, { token });
    expect([refused.status, ...limits(refused.headers)]).toEqual([429, '1', '0', '43200', '43200']);
  });

  test('is not announced when there is none', async () => {
    const { headers } = await (await createInstance()).call('GET', '/healthz');
    expect(limits(headers)).toEqual([null, null, null, null]);
  });
});
