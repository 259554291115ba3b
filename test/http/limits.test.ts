/** Configured limits apply instead of the defaults. */
import { describe, expect, test } from 'bun:test';
import { LIMIT_CLASSES, LIMITS, type LimitName } from '@/http/limits.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const EMAIL = 'ada@example.com';

async function withSetting(setting: string, value: string): Promise<Instance> {
  return createInstance({ environment: { [`GATEHOUSE_LIMIT_${setting}`]: value } });
}

const send = (instance: Instance) =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'owner@example.com' } });

const wrongCode = async (instance: Instance, challengeId: string) => {
  const code = instance.codeFor('owner@example.com') === '000000' ? '111111' : '000000';
  return (await instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } })).json.error;
};

describe('a configured limit', () => {
  test('bounds the wrong attempts per code', async () => {
    const instance = await withSetting('TRIES_PER_CODE', '2');
    const { challengeId } = (await send(instance)).json.data;
    const errors = [];
    for (let count = 0; count < 3; count += 1) errors.push(await wrongCode(instance, challengeId));
    expect(errors).toEqual(['code_invalid', 'code_invalid', 'code_exhausted']);
  });

  test('locks an e-mail out after wrong codes', async () => {
    const instance = await withSetting('WRONG_CODES_PER_EMAIL', '1');
    const { challengeId } = (await send(instance)).json.data;
    expect(await wrongCode(instance, challengeId)).toBe('code_invalid');
    expect(await wrongCode(instance, challengeId)).toBe('rate_limited');
  });

  test('sets the seconds between two codes', async () => {
    const instance = await withSetting('CODE_COOLDOWN_SECONDS', '2');
    await send(instance);
    instance.clock.advance(1999);
    expect((await send(instance)).json.data.sent).toBe(false);
    instance.clock.advance(1);
    expect((await send(instance)).json.data.sent).toBe(true);
  });

  test('bounds the codes for changes of an application and of an account', async () => {
    const lifecycle = await withSetting('ACTION_CODES_PER_EMAIL', '1');
    const { id } = await lifecycle.createApplication();
    const statuses = [];
    for (let count = 0; count < 2; count += 1) {
      const options = { token: lifecycle.workspaceKey, body: { kind: 'archive' } };
      statuses.push((await lifecycle.call('POST', `/api/applications/${id}/lifecycle/send`, options)).status);
    }
    const account = await withSetting('ACCOUNT_CODES_PER_PERSON', '1');
    const { token } = await account.signIn('console', 'owner@example.com');
    for (let count = 0; count < 2; count += 1)
      statuses.push((await account.call('POST', '/api/account/proof', { token })).status);
    expect(statuses).toEqual([200, 429, 200, 429]);
  });

  test.each([
    ['USER_CODES_PER_SESSION', '1'],
    ['USER_CODES_PER_PERSON', '1'],
  ])('bounds the guesses of user codes (%s)', async (setting, value) => {
    const instance = await withSetting(setting, value);
    const { clientId } = await instance.createApplication();
    const { token } = await instance.signIn(clientId, EMAIL);
    const guess = async () => (await instance.call('GET', '/api/account/device?user_code=BBBB-BBBB', { token })).status;
    expect([await guess(), await guess()]).toEqual([404, 429]);
  });

  test('bounds the wrong codes on the device page', async () => {
    const instance = await withSetting('WRONG_DEVICE_CODES_PER_ADDRESS', '1');
    const open = async () => (await instance.call('GET', '/device?code=BBBB-BBBB')).status;
    expect([await open(), await open()]).toEqual([404, 429]);
  });

  test('sets the seconds between two polls of a device', async () => {
    const instance = await withSetting('DEVICE_POLL_SECONDS', '7');
    const { clientId } = await instance.createApplication();
    const { json } = await instance.call('POST', '/api/v1/device/code', { body: { client_id: clientId } });
    expect(json.interval).toBe(7);
    const body = { client_id: clientId, device_code: json.device_code };
    const poll = async () => (await instance.call('POST', '/api/v1/device/token', { body })).json.error;
    const first = await poll();
    instance.clock.advance(6999);
    expect([first, await poll()]).toEqual(['authorization_pending', 'slow_down']);
  });
});

test('a limit class counts each limit once: in the pipeline per address or person, or elsewhere', () => {
  for (const { address, person, others = [] } of Object.values(LIMIT_CLASSES)) {
    const names = [address, person, ...others].filter((name) => name !== undefined);
    expect(new Set<LimitName>(names).size).toBe(names.length);
    if (address) expect(LIMITS[address].counts).toEndWith('per client address');
    if (person) expect(LIMITS[person].counts).toEndWith('per person');
  }
});
