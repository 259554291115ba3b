import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';
import { managing, refusal, tables } from './management.ts';

const ROUTES: [method: string, path: string, body?: unknown][] = [
  ['GET', ''],
  ...['ban', 'unban', 'pause', 'resume', 'delete', 'restore'].map((action): [string, string, unknown] => [
    'POST',
    `/${action}`,
    { reason: 'mine' },
  ]),
  ...['roles', 'scopes', 'memberships'].map((kind): [string, string, unknown] => ['PUT', `/${kind}`, { slugs: [] }]),
  ['PATCH', '', { externalId: 'mine', metadata: { plan: 'mine' }, username: 'mine' }],
  ['GET', '/sessions'],
  ['DELETE', '/sessions'],
  ['DELETE', '/sessions/SESSION'],
];

/** Two applications of one workspace; the victim is a member of only one. */
async function setUp() {
  const instance = await createInstance();
  const mine = await instance.createApplication({ name: 'Mine' });
  const theirs = await instance.createApplication({ name: 'Theirs' });
  const victim = await instance.signIn(theirs.clientId, 'victim@example.com');
  const own = await instance.signIn(mine.clientId, 'own@example.com');
  const { json } = await managing(instance, theirs)('GET', `/users/${victim.userId}/sessions`);
  const key = await instance.createKey(mine.id);
  return { instance, mine, theirs, victim, own, sessionId: json.data.items[0].id as string, key };
}

describe.each(ROUTES)('%s /users/{userId}%s', (method, tail, body) => {
  test('answers another application’s user like an unknown one, for any key', async () => {
    const { instance, mine, victim, sessionId, key } = await setUp();
    const manage = managing(instance, mine);
    const path = (userId: string) => `/users/${userId}${tail.replace('SESSION', sessionId)}`;
    const rows = await tables(instance);
    for (const token of [key.token, instance.workspaceKey]) {
      const foreign = refusal(await manage(method, path(victim.userId), { token, body }));
      expect(foreign).toMatchObject({ status: 404, body: { success: false, error: 'not_found' }, isTraceable: true });
      for (const nobody of ['usr_01h455vb4pex5vsknk084sn02q', 'nobody', '%20'])
        expect(refusal(await manage(method, path(nobody), { token, body }))).toEqual(foreign);
    }
    expect(await tables(instance)).toEqual(rows);
  });

  test('answers 404 for an application beyond the key’s reach, even for a user of both', async () => {
    const { instance, theirs, victim, own, sessionId, key } = await setUp();
    const manage = managing(instance, theirs);
    const nowhere = managing(instance, { id: 'app_01h455vb4pex5vsknk084sn02q' });
    const rows = await tables(instance);
    for (const userId of [victim.userId, own.userId]) {
      const path = `/users/${userId}${tail.replace('SESSION', sessionId)}`;
      const answer = refusal(await manage(method, path, { token: key.token, body }));
      expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
      expect(refusal(await nowhere(method, path, { token: key.token, body }))).toEqual(answer);
    }
    expect(await tables(instance)).toEqual(rows);
  });
});
