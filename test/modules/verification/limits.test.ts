import { describe, expect, test } from 'bun:test';
import { HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { createInstance, type Instance } from '../../support/instance.ts';

async function setUp(rateLimits: { perMinute: number; perDay: number }) {
  const instance = await createInstance();
  const { id, clientId } = await instance.createApplication();
  const person = await instance.signIn(clientId, 'ada@example.com');
  const { token } = await instance.createKey(id, { access: 'read', rateLimits });
  const verify = () => instance.call('POST', '/api/v1/verify', { token, body: { token: person.token } });
  return { instance, person, verify };
}

const session = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });

async function repeat(times: number, call: () => Promise<{ status: number }>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let turn = 0; turn < times; turn += 1) {
    const { status } = await call();
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

describe('a key', () => {
  test('over its minute gets 429 in the shape of verify, until the clock’s next minute', async () => {
    const { instance, verify } = await setUp({ perMinute: 3, perDay: 100 });
    instance.clock.advance(40 * SECOND);
    expect(await repeat(3, verify)).toEqual({ 200: 3 });
    const refused = await verify();
    expect(refused.status).toBe(429);
    expect(refused.json).toEqual({
      success: false,
      errorMessage: 'rate_limited',
      message: expect.any(String),
      requestId: refused.headers.get('x-request-id'),
    });
    expect(refused.headers.get('retry-after')).toBe('20');
    instance.clock.advance(20 * SECOND);
    expect((await verify()).status).toBe(200);
  });

  test('over its day gets 429 until the UTC day ends', async () => {
    const { instance, verify } = await setUp({ perMinute: 100, perDay: 3 });
    expect(await repeat(3, verify)).toEqual({ 200: 3 });
    instance.clock.advance(HOUR);
    const refused = await verify();
    expect([refused.status, refused.json.errorMessage, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      String(11 * 60 * 60),
    ]);
    instance.clock.advance(11 * HOUR);
    expect(await repeat(4, verify)).toEqual({ 200: 3, 429: 1 });
  });

  test('spends nothing of its day on calls that its minute refused', async () => {
    const { instance, verify } = await setUp({ perMinute: 2, perDay: 6 });
    const minutes = [];
    for (let minute = 0; minute < 4; minute += 1) {
      minutes.push(await repeat(5, verify));
      instance.clock.advance(MINUTE);
    }
    expect(minutes).toEqual([{ 200: 2, 429: 3 }, { 200: 2, 429: 3 }, { 200: 2, 429: 3 }, { 429: 5 }]);
  });

  test('is counted over all its calls, including management, and across a restart', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { token } = await instance.createKey(id, { rateLimits: { perMinute: 3, perDay: 100 } });
    const verify = (on: Instance) => on.call('POST', '/api/v1/verify', { token, body: { token: 'x' } });
    expect((await instance.call('GET', '/api/applications', { token })).status).toBe(200);
    expect((await instance.call('GET', '/api/applications/app_x', { token })).status).toBe(404);
    expect((await verify(instance)).status).toBe(200);
    const restarted = await instance.restart();
    expect((await verify(restarted)).status).toBe(429);
    expect((await restarted.call('GET', '/api/applications', { token })).json.error).toBe('rate_limited');
  });

  test('has its own limit: another key of the application is unaffected', async () => {
    const { instance, person, verify } = await setUp({ perMinute: 1, perDay: 100 });
    expect(await repeat(2, verify)).toEqual({ 200: 1, 429: 1 });
    const other = await instance.createKey(person.applicationId);
    const answer = await instance.call('POST', '/api/v1/verify', { token: other.token, body: { token: person.token } });
    expect(answer.status).toBe(200);
  });

  test('starts with 60 a minute and 10000 a day', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const { json } = await instance.call('POST', `/api/applications/${id}/api-keys`, {
      token: instance.workspaceKey,
      body: { name: 'k', access: 'read' },
    });
    expect(json.data.rateLimits).toEqual({ perMinute: 60, perDay: 10_000 });
    const call = () => instance.call('GET', '/api/applications', { token: json.data.token });
    expect(await repeat(61, call)).toEqual({ 200: 60, 429: 1 });
  });
});

describe('a session', () => {
  test('is verified 600 times a minute, then gets 429 in its own shape', async () => {
    const { instance, person } = await setUp({ perMinute: 1, perDay: 1 });
    expect(await repeat(600, () => session(instance, person.token))).toEqual({ 200: 600 });
    const refused = await session(instance, person.token);
    expect([refused.status, refused.json]).toEqual([
      429,
      { ok: false, error: 'rate_limited', message: expect.any(String), requestId: expect.stringMatching(/^req_/) },
    ]);
    expect([refused.headers.get('ratelimit-limit'), refused.headers.get('retry-after')]).toEqual(['600', '60']);
    instance.clock.advance(MINUTE);
    expect((await session(instance, person.token)).status).toBe(200);
  });

  test('has its own limit, from any client address', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '2' } });
    const { clientId } = await instance.createApplication();
    const [ada, eve] = [
      await instance.signIn(clientId, 'ada@example.com'),
      await instance.signIn(clientId, 'eve@example.com'),
    ];
    expect(await repeat(2, () => session(instance, ada.token))).toEqual({ 200: 2 });
    instance.peer = '198.51.100.20';
    expect((await session(instance, ada.token)).status).toBe(429);
    expect((await session(instance, eve.token)).status).toBe(200);
  });
});

describe('failed verifications', () => {
  test('failures of one client address are answered 120 times a minute, then 429', async () => {
    const { instance } = await setUp({ perMinute: 1, perDay: 1 });
    expect(await repeat(120, () => session(instance, 'nonsense'))).toEqual({ 401: 120 });
    const refused = await session(instance, 'nonsense');
    expect([refused.status, refused.json.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '60',
    ]);
    expect(refused.headers.get('ratelimit-limit')).toBe('120');
    instance.peer = '198.51.100.20';
    expect((await session(instance, 'nonsense')).status).toBe(401);
    instance.peer = '203.0.113.7';
    instance.clock.advance(MINUTE);
    expect((await session(instance, 'nonsense')).status).toBe(401);
  });

  test('failures from one IPv6 network count as one caller', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '2' } });
    for (const [host, status] of [
      ['::1', 401],
      ['::2', 401],
      ['::3', 429],
    ] as const) {
      instance.peer = `2001:db8:1:2${host}`;
      expect((await session(instance, 'nonsense')).status).toBe(status);
    }
    instance.peer = '2001:db8:1:3::1';
    expect((await session(instance, 'nonsense')).status).toBe(401);
  });

  test('count in every operation that takes a session; successful ones do not count', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_FAILURES_PER_MINUTE: '3' } });
    const { clientId } = await instance.createApplication();
    const { token } = await instance.signIn(clientId, 'ada@example.com');
    expect(await repeat(10, () => session(instance, token))).toEqual({ 200: 10 });
    expect((await instance.call('GET', '/api/me/roles', { token: 'nonsense' })).status).toBe(401);
    expect((await instance.call('GET', '/api/applications', { token: 'nonsense' })).status).toBe(401);
    expect((await instance.call('DELETE', '/api/v1/session', { token: 'nonsense' })).status).toBe(401);
    expect((await session(instance, 'nonsense')).status).toBe(429);
  });

  test('failures of one client address do not lock out people with valid sessions there', async () => {
    const { instance, person } = await setUp({ perMinute: 1, perDay: 1 });
    await repeat(130, () => session(instance, 'nonsense'));
    expect((await session(instance, person.token)).status).toBe(200);
  });
});
