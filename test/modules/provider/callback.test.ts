import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';

import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import en from '@/i18n/locales/en.json';
import { retentionJob } from '@/jobs/retention.ts';
import type { Answer } from '../../support/instance.ts';
import { createBrowser, fragmentOf } from './browser.ts';
import { createScene, RETURN_TO, type Scene, startProvider } from './scene.ts';
import * as given from '../../support/given.ts';

/** Expects a page without a redirect. */
function expectPage({ status, headers, text }: Answer, expected: number, says: string): void {
  expect([status, headers.get('location')]).toEqual([expected, null]);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(text).toContain(says);
  expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
  expect(headers.getSetCookie()).toEqual([]);
}

const startAgain = (answer: Answer) => expectPage(answer, 400, en.errors.provider_flow_unknown);
const changed = (query: URLSearchParams, values: Record<string, string | null>) => {
  const copy = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) value === null ? copy.delete(name) : copy.set(name, value);
  return copy;
};
const isSignedIn = (answer: Answer) => fragmentOf(answer)['token'] !== undefined;

describe('a state', () => {
  test('missing, malformed or forged ends at a page', async () => {
    const scene = await createScene();
    const query = await scene.begin();
    const state = query.get('state')!;
    const wrong = [null, '', 'nonsense', state.slice(0, -1), `${state}0`, state.toLowerCase(), ` ${state}`];
    for (const value of [...wrong, mintSecret('providerState', systemRandom), mintSecret('browser', systemRandom)])
      startAgain(await scene.comeBack(changed(query, { state: value })));
    expect(scene.provider.asked.token).toBe(0);
    expect(isSignedIn(await scene.comeBack(query))).toBe(true);
  });

  test('works once: its second use ends at a page and asks the provider nothing', async () => {
    const scene = await createScene();
    const query = await scene.begin();
    expect(isSignedIn(await scene.comeBack(query))).toBe(true);
    startAgain(await scene.comeBack(query));
    expect([scene.provider.asked.token, scene.count('sessions')]).toEqual([1, 1]);
  });

  test('expires after ten minutes', async () => {
    const scene = await createScene();
    const [early, late] = [await scene.begin(), await scene.begin()];
    scene.instance.clock.advance(10 * MINUTE - 1);
    expect(isSignedIn(await scene.comeBack(early))).toBe(true);
    scene.instance.clock.advance(1);
    startAgain(await scene.comeBack(late));
  });

  test('is deleted a day later', async () => {
    const scene = await createScene();
    await scene.begin();
    const run = () => retentionJob({ ...scene.instance, auditDays: 365 }).runOnce();
    scene.instance.clock.advance(10 * MINUTE + DAY);
    await run();
    expect(scene.count('provider_states')).toBe(1);
    scene.instance.clock.advance(1);
    await run();
    expect(scene.count('provider_states')).toBe(0);
  });

  test('a state of another browser ends at a page and stays usable', async () => {
    const scene = await createScene();
    const query = await scene.begin();
    const stranger = createBrowser(scene.instance);
    startAgain(await scene.comeBack(query, stranger));
    for (const cookie of [mintSecret('browser', systemRandom), 'nonsense', '']) {
      stranger.cookies.set('gatehouse-flow', cookie);
      startAgain(await scene.comeBack(query, stranger));
    }
    expect(scene.provider.asked.token).toBe(0);
    expect(isSignedIn(await scene.comeBack(query))).toBe(true);
  });

  test('gives exactly one session to fifty concurrent callbacks', async () => {
    const scene = await createScene();
    const query = await scene.begin();
    const answers = await Promise.all(Array.from({ length: 50 }, () => scene.comeBack(query)));
    expect(answers.filter(isSignedIn)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49);
    expect([scene.count('sessions'), scene.provider.asked.token]).toEqual([1, 1]);
  });

  test('a state of a provider that the application no longer has ends at a page', async () => {
    const scene = await createScene();
    const other = await startProvider();
    const [first, second] = [await scene.begin(), await scene.begin()];
    const configure = (issuer: string, clientId: string) =>
      scene.instance.call('PUT', `/api/applications/${scene.application.id}/identity-provider`, {
        token: scene.instance.workspaceKey,
        body: { issuer, clientId, clientSecret: 'secret' },
      });
    await configure(other.issuer, 'gatehouse');
    expectPage(await scene.comeBack(first), 409, en.errors.provider_changed);
    await configure(scene.provider.issuer, 'another-client');
    expectPage(await scene.comeBack(second), 409, en.errors.provider_changed);
    expect([scene.provider.asked.token, other.asked.token]).toEqual([0, 0]);
  });

  test('a state of a sign-in never links, and a state of a link never signs in', async () => {
    const scene = await createScene();
    const { instance, application, browser, provider } = scene;
    const { token, userId } = await instance.signIn(application.clientId, 'bea@example.com');
    const body = { returnTo: RETURN_TO };
    const { json } = await browser.visit('/api/account/providers', { method: 'POST', token, body });
    const link = provider.agree(json.data.authorizationUrl);
    const signIn = await scene.begin();
    const sessions = scene.count('sessions');
    expect(fragmentOf(await scene.comeBack(link))).toEqual({ linked: 'provider' });
    expect(scene.count('sessions')).toBe(sessions);
    provider.claims = { sub: 'subject-2', email: 'cleo@example.com' };
    expect(isSignedIn(await scene.comeBack(signIn))).toBe(true);
    const owners = instance.sqlite.query('SELECT user_id AS id FROM provider_identities WHERE subject = ?');
    expect(owners.get('subject-1')).toEqual({ id: userId });
    expect(owners.get('subject-2')).not.toEqual({ id: userId });
    // The database enforces it as well.
    const relabel = instance.sqlite.prepare("UPDATE provider_states SET purpose = 'link' WHERE session_id IS NULL");
    expect(() => relabel.run()).toThrow(/check constraint/i);
  });
});

describe('an answer of the provider', () => {
  test('must name the right issuer if it names one, and must name one if the provider promises it', async () => {
    const scene = await createScene();
    const { issuer } = scene.provider;
    expect(isSignedIn(await scene.comeBack(changed(await scene.begin(), { iss: issuer })))).toBe(true);
    for (const iss of ['https://evil.example', `${issuer}/`, ''])
      expectPage(await scene.comeBack(changed(await scene.begin(), { iss })), 502, en.errors.provider_failed);
    const strict = await createScene();
    strict.provider.metadata = { authorization_response_iss_parameter_supported: true };
    expectPage(await strict.comeBack(await strict.begin()), 502, en.errors.provider_failed);
    const good = changed(await strict.begin(), { iss: strict.provider.issuer });
    expect(isSignedIn(await strict.comeBack(good))).toBe(true);
    expect(scene.count('sessions')).toBe(1);
  });

  test('an error goes back to the return URL: declined as access_denied, all others as a failure', async () => {
    const scene = await createScene();
    for (const [error, code] of [
      ['access_denied', 'access_denied'],
      ['server_error', 'provider_failed'],
      ['<script>', 'provider_failed'],
      ['', 'provider_failed'],
    ] as const) {
      const landed = await scene.comeBack(changed(await scene.begin(), { error, code: null }));
      expect([landed.status, landed.headers.get('location')]).toEqual([302, `${RETURN_TO}#error=${code}`]);
    }
    // A code next to an error is ignored.
    await scene.comeBack(changed(await scene.begin(), { error: 'access_denied' }));
    expect(scene.provider.asked.token).toBe(0);
  });

  test('an answer without a code, or with an unknown one, ends at a page', async () => {
    const scene = await createScene();
    expectPage(await scene.comeBack(changed(await scene.begin(), { code: null })), 502, en.errors.provider_failed);
    expectPage(await scene.comeBack(changed(await scene.begin(), { code: 'stolen' })), 502, en.errors.provider_failed);
    expect(scene.instance.logLines.join('')).toContain('token endpoint: answered 400 (invalid_grant)');
  });

  test('an answer with the code of another flow is refused by PKCE and nonce', async () => {
    const scene = await createScene();
    const [victim, attacker] = [await scene.begin(), await scene.begin()];
    expectPage(await scene.comeBack(changed(victim, { code: attacker.get('code')! })), 502, en.errors.provider_failed);
    expect(scene.count('sessions')).toBe(0);
  });

  test('is exchanged with the client’s credentials in the provider’s scheme, and the PKCE verifier', async () => {
    const scene = await createScene();
    const { provider } = scene;
    await scene.signIn();
    expect(Buffer.from(provider.lastAuthorization!.slice('Basic '.length), 'base64').toString()).toBe(
      'gatehouse:a+secret%3A+with+%2F+and+%2B+and+%25',
    );
    expect(Object.fromEntries(provider.lastForm)).toEqual({
      grant_type: 'authorization_code',
      code: expect.stringContaining('code-'),
      redirect_uri: 'http://localhost:8080/api/auth/google/callback',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    });
    const posting = await createScene();
    posting.provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    expect(isSignedIn(await posting.signIn())).toBe(true);
    expect(posting.provider.lastAuthorization).toBeNull();
    expect(posting.provider.lastForm.get('client_secret')).toBe('a secret: with / and + and %');
  });

  test('is exchanged with unescaped punctuation in Google’s credentials', async () => {
    const scene = await createScene();
    const clientId = '1234-ab_c.apps.googleusercontent.com';
    await scene.instance.call('PUT', `/api/applications/${scene.application.id}/identity-provider`, {
      token: scene.instance.workspaceKey,
      body: { issuer: scene.provider.issuer, clientId, clientSecret: 'GOCSPX-x_y.z' },
    });
    expect(isSignedIn(await scene.signIn({ aud: clientId }))).toBe(true);
    expect(scene.provider.lastAuthorization).toBe(`Basic ${btoa(`${clientId}:GOCSPX-x_y.z`)}`);
  });
});

describe('the return URL', () => {
  const unregister = ({ instance, application }: Scene) =>
    given.application(instance, application.id, { returnUrls: [] });

  test('is checked again at the callback: an unregistered one gets nothing', async () => {
    const scene = await createScene();
    const [query, failing] = [await scene.begin(), await scene.begin()];
    await unregister(scene);
    expectPage(await scene.comeBack(query), 400, en.errors.return_url_unregistered);
    expectPage(
      await scene.comeBack(changed(failing, { error: 'access_denied' })),
      400,
      en.errors.return_url_unregistered,
    );
    expect([scene.count('sessions'), scene.provider.asked.token]).toEqual([0, 0]);
  });

  test('keeps its query and gets our fragment only', async () => {
    const scene = await createScene();
    const landed = await scene.comeBack(await scene.begin({ returnTo: `${RETURN_TO}/deep?next=%2Fcart&x=ä` }));
    const location = new URL(landed.headers.get('location')!);
    expect(location.href).toStartWith(`${RETURN_TO}/deep?next=%2Fcart&x=%C3%A4#token=est_`);
    expect([...new URLSearchParams(location.hash.slice(1)).keys()]).toEqual(['token', 'expiresAt']);
  });
});

test('neither token, code, state, cookie, secret nor address is logged', async () => {
  const scene = await createScene();
  const query = await scene.begin();
  const landed = await scene.comeBack(query);
  await scene.comeBack(query);
  await scene.signIn({ nonce: 'wrong' });
  await scene.signIn({ iss: 'https://evil.example' });
  scene.provider.instead.token = () => new Response('{"id_token":"hunter2', { status: 200 });
  await scene.signIn();
  const log = scene.instance.logLines.join('');
  const secrets = [query.get('state')!, query.get('code')!, fragmentOf(landed)['token']!];
  secrets.push([...scene.browser.cookies.values()][0]!, 'a secret', 'ada@example.com', 'hunter2', 'eyJ', 'subject-1');
  for (const secret of secrets) expect(log).not.toContain(secret);
  for (const reason of ['nonce', '(issuer) claim value', 'body as JSON']) expect(log).toContain(reason);
});
