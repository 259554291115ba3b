import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import type { GrantKind } from '@/store/grants.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';

const KINDS: GrantKind[] = ['roles', 'scopes', 'memberships'];

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
  const ask = (kind: GrantKind, query = '') => instance.call('GET', `/api/me/${kind}${query}`, { token });
  return { instance, application, token, userId, ask };
}

describe.each(KINDS)('/api/me/%s', (kind) => {
  const defaults = kind === 'roles' ? ['user'] : [];

  test('returns the slugs of the session’s application, sorted and current', async () => {
    const { instance, application, userId, ask } = await setUp();
    const first = await ask(kind);
    expect([first.status, first.json]).toEqual([200, { success: true, data: { [kind]: defaults } }]);
    await given.holder(instance, kind, application.id, userId, 'zeta', 'alpha:read');
    expect((await ask(kind)).json.data).toEqual({ [kind]: ['alpha:read', ...defaults, 'zeta'] });
    expect((await ask(kind, `?applicationId=${application.id}`)).json.data[kind]).toHaveLength(2 + defaults.length);
  });

  test('returns those of another application if the person is a member', async () => {
    const { instance, userId, ask } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    await instance.signIn(other.clientId, 'ada@example.com');
    await given.holder(instance, kind, other.id, userId, 'elsewhere');
    expect((await ask(kind, `?applicationId=${other.id}`)).json.data).toEqual({ [kind]: ['elsewhere', ...defaults] });
    expect((await ask(kind)).json.data).toEqual({ [kind]: defaults });
  });

  test('returns the same 404 for non-members, former members and unknown applications', async () => {
    const { instance, userId, ask } = await setUp();
    const never = await instance.createApplication({ name: 'Never' });
    const left = await instance.createApplication({ name: 'Left' });
    instance.clock.advance(MINUTE);
    await instance.signIn(left.clientId, 'ada@example.com');
    await instance.services.users.act(SYSTEM_ACTOR, left, userId, 'ban');
    const answers = [];
    for (const id of [never.id, left.id, 'app_01h455vb4pex5vsknk084sn02q', 'nonsense', ''])
      answers.push(await ask(kind, `?applicationId=${id}`));
    for (const { status, json } of answers)
      expect([status, { ...json, requestId: '' }]).toEqual([
        404,
        { success: false, error: 'not_found', message: answers[0]!.json.message, requestId: '' },
      ]);
  });

  test('needs a session: keys and dead sessions are refused', async () => {
    const { instance, application, token } = await setUp();
    const key = await instance.createKey(application.id);
    for (const [bearer, refusal] of [
      [undefined, [401, 'unauthenticated']],
      [key.token, [403, 'forbidden']],
      [instance.workspaceKey, [403, 'forbidden']],
    ] as const) {
      const { status, json } = await instance.call('GET', `/api/me/${kind}`, { token: bearer });
      expect([status, json.error]).toEqual([...refusal]);
    }
    await instance.call('DELETE', '/api/v1/session', { token });
    const { status, json } = await instance.call('GET', `/api/me/${kind}`, { token });
    expect([status, json.error]).toEqual([401, 'unauthenticated']);
  });

  test('is blocked with the membership, even for another application', async () => {
    const { instance, application, userId, ask } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    await instance.signIn(other.clientId, 'ada@example.com');
    await instance.services.users.act(SYSTEM_ACTOR, application, userId, 'ban');
    for (const query of ['', `?applicationId=${other.id}`]) {
      const { status, json } = await ask(kind, query);
      expect([status, json.error]).toEqual([403, 'membership_blocked']);
    }
  });
});
