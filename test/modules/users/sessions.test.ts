import { describe, expect, test } from 'bun:test';
import { DAY, isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { BAD_CURSORS, lastAudit, managing, pages, refusal, tables, watch } from './management.ts';

async function setUp(count = 1) {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const signIn = async (email: string) => {
    const signedIn = await instance.signIn(application.clientId, email);
    instance.clock.advance(MINUTE);
    return signedIn;
  };
  const tokens: string[] = [];
  let userId = '';
  for (let made = 0; made < count; made += 1) {
    const signedIn = await signIn('ada@example.com');
    tokens.push(signedIn.token);
    userId = signedIn.userId;
  }
  const path = `/users/${userId}/sessions`;
  const list = async (): Promise<{ id: string }[]> => (await manage('GET', path)).json.data.items;
  const verify = async (token: string) =>
    (await instance.call('POST', '/api/v1/session', { token })).json.error ?? 'ok';
  return { instance, application, manage, signIn, tokens, userId, path, list, verify };
}

describe('the sessions of a user', () => {
  test('are listed while they are open, newest first, without any part of their tokens', async () => {
    const { instance, manage, tokens, path } = await setUp(3);
    const answer = await manage('GET', path);
    expect(answer.json.data.nextCursor).toBeNull();
    expect(answer.json.data.items).toEqual(
      [2, 1, 0].map((minute) => ({
        id: expect.stringMatching(/^ses_/),
        method: 'otp',
        ip: instance.peer,
        userAgent: null,
        lastSeenAt: isoTime(START + minute * MINUTE),
        createdAt: isoTime(START + minute * MINUTE),
        expiresAt: isoTime(START + minute * MINUTE + 30 * DAY),
      })),
    );
    for (const token of tokens) expect(answer.text).not.toContain(token);
  });

  test('are listed for read access as well', async () => {
    const { instance, application, manage, path } = await setUp();
    const { token } = await instance.createKey(application.id, { access: 'read' });
    expect((await manage('GET', path, { token })).json.data.items).toHaveLength(1);
  });

  test('are not listed after their end: signed out, revoked or expired', async () => {
    const { instance, manage, tokens, path, list } = await setUp(3);
    await instance.call('DELETE', '/api/v1/session', { token: tokens[2] });
    expect(await list()).toHaveLength(2);
    await manage('DELETE', `${path}/${(await list())[0]!.id}`);
    expect(await list()).toHaveLength(1);
    instance.clock.advance(30 * DAY - 3 * MINUTE - 1);
    expect(await list()).toHaveLength(1);
    instance.clock.advance(1);
    expect(await list()).toEqual([]);
  });

  test('are paged without skipping or repeating any while new sessions are opened', async () => {
    const { manage, signIn, path, list } = await setUp(4);
    const all = await list();
    const found = await pages<{ id: string }>(manage, `${path}?limit=1`, async (page) => {
      if (page === 1) await signIn('ada@example.com');
    });
    expect(found.flat().map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  test.each(BAD_CURSORS)('cannot be listed with the invalid cursor %j', async (cursor) => {
    const { manage, path } = await setUp();
    const answer = await manage('GET', `${path}?cursor=${cursor}`);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
  });
});

describe('a revocation', () => {
  test('ends one session at once, with its event and audit record, and keeps the others', async () => {
    const { instance, application, manage, tokens, userId, path, list, verify } = await setUp(2);
    const [newest] = await list();
    const before = watch(instance, application);
    const answer = await manage('DELETE', `${path}/${newest!.id}`);
    expect([answer.status, answer.json]).toEqual([200, { success: true, data: { revoked: 1 } }]);
    expect(await Promise.all(tokens.map(verify))).toEqual(['ok', 'revoked']);
    const data = { userId, sessionId: newest!.id, reason: 'revoked_by_admin' };
    expect(before.events()).toEqual([{ type: 'user.session_revoked', data }]);
    expect(before.kinds()).toEqual(['session.revoked']);
    expect(lastAudit(instance, 'session.revoked')).toMatchObject({
      user_id: userId,
      target_id: newest!.id,
      actor_type: 'key',
      request_id: answer.headers.get('x-request-id'),
    });
    const rows = await tables(instance);
    expect((await manage('DELETE', `${path}/${newest!.id}`)).status).toBe(404);
    expect(await tables(instance)).toEqual(rows);
  });

  test('ends all sessions with an event each, under one audit record, and affects nobody else', async () => {
    const { instance, application, manage, signIn, tokens, userId, path, list, verify } = await setUp(3);
    const bob = await signIn('bob@example.com');
    const ids = (await list()).map(({ id }) => id);
    const before = watch(instance, application);
    const answer = await manage('DELETE', path);
    expect(answer.json).toEqual({ success: true, data: { revoked: 3 } });
    expect(await Promise.all([...tokens, bob.token].map(verify))).toEqual(['revoked', 'revoked', 'revoked', 'ok']);
    expect(before.kinds()).toEqual(['session.revoked']);
    const expected = ids.map((sessionId) => ({
      type: 'user.session_revoked',
      data: { userId, sessionId, reason: 'revoked_by_admin' },
    }));
    expect(before.events()).toHaveLength(3);
    expect(before.events()).toEqual(expect.arrayContaining(expected));
    const rows = await tables(instance);
    expect((await manage('DELETE', path)).json.data).toEqual({ revoked: 0 });
    expect(await tables(instance)).toEqual(rows);
  });

  test('ends 251 sessions at once, publishes one event for each later, and keeps sessions opened after it', async () => {
    const { instance, application, manage, signIn, tokens, userId, path, list, verify } = await setUp();
    const more = (await given.sessions(instance, application, userId, 250)).map(({ token }) => token);
    const before = watch(instance, application);
    // Stops the background task, so that nothing changes while the test looks.
    await instance.services.tasks.stop();
    expect((await manage('DELETE', path)).json.data).toEqual({ revoked: 251 });
    const verdicts = await Promise.all([...tokens, ...more.slice(-50)].map(verify));
    expect(new Set(verdicts)).toEqual(new Set(['revoked']));
    expect(await list()).toEqual([]);
    expect((await manage('DELETE', path)).json.data).toEqual({ revoked: 0 });
    const later = await signIn('ada@example.com');
    const restarted = await instance.restart();
    await restarted.services.tasks.runOnce();
    const ended = before.events().filter(({ type }) => type === 'user.session_revoked');
    const reported = ended.map(({ data }) => (data as { sessionId: string }).sessionId);
    expect([reported.length, new Set(reported).size]).toEqual([251, 251]);
    expect(await verify(later.token)).toBe('ok');
    expect(before.kinds().filter((kind) => kind === 'session.revoked')).toHaveLength(1);
  });

  test('keeps the person a member who can sign in again', async () => {
    const { manage, signIn, userId, path, verify } = await setUp();
    await manage('DELETE', path);
    expect((await manage('GET', `/users/${userId}`)).json.data.status).toBe('active');
    expect(await verify((await signIn('ada@example.com')).token)).toBe('ok');
  });

  test('answers 404 for another person’s session, like one that never existed', async () => {
    const { instance, manage, signIn, path, list, verify } = await setUp();
    const bob = await signIn('bob@example.com');
    const [own] = await list();
    const rows = await tables(instance);
    const foreign = await manage('DELETE', `/users/${bob.userId}/sessions/${own!.id}`);
    const nothing = await manage('DELETE', `${path}/ses_01h455vb4pex5vsknk084sn02q`);
    expect(foreign.status).toBe(404);
    expect(refusal(foreign)).toEqual(refusal(nothing));
    expect(await tables(instance)).toEqual(rows);
    expect(await verify(bob.token)).toBe('ok');
  });
});
