/** A command-line tool signs a person in and polls at the server's pace. */
import { describe, expect, test } from 'bun:test';
import { deviceLogin, type PendingLogin } from '@/client/device-login.ts';
import type { ApiError } from '@/client/gatehouse.ts';
import type { Fetch } from '@/client/exchange.ts';
import { MINUTE, SECOND } from '@/core/clock.ts';
import { createInstance } from '../support/instance.ts';

async function createScene() {
  const instance = await createInstance();
  const { clientId } = await instance.createApplication();
  const ada = await instance.signIn(clientId, 'ada@example.com');
  const fetch: Fetch = async (url, init) => instance.app.fetch(new Request(url, init));
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms / SECOND);
    instance.clock.advance(ms);
  };
  const decide = (decision: 'approve' | 'deny', { userCode }: PendingLogin) =>
    instance.call('POST', `/api/account/device/${decision}`, { token: ada.token, body: { user_code: userCode } });
  const options = { url: 'http://localhost', clientId, deviceName: 'Ada’s laptop', fetch, wait };
  return { instance, clientId, ada, waits, decide, options };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: ApiError) => error.code,
  );

describe('a device sign-in', () => {
  test('returns a key that acts as the person after their approval', async () => {
    const { instance, ada, waits, decide, options } = await createScene();
    const { token } = await deviceLogin({
      ...options,
      onCode(pending) {
        expect(pending).toEqual({
          userCode: expect.stringMatching(/^\w{4}-\w{4}$/),
          verificationUri: expect.stringMatching(/\/device$/),
          verificationUriComplete: expect.stringContaining(pending.userCode),
          expiresInSeconds: 900,
        });
        return decide('approve', pending);
      },
    });
    expect(waits).toEqual([5]);
    const verdict = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
    expect(verdict.json.data.userId).toBe(ada.userId);
  });

  test('ends if they decline, if the code expires, or if the caller aborts', async () => {
    const { decide, options, waits } = await createScene();
    expect(await codeOf(deviceLogin({ ...options, onCode: (pending) => decide('deny', pending) }))).toBe(
      'access_denied',
    );
    expect(await codeOf(deviceLogin({ ...options, onCode: () => {} }))).toBe('expired_token');
    expect(waits.length).toBe(1 + (15 * MINUTE) / (5 * SECOND));
    const giving = new AbortController();
    const { wait: _, ...patient } = options;
    const given = deviceLogin({ ...patient, signal: giving.signal, onCode: () => giving.abort(new Error('enough')) });
    expect(given).rejects.toThrow('enough');
  });

  test('is refused at once without an address or a client', async () => {
    const { options } = await createScene();
    const login = (wrong: object) => deviceLogin({ ...options, ...wrong, onCode: () => {} });
    expect(login({ url: 'localhost' })).rejects.toThrow(/^deviceLogin: url is not like/);
    expect(login({ clientId: '' })).rejects.toThrow(/clientId is empty/);
  });

  test('a sign-in for an unknown application is refused at once', async () => {
    const { options } = await createScene();
    const shown: unknown[] = [];
    const login = deviceLogin({ ...options, clientId: 'cli_0', onCode: (pending) => shown.push(pending) });
    expect(await codeOf(login)).toBe('invalid_client');
    expect(shown).toEqual([]);
  });

  test('polls less often after slow_down or a failed connection', async () => {
    const { instance, waits, options } = await createScene();
    let polls = 0;
    let pending: PendingLogin | undefined;
    const fetch: Fetch = async (url, init) => {
      if (url.endsWith('/device/token')) polls += 1;
      // One poll comes a second too early, and one connection is lost.
      if (polls === 2 && url.endsWith('/device/token')) instance.clock.advance(-2 * SECOND);
      if (polls === 3) throw new TypeError('connection lost');
      return options.fetch(url, init);
    };
    const login = deviceLogin({ ...options, fetch, onCode: (given) => (pending = given) });
    expect(await codeOf(login)).toBe('expired_token');
    expect(pending).toBeDefined();
    expect(waits.slice(0, 5)).toEqual([5, 5, 10, 15, 15]);
  });
});
