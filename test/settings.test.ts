/** Secrets among the settings, and the limits in the descriptions. The guide's table: test/modules/docs/guides.test.ts. */
import { describe, expect, test } from 'bun:test';
import { ALL_SETTINGS, type Setting } from '@/settings.ts';
import { createInstance } from './support/instance.ts';

test('settings named secret, key, password or token are masked, and so is a URL with a password', () => {
  const isSecret = ({ env }: Setting) => /SECRET|(?<!TLS)_KEY|PASSWORD|TOKEN|SMTP_URL|DATABASE_URL/.test(env);
  expect(ALL_SETTINGS.filter((setting) => setting.isSecret).map(({ env }) => env)).toEqual(
    ALL_SETTINGS.filter(isSecret).map(({ env }) => env),
  );
});

describe('the descriptions', () => {
  test('contain the limits in force, not the defaults', async () => {
    const instance = await createInstance({
      environment: {
        GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '601',
        GATEHOUSE_LIMIT_CODES_PER_EMAIL: '6',
        GATEHOUSE_LIMIT_TRIES_PER_CODE: '4',
        GATEHOUSE_LIMIT_USER_CODES_PER_SESSION: '3',
      },
    });
    const { json } = await instance.call('GET', '/openapi.roles.json');
    const used = new Set((json.operations as { limit: string }[]).map(({ limit }) => limit));
    expect(Object.keys(json.limits).sort()).toEqual([...used].sort());
    expect(json.limits.session).toStartWith('601 calls per session a minute');
    expect(json.limits.code_send).toContain('; 6 sign-in codes sent per e-mail in 15 minutes;');
    expect(json.limits.code_verify).toStartWith('4 wrong tries per code; 20 wrong codes');
    const { limit } = (json.operations as { path: string; limit: string }[]).find(
      ({ path }) => path === '/api/account/device',
    )!;
    expect(json.limits[limit]).toContain('3 wrong user codes of devices per session an hour');
  });

  test('omit the limits that an ephemeral instance does not have', async () => {
    const instance = await createInstance({ mode: 'ephemeral' });
    const { json } = await instance.call('GET', '/openapi.roles.json');
    expect(json.limits.passkey).toBe('not limited in this instance');
    expect(json.limits.code_send).not.toContain('per client address');
    expect(json.limits.code_send).not.toContain('codes sent per e-mail');
  });
});
