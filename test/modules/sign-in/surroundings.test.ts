/** A first sign-in stores the browser's language and time zone, until they are changed. */
import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { as } from '../account/account.ts';

const ADA = 'ada@example.com';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const signIn = async (
    { email = ADA, clientId = application.clientId, ...sent }: Record<string, unknown> = {},
    verified: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) => {
    const { json } = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId, ...sent } });
    const code = instance.codeFor(String(email));
    const body = { challengeId: json.data.challengeId, code, ...verified };
    const signedIn = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers });
    expect(signedIn.status).toBe(200);
    return signedIn.json.data as { token: string; userId: string };
  };
  const seen = async (session: { token: string }) => {
    const { json } = await instance.call('POST', '/api/v1/session', session);
    return [json.locale, json.timezone];
  };
  return { instance, application, signIn, seen };
}

describe('the first sign-in', () => {
  test('stores the locale sent with the code rather than the browser’s, and the browser’s time zone', async () => {
    const { signIn, seen } = await setUp();
    const session = await signIn(
      { locale: 'de-at' },
      { timezone: 'europe/vienna' },
      { 'accept-language': 'fr-CH, fr;q=0.9' },
    );
    expect(await seen(session)).toEqual(['de-AT', 'Europe/Vienna']);
  });

  test('stores the browser’s first language if none was sent, supported or not', async () => {
    const { signIn, seen } = await setUp();
    expect(await seen(await signIn({}, {}, { 'accept-language': 'en;q=0.4, *;q=0.9, ja-JP' }))).toEqual([
      'ja-JP',
      'UTC',
    ]);
  });

  test.each([
    ['nothing', {}, {}, {}],
    ['what is no language and no zone', { locale: '!!' }, { timezone: 'Mars/Base' }, { 'accept-language': '§, *' }],
  ])('a first sign-in with %s stores English and UTC', async (_, sent, verified, headers) => {
    const { signIn, seen } = await setUp();
    expect(await seen(await signIn(sent, verified, headers))).toEqual(['en', 'UTC']);
  });

  test('fills only blanks of an import', async () => {
    const { instance, application, signIn, seen } = await setUp();
    await instance.call('POST', `/api/applications/${application.id}/users/bulk`, {
      token: instance.workspaceKey,
      body: { users: [{ email: ADA, profile: { timezone: 'Europe/London' } }] },
    });
    const session = await signIn({ locale: 'tr' }, { timezone: 'Europe/Vienna' });
    expect(await seen(session)).toEqual(['tr', 'Europe/London']);
  });

  test('alone stores them: a later one changes nothing, in any application', async () => {
    const { instance, signIn, seen } = await setUp();
    const first = await signIn({ locale: 'de' });
    await as(instance, first)('PATCH', '/profile/identity', { locale: null });
    const { application: elsewhere } = await given.tenant(instance, 'Elsewhere');
    const later = await signIn({ locale: 'fr', clientId: elsewhere.clientId }, { timezone: 'Europe/Vienna' });
    expect(await seen(later)).toEqual(['en', 'UTC']);
  });

  test('the owner’s first sign-in stores the browser’s settings too', async () => {
    const { instance, seen } = await setUp();
    const link = await instance.services.setup.createLink();
    const answer = await instance.call('POST', '/api/setup', {
      body: { token: link, email: 'new@example.com', timezone: 'Asia/Tokyo' },
      headers: { 'accept-language': 'ja' },
    });
    expect(answer.status).toBe(200);
    expect(await seen(answer.json.data)).toEqual(['ja', 'Asia/Tokyo']);
  });
});
