import { describe, expect, test } from 'bun:test';
import { HOUR, MINUTE } from '@/core/clock.ts';
import { createInstance } from '../../support/instance.ts';
import * as given from '../../support/given.ts';
import { createScene, sceneOf } from '../devices/scene.ts';
import { addSessions, as, problemOf, setUp } from './account.ts';

const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';

describe('the session list of a person', () => {
  test('covers all applications, the current session first and marked, with device and country', async () => {
    const instance = await createInstance({
      environment: {
        GATEHOUSE_COUNTRY_HEADER: 'cf-ipcountry',
        GATEHOUSE_TRUSTED_PROXIES: '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24',
      },
    });
    const { clientId, id } = await instance.createApplication();
    const signIn = async (userAgent: string, country: string) => {
      instance.clock.advance(MINUTE);
      const headers = { 'user-agent': userAgent, 'cf-ipcountry': country };
      const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
        body: { email: 'ada@example.com', clientId },
      });
      const body = { challengeId: sent.json.data.challengeId, code: instance.codeFor('ada@example.com') };
      return (await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers })).json.data;
    };
    const laptop = await signIn(CHROME, 'de');
    await signIn('curl/8.5.0', 'xx9');
    const { json } = await as(instance, laptop)('GET', '/sessions');
    expect(json.data.nextCursor).toBeNull();
    expect(json.data.items).toMatchObject([
      {
        isCurrent: true,
        device: 'Chrome on macOS',
        deviceType: 'computer',
        ipCountry: 'DE',
        ip: '203.0.113.7',
        application: { id, name: 'Shop' },
      },
      { isCurrent: false, device: 'curl', deviceType: 'program', ipCountry: null, method: 'otp' },
    ]);
    expect(JSON.stringify(json)).not.toContain(laptop.token);
  });

  test.each([1, 2, 3, 4, 5])(
    'in pages of %i has each once: the current one, then the others from the newest',
    async (limit) => {
      const { instance, application, ada } = await setUp();
      const ids: string[] = [];
      let query = `?limit=${limit}`;
      await given.sessions(instance, application, ada.userId, 3);
      const whole = (await as(instance, ada)('GET', '/sessions')).json.data.items;
      for (;;) {
        const { items, nextCursor } = (await as(instance, ada)('GET', `/sessions${query}`)).json.data;
        ids.push(...items.map(({ id }: { id: string }) => id));
        expect(items.length).toBeLessThanOrEqual(limit);
        if (nextCursor === null) break;
        query = `?limit=${limit}&cursor=${nextCursor}`;
      }
      expect(ids).toEqual(whole.map(({ id }: { id: string }) => id));
      expect(ids).toHaveLength(5);
      expect(whole.map(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toEqual([
        true,
        false,
        false,
        false,
        false,
      ]);
      expect(ids.slice(1)).toEqual(ids.slice(1).sort().reverse());
      expect(problemOf(await as(instance, ada)('GET', '/sessions?cursor=nonsense'))).toEqual([400, 'invalid_cursor']);
    },
  );

  test('leaves out ended sessions', async () => {
    const { instance, ada, elsewhere } = await setUp();
    await instance.call('DELETE', '/api/v1/session', { token: elsewhere.token });
    expect((await as(instance, ada)('GET', '/sessions')).json.data.items).toHaveLength(1);
  });
});

describe('ending a session', () => {
  test('takes effect at once in any application, which gets an event', async () => {
    const { instance, other, ada, elsewhere } = await setUp();
    const { items } = (await as(instance, ada)('GET', '/sessions')).json.data;
    const { id } = items.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent);
    expect((await as(instance, ada)('DELETE', `/sessions/${id}`)).json.data).toEqual({ revoked: 1 });
    const { status, json } = await instance.call('POST', '/api/v1/session', { token: elsewhere.token });
    expect([status, json.error]).toEqual([401, 'revoked']);
    expect(instance.events(other.id).at(-1)).toEqual({
      type: 'user.session_revoked',
      data: { userId: ada.userId, sessionId: id, reason: 'revoked_by_user' },
    });
    expect(problemOf(await as(instance, ada)('DELETE', `/sessions/${id}`))).toEqual([404, 'not_found']);
  });

  test('is possible for the current session', async () => {
    const { instance, ada } = await setUp();
    const { items } = (await as(instance, ada)('GET', '/sessions')).json.data;
    const { id } = items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    expect((await as(instance, ada)('DELETE', `/sessions/${id}`)).status).toBe(200);
    expect(problemOf(await as(instance, ada)('GET', '/sessions'))).toEqual([401, 'unauthenticated']);
  });

  test('of another person gets a 404', async () => {
    const { instance, application, ada } = await setUp();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const { items } = (await as(instance, eve)('GET', '/sessions')).json.data;
    expect(items).toHaveLength(1);
    expect(problemOf(await as(instance, ada)('DELETE', `/sessions/${items[0].id}`))).toEqual([404, 'not_found']);
    expect((await as(instance, eve)('GET', '/sessions')).status).toBe(200);
  });

  test('for all others keeps the current session, and changes nothing when repeated', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    instance.clock.advance(HOUR);
    const second = await instance.signIn(application.clientId, 'ada@example.com');
    expect((await as(instance, second)('DELETE', '/sessions')).json.data).toEqual({ revoked: 2, devices: 0 });
    for (const { token } of [ada, elsewhere])
      expect((await instance.call('POST', '/api/v1/session', { token })).status).toBe(401);
    expect((await as(instance, second)('DELETE', '/sessions')).json.data).toEqual({ revoked: 0, devices: 0 });
    expect((await instance.call('POST', '/api/v1/session', { token: second.token })).status).toBe(200);
  });

  test('for all others takes effect at once for any number of sessions, with an event for each', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    await addSessions(instance, application, ada, 500);
    expect((await as(instance, ada)('DELETE', '/sessions')).json.data).toEqual({ revoked: 501, devices: 0 });
    expect((await as(instance, ada)('GET', '/sessions')).json.data.items).toHaveLength(1);
    expect((await instance.call('POST', '/api/v1/session', { token: elsewhere.token })).status).toBe(401);
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(200);
    await instance.services.tasks.runOnce();
    const emitted = instance.events(application.id).filter(({ type }) => type === 'user.session_revoked');
    expect(emitted).toHaveLength(500);
    expect((await instance.call('POST', '/api/v1/session', { token: ada.token })).status).toBe(200);
  });
});

describe('signing out everywhere else', () => {
  /** Connects a device in each of two applications of one workspace, and one in another workspace. */
  async function withDevices() {
    const scene = await createScene();
    const { instance, application, ada, connect } = scene;
    const sister = sceneOf(instance, await instance.createApplication({ name: 'Sister' }));
    const stranger = sceneOf(instance, (await given.tenant(instance)).application);
    const use = async ({ token }: { token: string }) => (await instance.call('GET', '/api/me/roles', { token })).status;
    return {
      ...scene,
      application,
      ada: await scene.signIn('ada@example.com'),
      sister,
      here: await connect(ada),
      sibling: await sister.connect(await sister.signIn('ada@example.com')),
      foreign: await stranger.connect(await stranger.signIn('ada@example.com')),
      use,
    };
  }

  test('disconnects and counts the devices of the session’s workspace, and keeps the ones of others', async () => {
    const { instance, ada, here, sibling, foreign, use, signIn, begin, decide, outcome } = await withDevices();
    const waiting = await begin();
    await decide('approve', waiting.user_code, ada);
    const { json } = await as(instance, ada)('DELETE', '/sessions');
    expect(json.data.devices).toBe(2);
    expect(await Promise.all([here, sibling, foreign].map(use))).toEqual([401, 401, 200]);
    expect(await outcome(waiting)).toBe('access_denied');
    expect((await as(instance, ada)('GET', '/devices')).json.data.items).toEqual([]);
    expect(instance.auditKinds().filter((kind) => kind === 'device.revoked')).toHaveLength(2);
    expect((await as(instance, ada)('DELETE', '/sessions')).json.data).toEqual({ revoked: 0, devices: 0 });
    expect((await as(instance, await signIn('bea@example.com'))('DELETE', '/sessions')).json.data.devices).toBe(0);
  });

  test('keeps devices on request', async () => {
    const { instance, ada, here, sibling, use } = await withDevices();
    const { json } = await as(instance, ada)('DELETE', '/sessions?devices=false');
    expect(json.data).toEqual({ revoked: 2, devices: 0 });
    expect(await Promise.all([here, sibling].map(use))).toEqual([200, 200]);
    const wrong = await as(instance, ada)('DELETE', '/sessions?devices=perhaps');
    expect([wrong.status, wrong.json.fields[0].path]).toEqual([400, 'devices']);
  });
});
