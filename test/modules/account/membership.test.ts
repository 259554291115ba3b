import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { as, later, problemOf, setUp } from './account.ts';

describe('inactivating a membership', () => {
  test('ends its sessions, emits events, and is reverted by signing in', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    const { json } = await as(instance, ada)('POST', '/inactivate');
    expect(json.data).toEqual({ applicationId: application.id, status: 'inactivated' });
    const dead = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect([dead.status, dead.json.error]).toEqual([403, 'membership_blocked']);
    expect((await instance.call('POST', '/api/v1/session', { token: elsewhere.token })).status).toBe(200);
    const { userId } = ada;
    expect(instance.events(application.id).slice(-2)).toMatchObject([
      { type: 'user.session_revoked', data: { userId, reason: 'inactivated' } },
      { type: 'user.inactivated', data: { userId } },
    ]);
    later(instance);
    await instance.signIn(application.clientId, 'ada@example.com');
    expect(instance.events(application.id).slice(-2)).toMatchObject([
      { type: 'user.reactivated' },
      { type: 'user.signed_in' },
    ]);
  });

  test('is reverted from a session of another application', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    await as(instance, ada)('POST', '/inactivate');
    const { status, json } = await as(instance, elsewhere)('POST', '/reactivate', { applicationId: application.id });
    expect([status, json.data]).toEqual([200, { applicationId: application.id, status: 'active' }]);
    expect(instance.events(application.id).at(-1)).toEqual({
      type: 'user.reactivated',
      data: { userId: ada.userId },
    });
    // The former sessions stay ended.
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(401);
  });

  test('cannot be reverted past a closed gate', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    await as(instance, ada)('POST', '/inactivate');
    await given.application(instance, application.id, { signinGate: 'private_beta' });
    const answer = await as(instance, elsewhere)('POST', '/reactivate', { applicationId: application.id });
    expect(problemOf(answer)).toEqual([403, 'waitlist']);
  });
});

describe('leaving an application', () => {
  test('ends the sessions there, emits user.left, and is reverted by signing in', async () => {
    const { instance, application, ada } = await setUp();
    expect((await as(instance, ada)('POST', '/leave', {})).json.data.status).toBe('left');
    expect(instance.events(application.id).at(-1)).toEqual({ type: 'user.left', data: { userId: ada.userId } });
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(403);
    later(instance);
    expect((await instance.signIn(application.clientId, 'ada@example.com')).userId).toBe(ada.userId);
  });

  test('works from a session of another application, and changes nothing when repeated', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    const leave = () => as(instance, elsewhere)('POST', '/leave', { applicationId: application.id });
    expect((await leave()).status).toBe(200);
    const events = instance.events(application.id).length;
    expect((await leave()).json.data.status).toBe('left');
    expect(instance.events(application.id)).toHaveLength(events);
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(403);
  });

  test('is refused for the console while the person is a workspace member', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const answer = await as(instance, owner)('POST', '/leave');
    expect(problemOf(answer)).toEqual([409, 'invalid_state']);
    expect(answer.json.message).toContain('workspace');
  });

  test('without a membership gets the same 404 as an unknown application', async () => {
    const { instance, application, ada } = await setUp();
    const third = await instance.createApplication({ name: 'Third' });
    for (const action of ['inactivate', 'reactivate', 'leave'])
      for (const applicationId of [third.id, 'app_none']) {
        const answer = await as(instance, ada)('POST', `/${action}`, { applicationId });
        expect(problemOf(answer)).toEqual([404, 'not_found']);
      }
    expect(instance.events(application.id).filter(({ type }) => type === 'user.left')).toEqual([]);
  });

  test.each(['banned', 'paused', 'deleted'] as const)(
    'and inactivating are refused for a %s membership',
    async (status) => {
      const { instance, application, ada, elsewhere } = await setUp();
      await given.member(instance, application.id, ada.userId, { status });
      for (const action of ['inactivate', 'reactivate', 'leave']) {
        const answer = await as(instance, elsewhere)('POST', `/${action}`, { applicationId: application.id });
        expect(problemOf(answer)).toEqual([409, 'invalid_state']);
      }
    },
  );
});
