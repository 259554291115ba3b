import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { createInstance } from '../../support/instance.ts';

// Fifty changes of one row queue up on PostgreSQL.
setDefaultTimeout(60_000);

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const person = await instance.signIn(application.clientId, 'ada@example.com');
  const signOut = (token = person.token) => instance.call('DELETE', '/api/v1/session', { token });
  const session = (token = person.token) => instance.call('POST', '/api/v1/session', { token });
  return { instance, application, person, signOut, session };
}

describe('a sign-out', () => {
  test('ends the session at once, with one event and one audit record', async () => {
    const { instance, application, person, signOut, session } = await setUp();
    const ended = await signOut();
    expect([ended.status, ended.json]).toEqual([200, { ok: true }]);
    const after = await session();
    expect([after.status, after.json.error]).toEqual([401, 'revoked']);
    const { sessionId } = instance.events(application.id)[0]!.data as { sessionId: string };
    expect(instance.events(application.id).slice(1)).toEqual([
      { type: 'user.signed_out', data: { userId: person.userId, sessionId } },
    ]);
    expect(instance.auditKinds(application.id).slice(-1)).toEqual(['session.signed_out']);
    expect(
      instance.sqlite
        .query(
          "SELECT user_id, target_id, actor_type, actor_user_id, ip FROM audit_records WHERE kind = 'session.signed_out'",
        )
        .get(),
    ).toEqual({
      user_id: person.userId,
      target_id: sessionId,
      actor_type: 'user',
      actor_user_id: person.userId,
      ip: '203.0.113.7',
    });
  });

  test('repeated answers revoked and reports nothing more', async () => {
    const { instance, application, signOut } = await setUp();
    await signOut();
    const again = await signOut();
    expect([again.status, again.json.ok, again.json.error]).toEqual([401, false, 'revoked']);
    expect(instance.events(application.id).map(({ type }) => type)).toEqual(['user.signed_in', 'user.signed_out']);
  });

  test('repeated fifty times concurrently emits one event', async () => {
    const { instance, application, signOut } = await setUp();
    await Promise.all(Array.from({ length: 50 }, () => signOut()));
    expect(instance.events(application.id).filter(({ type }) => type === 'user.signed_out')).toHaveLength(1);
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'session.signed_out')).toHaveLength(1);
  });

  test('ends no other session of the same person', async () => {
    const { instance, application, signOut, session } = await setUp();
    instance.clock.advance(MINUTE);
    const second = await instance.signIn(application.clientId, 'ada@example.com');
    await signOut();
    expect((await session(second.token)).status).toBe(200);
  });

  test('is visible to a verifying backend', async () => {
    const { instance, person, signOut } = await setUp();
    const key = await instance.createKey(person.applicationId);
    await signOut();
    const { json } = await instance.call('POST', '/api/v1/verify', { token: key.token, body: { token: person.token } });
    expect(json).toEqual({ success: false, errorMessage: 'revoked' });
  });

  test('needs the token of a live session', async () => {
    const { instance, application, person, signOut } = await setUp();
    const key = await instance.createKey(application.id);
    for (const token of ['nonsense', key.token, instance.workspaceKey])
      expect((await signOut(token)).json.error).toBe('invalid_token');
    expect((await instance.call('POST', '/api/v1/session', { token: person.token })).status).toBe(200);
  });
});
