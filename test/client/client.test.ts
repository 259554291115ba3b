/** The typed client: operations by path, all pages of a list, and waits that the server requests. */
import { describe, expect, test } from 'bun:test';
import { ApiError, type ClientOptions, createClient, Unreachable } from '@/client/gatehouse.ts';
import type { Fetch } from '@/client/exchange.ts';
import { MINUTE } from '@/core/clock.ts';
import { createInstance } from '../support/instance.ts';

async function createScene(rateLimits = { perMinute: 100_000, perDay: 1_000_000 }) {
  const instance = await createInstance();
  const { id } = await instance.createApplication({ name: 'Shop' });
  const { token: apiKey } = await instance.createKey(id, { rateLimits });
  const calls: string[] = [];
  const waits: number[] = [];
  const fetch: Fetch = async (url, init) => {
    calls.push(`${init.method} ${url}`);
    return instance.app.fetch(new Request(url, init));
  };
  const wait = async (ms: number) => {
    waits.push(ms);
    instance.clock.advance(ms);
  };
  const options = { url: 'http://localhost/', apiKey, fetch, wait };
  return { instance, id, calls, waits, options, client: createClient(options) };
}

const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe('a call', () => {
  test('returns the data of the answer', async () => {
    const { client, id } = await createScene();
    const { name } = await client.patch('/api/applications/{id}', { path: { id }, body: { name: 'Tea & Co.' } });
    expect(name).toBe('Tea & Co.');
    expect((await client.get('/api/applications/{id}', { path: { id } })).name).toBe('Tea & Co.');
  });

  test('a refused call throws the server’s error', async () => {
    const { client, id } = await createScene();
    const unknown = (await thrownBy(
      client.get('/api/applications/{id}/users/{userId}', { path: { id, userId: 'usr_0' } }),
    )) as ApiError;
    expect(unknown).toBeInstanceOf(ApiError);
    expect([unknown.status, unknown.code]).toEqual([404, 'not_found']);
    expect(unknown.requestId).toBeString();
    const wrong = (await thrownBy(
      client.patch('/api/applications/{id}', { path: { id }, body: { name: 7 as unknown as string } }),
    )) as ApiError;
    expect(wrong.fields).toEqual([{ path: 'name', message: expect.any(String) }]);
  });

  test('an unreachable server throws another error, and an aborted call the caller’s reason', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', apiKey: 'eak_0' });
    expect(await thrownBy(client.get('/api/applications'))).toBeInstanceOf(Unreachable);
    const signal = AbortSignal.abort('enough');
    expect(await thrownBy(client.get('/api/applications', { signal }))).toBe('enough');
  });

  test('a client that could make none is refused when it is made', () => {
    const made = (options: object) => () => createClient(options as ClientOptions);
    expect(made({})).toThrow(/^createClient: url is missing.*GATEHOUSE/);
    expect(made({ url: 'http://localhost' })).toThrow(/apiKey is missing.*API_KEY/);
    expect(made({ url: 'http://localhost', apiKey: 'eak_0', timeoutMs: Number.NaN })).toThrow(/timeoutMs is NaN/);
    expect(made({ url: 'http://localhost', apiKey: 'eak_0', maxWaitMs: Number.NaN })).toThrow(/maxWaitMs is NaN/);
  });

  test('stays on its path with any characters in an id', async () => {
    const { client, calls } = await createScene();
    for (const id of ['', '.', '..'])
      expect(await thrownBy(client.get('/api/applications/{id}', { path: { id } }))).toBeInstanceOf(TypeError);
    expect(calls).toEqual([]);
    await thrownBy(client.get('/api/applications/{id}', { path: { id: '../../readyz?x=1' } }));
    expect(calls).toEqual(['GET http://localhost/api/applications/..%2F..%2Freadyz%3Fx%3D1']);
  });
});

test('a list is read to its end page by page, and no further than requested', async () => {
  const { client, id, calls } = await createScene();
  for (const slug of ['a1', 'b2', 'c3'])
    await client.post('/api/applications/{id}/roles', { path: { id }, body: { slug, name: slug } });
  calls.length = 0;
  const slugs: string[] = [];
  for await (const { slug } of client.all('/api/applications/{id}/roles', { path: { id }, query: { limit: 2 } }))
    slugs.push(slug);
  expect(slugs).toEqual(expect.arrayContaining(['a1', 'b2', 'c3']));
  expect(new Set(slugs).size).toBe(slugs.length);
  expect(calls).toHaveLength(Math.ceil(slugs.length / 2));
  calls.length = 0;
  for await (const _ of client.all('/api/applications/{id}/roles', { path: { id }, query: { limit: 2 } })) break;
  expect(calls).toHaveLength(1);
});

describe('a Retry-After of the server', () => {
  test('is waited for before one retry', async () => {
    const { client, id, waits } = await createScene({ perMinute: 2, perDay: 100 });
    for (let count = 0; count < 5; count += 1) await client.get('/api/applications/{id}', { path: { id } });
    expect(waits).toEqual([MINUTE, MINUTE]);
  });

  test('is not waited for beyond the given maximum', async () => {
    const { options, id, waits } = await createScene({ perMinute: 1, perDay: 100 });
    const client = createClient({ ...options, maxWaitMs: 1000 });
    await client.get('/api/applications/{id}', { path: { id } });
    const error = (await thrownBy(client.get('/api/applications/{id}', { path: { id } }))) as ApiError;
    expect([error.status, error.code, error.retryAfterSeconds]).toEqual([429, 'rate_limited', 60]);
    expect(waits).toEqual([]);
  });

  test('a 503 causes a retry only of idempotent calls', async () => {
    const { options, id } = await createScene();
    const methods: string[] = [];
    const client = createClient({
      ...options,
      maxWaitMs: 3000,
      fetch: async (_, { method }) => {
        methods.push(`${method}`);
        return Response.json({ error: 'unavailable' }, { status: 503, headers: { 'retry-after': '1' } });
      },
    });
    const path = { id };
    await thrownBy(client.get('/api/applications/{id}', { path }));
    await thrownBy(client.post('/api/applications/{id}/publish', { path }));
    await thrownBy(client.patch('/api/applications/{id}', { path, body: {} }));
    expect(methods).toEqual(['GET', 'GET', 'GET', 'GET', 'POST', 'PATCH']);
  });
});
