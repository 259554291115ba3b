/** Codes and tokens of the device grant work for nothing else, and never leak as plain text. */
import { describe, expect, test } from 'bun:test';
import { formatUserCode } from '@/core/user-code.ts';
import { storedText } from '../../support/stored.ts';
import { createScene } from './scene.ts';

const ID = 'chl_01h455vb4pex5vsknk084sn02q';

describe('a code of the device grant', () => {
  test('is refused as a bearer token everywhere', async () => {
    const { instance, begin } = await createScene();
    const { device_code, user_code } = await begin();
    for (const token of [device_code, user_code])
      for (const [method, path, status] of [
        ['POST', '/api/v1/session', 401],
        ['POST', '/api/v1/verify', 401],
        ['GET', '/api/me/roles', 401],
        ['GET', '/api/applications', 401],
        ['GET', '/api/account/devices', 401],
      ] as const) {
        const answer = await instance.call(method, path, { token, ...(method === 'POST' && { body: {} }) });
        expect([path, answer.status]).toEqual([path, status]);
      }
  });

  test('is refused as a setup token, as a challenge and as a token to verify', async () => {
    const { instance, begin } = await createScene();
    const { device_code, user_code } = await begin();
    for (const text of [device_code, user_code]) {
      const setup = await instance.call('POST', '/api/setup', { body: { token: text, email: 'eve@example.com' } });
      expect(setup.status).toBe(404);
      const otp = await instance.call('POST', '/api/v1/auth/otp/verify', {
        body: { challengeId: text, code: '000000' },
      });
      expect([otp.status, otp.json.error]).toEqual([400, 'code_invalid']);
      const verified = await instance.call('POST', '/api/v1/verify', {
        token: instance.workspaceKey,
        body: { token: text },
      });
      expect(verified.json.errorMessage).toBe('invalid_token');
    }
  });
});

describe('a credential of another kind', () => {
  test('is refused as a device code', async () => {
    const { instance, ada, connect, begin, poll } = await createScene();
    const { token } = await connect(ada);
    const { user_code } = await begin();
    for (const device_code of [
      ada.token,
      token,
      instance.workspaceKey,
      await instance.services.setup.createLink(),
      user_code,
      ID,
    ]) {
      const { status, json } = await poll({ device_code });
      expect([status, json.error]).toEqual([400, 'invalid_grant']);
    }
  });

  test('is refused as a user code', async () => {
    const { instance, application, ada, look } = await createScene();
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: 'eve@example.com', clientId: application.clientId },
    });
    for (const code of [sent.json.data.challengeId, instance.codeFor('eve@example.com'), ada.token])
      expect((await look(code, ada)).status).toBe(404);
  });
});

describe('the secrets of the device grant', () => {
  test('are never stored, mailed or logged in plain text', async () => {
    const { instance, ada, begin, look, decide, poll } = await createScene();
    const codes = await begin({ device_name: 'Laptop' }, { 'user-agent': 'acme-cli/2' });
    await look(codes.user_code, ada);
    await decide('approve', codes.user_code, ada);
    const { access_token } = (await poll(codes)).json;
    await poll(codes);
    await instance.call('GET', '/api/me/roles', { token: access_token });
    await instance.services.flushCounters();
    const [stored, logged] = [storedText(instance), instance.logLines.join('')];
    expect(logged).toContain('/api/v1/device/token');
    const plain = codes.user_code.replace('-', '');
    for (const secret of [codes.device_code, access_token, plain, formatUserCode(plain)])
      for (const text of [stored, logged]) expect(text).not.toContain(secret);
  });

  test('are never repeated in an error response', async () => {
    const { instance, begin, poll, ada, look } = await createScene();
    const { device_code, user_code } = await begin();
    const other = await instance.createApplication({ name: 'Other' });
    const answers = [
      await poll({ device_code }),
      await poll({ device_code }, { client_id: other.clientId }),
      await poll({ device_code }, { grant_type: 'password' }),
      await look(`${user_code}X`, ada),
    ];
    for (const { text } of answers) {
      expect(text).not.toContain(device_code);
      expect(text).not.toContain(user_code);
    }
  });
});
