/**
 * Unlimited workspaces: an account makes a fixed number in total and per day, concurrently or not, from any address.
 */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR, isoTime, SECOND } from '@/core/clock.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

const [IN_ALL, A_DAY] = ['GATEHOUSE_LIMIT_WORKSPACES_PER_ACCOUNT', 'GATEHOUSE_LIMIT_WORKSPACES_PER_DAY'];

const make = (instance: Instance, token: string): Promise<Answer> =>
  instance.call('POST', '/api/workspaces', { token, body: { name: 'Another' } });

async function ownerOf(instance: Instance): Promise<string> {
  return (await instance.signIn('console', 'owner@example.com')).token;
}

/** Creates another owner of the instance's first workspace. */
async function secondOwner(instance: Instance): Promise<string> {
  const token = await ownerOf(instance);
  const body = { email: 'second@example.com', role: 'owner' };
  expect((await instance.call('POST', '/api/workspace/members', { token, body })).status).toBe(200);
  return (await instance.signIn('console', 'second@example.com')).token;
}

const countOf = ({ sqlite }: Instance) =>
  (sqlite.query('SELECT count(*) AS n FROM workspaces').get() as { n: number }).n;

describe('an account that makes workspaces', () => {
  test('makes three in 24 hours; the fourth gets 429 with the time at which the oldest expires', async () => {
    const instance = await createInstance();
    const token = await ownerOf(instance);
    const since = instance.clock.now();
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await make(instance, token);
      expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
        200,
        '3',
        remaining,
      ]);
      instance.clock.advance(HOUR);
    }
    const refused = await make(instance, token);
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(refused.json.message).toContain(isoTime(since + DAY));
    expect(refused.headers.get('ratelimit-limit')).toBe('3');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect(refused.headers.get('retry-after')).toBe(String(21 * 3600));
    expect(countOf(instance)).toBe(4);

    instance.clock.advance(21 * HOUR - SECOND);
    expect((await make(instance, token)).status).toBe(429);
    instance.clock.advance(SECOND);
    expect((await make(instance, token)).status).toBe(200);
    expect((await make(instance, token)).status).toBe(429);
  });

  test('makes ten in total; the eleventh gets 409 on any day, naming the setting', async () => {
    const instance = await createInstance();
    const token = await ownerOf(instance);
    for (let made = 0; made < 10; made += 1) {
      expect((await make(instance, token)).status).toBe(200);
      instance.clock.advance(DAY / 2);
    }
    for (let day = 0; day < 3; day += 1) {
      const { status, json } = await make(instance, token);
      expect([status, json.error]).toEqual([409, 'conflict']);
      expect(json.message).toContain('10 workspaces');
      expect(json.message).toContain(IN_ALL!);
      instance.clock.advance(DAY);
    }
    expect(countOf(instance)).toBe(11);
  });

  test('makes no more with a hundred concurrent calls', async () => {
    const instance = await createInstance({ environment: { [IN_ALL!]: '5', [A_DAY!]: '100' } });
    const token = await ownerOf(instance);
    const answers = await Promise.all(Array.from({ length: 100 }, () => make(instance, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(95);
    expect(countOf(instance)).toBe(6);
  });

  test('is counted by the workspaces it has made, not by those it owns or belongs to', async () => {
    const instance = await createInstance({ environment: { [A_DAY!]: '1' } });
    const [first, second] = [await ownerOf(instance), await secondOwner(instance)];
    const workspaceId: string = (await make(instance, first)).json.data.id;
    const path = `/api/workspace/members`;
    const query = `?workspaceId=${workspaceId}`;
    const body = { email: 'second@example.com', role: 'owner' };
    expect((await instance.call('POST', path + query, { token: first, body })).status).toBe(200);
    const again = (await instance.signIn('console', 'second@example.com')).token;
    const { items } = (await instance.call('GET', path + query, { token: again })).json.data;
    const { id } = items.find(({ email }: { email: string }) => email === 'owner@example.com');
    expect((await instance.call('DELETE', `${path}/${id}${query}`, { token: again })).status).toBe(200);
    // Leaving a workspace frees no slot; receiving one takes none.
    expect((await make(instance, first)).status).toBe(429);
    expect((await make(instance, second)).status).toBe(200);
  });

  test('is still limited after a restart', async () => {
    const instance = await createInstance({ environment: { [A_DAY!]: '1' } });
    const token = await ownerOf(instance);
    expect((await make(instance, token)).status).toBe(200);
    expect((await make(await instance.restart(), token)).status).toBe(429);
  });

  test('is not limited in an ephemeral instance, where each test may make its own workspaces', async () => {
    const instance = await createInstance({ mode: 'ephemeral', environment: { [A_DAY!]: '1', [IN_ALL!]: '1' } });
    const token = await ownerOf(instance);
    for (let made = 0; made < 12; made += 1) expect((await make(instance, token)).status).toBe(200);
  });
});
