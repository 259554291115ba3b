import { describe, expect, test } from 'bun:test';
import { KEY_DAY } from '../../src/http/limits.ts';
import { countingLimiter } from '../../src/http/counting-limiter.ts';
import * as given from '../support/given.ts';
import { createInstance } from '../support/instance.ts';

/** Creates a request with the URL that results from a client's `Host`. `new Request` would refuse it. */
function requestFor(url: string): Request {
  return Object.defineProperty(new Request('http://localhost/'), 'url', { value: url });
}

describe('a Host header that yields no valid URL', () => {
  test.each(['http://[/nope', 'http://a b/nope', 'http://%/nope', 'http://x:99999999/nope'])(
    'is answered as an unknown path: %s',
    async (url) => {
      const instance = await createInstance();
      const response = await instance.app.fetch(requestFor(url));
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([404, 'not_found']);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(instance.logLines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    },
  );

  test('does not break the sign-in page', async () => {
    const { app } = await createInstance();
    expect((await app.fetch(requestFor('http://[/sign-in?clientId=nobody'))).status).toBe(404);
  });
});

describe('a slow body', () => {
  test('does not let a key verify after its revocation', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    const key = await instance.createKey(application.id, { access: 'read' });
    const isRead = Promise.withResolvers<void>();
    const isRevoked = Promise.withResolvers<void>();
    const body = new ReadableStream(
      {
        async pull(controller) {
          isRead.resolve();
          await isRevoked.promise;
          controller.enqueue(Buffer.from(JSON.stringify({ token })));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const begun = performance.now();
    const answer = instance.app.fetch(
      new Request('http://localhost/api/v1/verify', {
        method: 'POST',
        headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
        body,
      }),
      '/api/v1/verify',
    );
    await isRead.promise;
    await instance.call('DELETE', `/api/applications/${application.id}/api-keys/${key.id}`, {
      token: instance.workspaceKey,
    });
    // Slowness is measured in real time, not with the clock of the instance.
    while (performance.now() - begun < 25) await Bun.sleep(1);
    isRevoked.resolve();
    expect((await answer).status).toBe(401);
  });
});

test('rate-limit counters that could not be written are written by the next flush', async () => {
  const instance = await createInstance();
  const { db, clock } = instance;
  const limiter = countingLimiter({ db, clock });
  limiter.consume(KEY_DAY, 'key_1', 10);
  const repair = given.brokenWrites(instance, 'INSERT ON rate_counters');
  await expect(limiter.flush()).rejects.toThrow('disk full');
  repair();
  await limiter.flush();
  const restarted = countingLimiter({ db, clock });
  await restarted.load();
  expect((await restarted.peek(KEY_DAY, 'key_1', 10)).remaining).toBe(9);
});

test.each(['Acme\r\nSecurity alert', 'Acme\u001b[31m', 'Acme\u0085', 'Acme\u2028', ' \t '])(
  'a name must be a single line without control characters: %j is refused',
  async (name) => {
    const instance = await createInstance();
    const { status, json } = await instance.call('POST', '/api/applications', {
      token: instance.workspaceKey,
      body: { name },
    });
    expect([status, json.fields[0].path]).toEqual([400, 'name']);
  },
);

test('the key from the environment cannot be rotated: the next start would bring the old token back', async () => {
  const instance = await createInstance();
  const keys = await instance.call('GET', '/api/workspace/api-keys', { token: instance.workspaceKey });
  const { id } = keys.json.data.items.find(({ source }: { source: string }) => source === 'environment');
  const answer = await instance.call('POST', `/api/workspace/api-keys/${id}/rotate`, { token: instance.workspaceKey });
  expect([answer.status, answer.json.error]).toEqual([409, 'invalid_state']);
  expect((await instance.call('GET', '/api/workspace', { token: instance.workspaceKey })).status).toBe(200);
});

test('revoking a successor ends its predecessor for good, even when their principal is unbanned', async () => {
  const instance = await createInstance();
  const { id } = await instance.createApplication();
  const manage = (method: string, path: string) =>
    instance.call(method, `/api/applications/${id}${path}`, { token: instance.workspaceKey });
  const first = await instance.createKey(id);
  const second = (await manage('POST', `/api-keys/${first.id}/rotate-with-grace`)).json.data;
  await manage('DELETE', `/api-keys/${second.id}`);
  await manage('POST', `/users/${second.userId}/unban`);
  for (const { token } of [first, second])
    expect((await instance.call('GET', `/api/applications/${id}`, { token })).status).toBe(401);
});
