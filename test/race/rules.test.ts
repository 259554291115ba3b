/** Rules over several rows at two instances at once: the last owner, unique names, ended credentials, claims. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { addPerson, MEMBERS, membersOf, rolesOf, tokenOf } from '../modules/workspace/people.ts';
import { emit, setUp, subscribe } from '../modules/webhooks/scene.ts';
import type { Instance } from '../support/instance.ts';
import { atOnce, createPair, outcomesOf, type Pair } from './pair.ts';

setDefaultTimeout(60_000);

const ROUNDS = 5;

const countOf = (instance: Instance, query: string) => (instance.sqlite.query(query).get() as { n: number }).n;

describe('the last owner', () => {
  /** Two owners and the token of each. */
  async function setScene() {
    const pair = await createPair();
    const [first] = pair;
    const other = await addPerson(first, 'other@example.com', 'owner');
    const { id } = (await membersOf(first)).find(({ email }) => email === 'owner@example.com')!;
    const owner = { memberId: id, token: await tokenOf(first, 'owner@example.com') };
    return { pair, owner, other };
  }
  const owners = async ([first]: Pair) => Object.values(await rolesOf(first)).filter((role) => role === 'owner');

  test.each(['DELETE', 'PATCH'])('stays when two remove or demote one another by %s', async (method) => {
    const { pair, owner, other } = await setScene();
    const ways = [
      { token: owner.token, memberId: other.memberId },
      { token: other.token, memberId: owner.memberId },
    ];
    const answers = await atOnce(pair, 2, (at, index) => {
      const { token, memberId } = ways[index]!;
      const body = method === 'PATCH' ? { role: 'member' } : undefined;
      return at.call(method, `${MEMBERS}/${memberId}`, { token, body });
    });
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(await owners(pair)).toHaveLength(1);
  });

  test('stays when two leave by themselves', async () => {
    const { pair, owner, other } = await setScene();
    const answers = await atOnce(pair, 2, (at, index) => {
      const { token, memberId } = [owner, other][index]!;
      return at.call('DELETE', `${MEMBERS}/${memberId}`, { token });
    });
    expect(outcomesOf(answers)).toEqual({ ok: 1, '409 invalid_state': 1 });
    expect(await owners(pair)).toHaveLength(1);
  });
});

describe('a unique name', () => {
  test('of applications is given to one of two', async () => {
    const pair = await createPair();
    const [first] = pair;
    const token = first.workspaceKey;
    const ids = [(await first.createApplication()).id, (await first.createApplication()).id];
    for (let round = 0; round < ROUNDS; round += 1) {
      const slug = `wanted-${round}`;
      const answers = await atOnce(pair, 2, (at, index) =>
        at.call('PATCH', `/api/applications/${ids[index]}`, { token, body: { slug } }),
      );
      expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      expect(countOf(first, `SELECT count(*) AS n FROM applications WHERE slug = '${slug}'`)).toBe(1);
    }
  });

  test.each(['roles', 'scopes', 'memberships'])('of %s is given once', async (kind) => {
    const pair = await createPair();
    const [first] = pair;
    const { id } = await first.createApplication();
    const body = { slug: 'wanted', name: 'Wanted' };
    const answers = await atOnce(pair, 6, (at) =>
      at.call('POST', `/api/applications/${id}/${kind}`, { token: first.workspaceKey, body }),
    );
    expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });

  test('of users is given to one of two', async () => {
    const pair = await createPair();
    const [first] = pair;
    const { clientId, id } = await first.createApplication();
    const people = [await first.signIn(clientId, 'ada@example.com'), await first.signIn(clientId, 'bob@example.com')];
    for (let round = 0; round < ROUNDS; round += 1) {
      const username = `wanted${round}`;
      const answers = await atOnce(pair, 2, (at, index) =>
        at.call('PATCH', '/api/account/username', { token: people[index]!.token, body: { username } }),
      );
      expect(outcomesOf(answers)).toMatchObject({ ok: 1 });
      expect(
        countOf(
          first,
          `SELECT count(*) AS n FROM application_users WHERE application_id = '${id}' AND username = '${username}'`,
        ),
      ).toBe(1);
    }
  });

  test('of a person who is imported at both makes one user', async () => {
    const pair = await createPair();
    const [first] = pair;
    const { id } = await first.createApplication();
    const users = Array.from({ length: 20 }, (_, index) => ({ email: `person${index}@example.com` }));
    const answers = await atOnce(pair, 4, (at) =>
      at.call('POST', `/api/applications/${id}/users/bulk`, { token: first.workspaceKey, body: { users } }),
    );
    expect(outcomesOf(answers)).toEqual({ ok: 4 });
    expect(countOf(first, `SELECT count(*) AS n FROM application_users WHERE application_id = '${id}'`)).toBe(20);
    const created = answers.reduce((sum, { json }) => sum + json.data.summary.created, 0);
    expect(created).toBe(20);
  });
});

describe('a credential that one instance has ended', () => {
  async function setScene(): Promise<{ pair: Pair; id: string; token: string; userId: string }> {
    const pair = await createPair();
    const { id, clientId } = await pair[0].createApplication();
    const { token, userId } = await pair[0].signIn(clientId, 'ada@example.com');
    for (const at of pair) expect((await at.call('POST', '/api/v1/session', { token })).status).toBe(200);
    return { pair, id, token, userId };
  }
  const verdict = async ([, second]: Pair, token: string) =>
    (await second.call('POST', '/api/v1/session', { token })).json.error;

  test('by a sign-out is refused by the other in its next verification', async () => {
    const { pair, token } = await setScene();
    expect((await pair[0].call('DELETE', '/api/v1/session', { token })).status).toBe(200);
    expect(await verdict(pair, token)).toBe('revoked');
  });

  test('by a ban, or a pause, is refused by the other in its next verification', async () => {
    for (const action of ['ban', 'pause', 'delete']) {
      const { pair, id, token, userId } = await setScene();
      const path = `/api/applications/${id}/users/${userId}/${action}`;
      expect((await pair[0].call('POST', path, { token: pair[0].workspaceKey })).status).toBe(200);
      expect([action, await verdict(pair, token)]).toEqual([action, 'membership_blocked']);
    }
  });

  test('as a key is refused by the other in its next call', async () => {
    const { pair, id } = await setScene();
    const key = await pair[0].createKey(id);
    const use = () => pair[1].call('GET', `/api/applications/${id}`, { token: key.token });
    expect((await use()).status).toBe(200);
    const token = pair[0].workspaceKey;
    expect((await pair[0].call('DELETE', `/api/applications/${id}/api-keys/${key.id}`, { token })).status).toBe(200);
    expect((await use()).status).toBe(401);
  });

  test('as a role is missing in the next verification of the other', async () => {
    const { pair, id, token, userId } = await setScene();
    for (const slugs of [['user', 'developer'], ['developer'], []]) {
      const path = `/api/applications/${id}/users/${userId}/roles`;
      await pair[0].call('PUT', path, { token: pair[0].workspaceKey, body: { slugs } });
      expect((await pair[1].call('POST', '/api/v1/session', { token })).json.roles.toSorted()).toEqual(
        slugs.toSorted(),
      );
    }
  });
});

test('each delivery is claimed by one of two instances', async () => {
  const scene = await setUp({ leaseHolder: 'first' });
  const second = await scene.instance.sibling();
  const { receiver } = await subscribe(scene);
  for (let index = 0; index < 40; index += 1) await emit(scene, `usr_${index}`);
  for (let turn = 0; turn < 3; turn += 1)
    await Promise.all([scene.instance, second].map(({ services }) => services.deliveries.runOnce()));
  expect(receiver.received).toHaveLength(40);
  expect(new Set(receiver.received.map(({ eventId }) => eventId)).size).toBe(40);
});
