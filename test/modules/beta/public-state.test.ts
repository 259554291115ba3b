import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE, SECOND } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { setUpBeta } from './beta.ts';
import { databaseOf } from './records.ts';

const setUp = async () => {
  const beta = await setUpBeta({ gate: 'public' });
  const state = (headers: Record<string, string> = {}) =>
    beta.instance.call('GET', `/api/applications/${beta.application.id}/public/state`, { headers });
  const lifecycle = (kind: string) => given.lifecycle(beta.instance, beta.application.id, { kind });
  return { ...beta, beta, state, lifecycle };
};

describe('the public state of an application', () => {
  test('contains its lifecycle and its gate, and nothing else', async () => {
    const { application, state } = await setUp();
    const answer = await state();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      success: true,
      data: {
        applicationId: application.id,
        clientId: application.clientId,
        name: 'Shop',
        stage: 'live',
        signinGate: 'public',
        betaRequestPolicy: 'manual',
        archivedAt: null,
        deletedAt: null,
        isOpen: true,
      },
    });
  });

  test('reflects every change at once', async () => {
    const { instance, beta, state, lifecycle } = await setUp();
    const etags = new Set<string | null>();
    async function expectState(expected: object) {
      const answer = await state();
      expect(answer.json.data).toMatchObject(expected);
      etags.add(answer.headers.get('etag'));
    }
    await expectState({ signinGate: 'public', isOpen: true });
    await beta.setGate('private_beta');
    await expectState({ signinGate: 'private_beta', isOpen: true });
    await beta.setPolicy('auto_decline');
    await expectState({ betaRequestPolicy: 'auto_decline' });
    await beta.admin('PATCH', '', { name: 'Market' });
    await expectState({ name: 'Market' });
    instance.clock.advance(MINUTE);
    await lifecycle('archive');
    await expectState({ archivedAt: isoTime(START + MINUTE), isOpen: false });
    await lifecycle('delete');
    await expectState({ deletedAt: isoTime(START + MINUTE), isOpen: false });
    await lifecycle('hide_now');
    expect((await state()).status).toBe(200);
    await beta.admin('POST', '/restore');
    await beta.admin('POST', '/unarchive');
    await expectState({ archivedAt: null, deletedAt: null, isOpen: true });
    // The last state equals the one before the archive, and so does its ETag.
    expect(etags.size).toBe(6);
  });

  test('is not open for a draft', async () => {
    const instance = await createInstance();
    const { json } = await instance.call('POST', '/api/applications', { token: instance.workspaceKey, body: {} });
    const state = await instance.call('GET', `/api/applications/${json.data.id}/public/state`);
    expect(state.json.data).toMatchObject({ stage: 'draft', isOpen: false });
  });
});

describe('polling the public state', () => {
  test('returns a 304 without a body while nothing has changed', async () => {
    const { beta, state } = await setUp();
    const first = await state();
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[0-9a-z]+"$/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const again = await state({ 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    await beta.setGate('closed');
    const changed = await state({ 'if-none-match': etag });
    expect([changed.status, changed.json.data.signinGate]).toEqual([200, 'closed']);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  test('accepts a weakened ETag and a list of several', async () => {
    const { state } = await setUp();
    const etag = (await state()).headers.get('etag')!;
    for (const header of [`W/${etag}`, `"older", ${etag}`, '*'])
      expect([header, (await state({ 'if-none-match': header })).status]).toEqual([header, 304]);
    expect((await state({ 'if-none-match': '"older"' })).status).toBe(200);
  });

  test('needs no credential, and neither checks nor counts one that is sent', async () => {
    const { instance, application, state } = await setUp();
    const { token } = await instance.signIn(application.clientId, 'ada@example.com');
    await instance.services.flushCounters();
    instance.clock.advance(5 * MINUTE);
    await instance.services.flushCounters();
    const before = await databaseOf(instance);
    const counters = instance.sqlite.query('SELECT * FROM rate_counters').all();
    for (const value of [`Bearer ${token}`, 'Bearer est_nonsense', 'Bearer eak_nonsense', 'Basic YTpi']) {
      const answer = await state({ authorization: value });
      expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, null]);
    }
    const cookie = await state({ cookie: `gatehouse=${token}` });
    expect([cookie.status, cookie.headers.get('set-cookie')]).toEqual([200, null]);
    await instance.services.flushCounters();
    expect(await databaseOf(instance)).toEqual(before);
    expect(instance.sqlite.query('SELECT * FROM rate_counters').all()).toEqual(counters);
  });

  test('is never rate limited at one call a second for an hour', async () => {
    const { instance, state } = await setUp();
    for (let second = 0; second < 3600; second += 1) {
      if ((await state()).status !== 200) throw new Error(`refused after ${second} s`);
      instance.clock.advance(SECOND);
    }
  });

  test('returns the same 404 for an unknown id and for the console', async () => {
    const { instance } = await setUp();
    const bodies = [];
    for (const id of ['app_01h455vb4pex5vsknk084sn02q', '%27', instance.services.workspaces.consoleId()]) {
      const answer = await instance.call('GET', `/api/applications/${id}/public/state`);
      expect([id, answer.status, answer.json.error]).toEqual([id, 404, 'not_found']);
      bodies.push(JSON.stringify({ ...answer.json, requestId: '' }));
    }
    expect(new Set(bodies).size).toBe(1);
  });

  test('refuses other methods and names the allowed ones', async () => {
    const { instance, application } = await setUp();
    const answer = await instance.call('POST', `/api/applications/${application.id}/public/state`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
