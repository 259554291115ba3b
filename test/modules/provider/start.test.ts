import { beforeAll, describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import en from '@/i18n/locales/en.json';
import { purgeBatch } from '@/store/retention.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { storedText } from '../../support/stored.ts';
import { createBrowser } from './browser.ts';
import { createScene, RETURN_TO, type Scene } from './scene.ts';

const START_PATH = '/api/auth/google/start';

/** On https, with another tenant's return URL registered. */
let secure: Scene;
beforeAll(async () => {
  secure = await createScene({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
  await secure.instance.createApplication({ name: 'Other', returnUrls: ['https://other.example.com/welcome'] });
});

describe('the start of a sign-in through a provider', () => {
  test('redirects the browser with PKCE, state and nonce, and binds the flow to it by a cookie', async () => {
    const { start, provider } = await createScene();
    const { status, headers } = await start();
    expect(status).toBe(302);
    const location = new URL(headers.get('location')!);
    expect(location.origin + location.pathname).toBe(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      kept: '1',
      response_type: 'code',
      client_id: 'gatehouse',
      redirect_uri: 'http://localhost:8080/api/auth/google/callback',
      scope: 'openid email profile',
      state: expect.stringMatching(/^eps_[0-9A-Za-z]{49}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^gatehouse-flow=ebr_[0-9A-Za-z]{49}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/),
    ]);
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
  });

  test('requests an account chooser if the provider offers one', async () => {
    const { start, provider } = await createScene();
    provider.metadata = { prompt_values_supported: ['none', 'select_account'] };
    expect(new URL((await start()).headers.get('location')!).searchParams.get('prompt')).toBe('select_account');
  });

  test('stores no secret that could finish the flow', async () => {
    const { instance, browser, provider, begin, comeBack } = await createScene();
    const query = await begin();
    await comeBack(query);
    const stored = storedText(instance);
    const secrets = [query.get('state')!, query.get('code')!, [...browser.cookies.values()][0]!];
    secrets.push(provider.lastForm.get('code_verifier')!);
    for (const secret of secrets) expect(stored).not.toContain(secret);
  });

  test('keeps a browser’s well-formed cookie and replaces a malformed one', async () => {
    const { start, browser } = await createScene();
    await start();
    const first = browser.cookies.get('gatehouse-flow')!;
    await start();
    expect(browser.cookies.get('gatehouse-flow')).toBe(first);
    browser.cookies.set('gatehouse-flow', `${first.slice(0, -1)}${first.endsWith('0') ? '1' : '0'}`);
    await start();
    expect(browser.cookies.get('gatehouse-flow')).not.toBe(first);
  });

  test('binds the cookie to the host on https', async () => {
    const { browser, start } = await createScene({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
    const { headers } = await start();
    expect([...browser.cookies.keys()]).toEqual(['__Host-gatehouse-flow']);
    expect(headers.get('set-cookie')).toMatch(/; Path=\/; .*Secure/);
    expect(headers.get('set-cookie')).not.toContain('Domain');
  });

  test('uses the sign-in page of the application without a return URL', async () => {
    const { instance, application, browser, provider, comeBack } = await createScene();
    const { headers } = await browser.visit(`${START_PATH}?clientId=${application.clientId}`);
    const landed = await comeBack(provider.agree(headers.get('location')!));
    expect(landed.headers.get('location')).toStartWith(
      `http://localhost:8080/sign-in?clientId=${application.clientId}#token=est_`,
    );
    expect(instance.logLines.join('')).not.toContain('est_');
  });

  test.each(['/device', '/device?user_code=ABCD', '/account', '/account?a=b', '/console'])(
    'may return to %s of this server',
    async (path) => {
      const scene = await secureScene();
      expect((await scene.start({ returnTo: `https://auth.example.com${path}` })).status).toBe(302);
    },
  );

  test('is limited per client address, except in an ephemeral instance', async () => {
    const limited = await createInstance({ environment: { GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS: '2' } });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await limited.call('GET', START_PATH)).status);
    expect(statuses).toEqual([409, 409, 429]);
    limited.clock.advance(15 * MINUTE);
    expect((await limited.call('GET', START_PATH)).status).toBe(409);
    expect((await createInstance({ mode: 'ephemeral' })).config.limits.providerPerAddress).toBeNull();
  });
});

describe('an impossible start', () => {
  const refusal = async (answer: Promise<{ status: number; text: string; headers: Headers }>) => {
    const { status, text, headers } = await answer;
    expect(headers.get('location')).toBeNull();
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
    return [status, /<p class="lead">([^<]*)</.exec(text)?.[1]];
  };

  test('a start for an unknown, closed or archived application, or one without providers, shows the reason', async () => {
    const { instance, application, start } = await createScene();
    expect(await refusal(start({ clientId: 'cli_unknown' }))).toEqual([404, en.errors.application_unknown]);
    await given.application(instance, application.id, { signinMethods: ['otp'] });
    expect(await refusal(start())).toEqual([403, en.errors.forbidden]);
    await given.application(instance, application.id, { archivedAt: 1 });
    expect(await refusal(start())).toEqual([403, en.signin.archivedLead]);
    expect(await refusal(start({ returnTo: 'https://evil.example' }))).toEqual([403, expect.any(String)]);
  });

  test('a start without any provider shows the reason', async () => {
    const instance = await createInstance();
    const { clientId } = await instance.createApplication();
    const answer = createBrowser(instance).visit(`${START_PATH}?clientId=${clientId}`);
    expect(await refusal(answer)).toEqual([409, en.errors.provider_missing]);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'https:/\\evil.example',
    'https://evil.example',
    'https://shop.example.com.evil.example/welcome',
    'https://shop.example.com@evil.example/welcome',
    'https://shop.example.com:pw@evil.example/welcome',
    'https://user@shop.example.com/welcome',
    'https://shop.example.com/welcome#token=forged',
    'https://shop.example.com/welcomes',
    'https://shop.example.com/',
    'https://shop.example.com/welcome/../admin',
    'https://shop.example.com/welcome/%2e%2e/admin',
    'https://shop.example.com/welcome/..%2fadmin',
    'https://shop.exam\tple.com/welcome',
    'https://shop.example.com/welcome\n',
    ' https://shop.example.com/welcome',
    'http://shop.example.com/welcome',
    'https://shop.example.com:8443/welcome',
    'https://other.example.com/welcome',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    '',
    'https://auth.example.com/sign-in',
    'https://auth.example.com/sign-in#x',
    'https://auth.example.com/sign-in/../api',
    'https://auth.example.com/api/setup',
    'https://auth.example.com/',
    'https://auth.example.com/accounts',
    'https://auth.example.com.evil.example/account',
    'https://auth.example.com@evil.example/account',
    'https://user@auth.example.com/account',
    '//auth.example.com/account',
    'https://auth.example.com/sign-in?clientId=console',
  ])('a start with the return URL %j shows a page and never redirects', async (returnTo) => {
    const scene = await secureScene();
    const answer = scene.start({ returnTo });
    expect(await refusal(answer)).toEqual([400, en.errors.return_url_unregistered]);
    expect(scene.count('provider_states')).toBe(0);
  });

  test('a start with this server’s sign-in page of two applications at once shows a page', async () => {
    const scene = await secureScene();
    const own = `https://auth.example.com/sign-in?clientId=${scene.application.clientId}`;
    for (const query of ['&clientId=console', '&clientId='])
      expect(await refusal(scene.start({ returnTo: own + query }))).toEqual([400, expect.any(String)]);
    const nested = `${own}&returnTo=${encodeURIComponent(RETURN_TO)}`;
    for (const returnTo of [own, nested]) expect((await scene.start({ returnTo })).status).toBe(302);
  });
});

/** Returns the scene on https, without what earlier starts have left. */
async function secureScene(): Promise<Scene> {
  const { db, clock } = secure.instance;
  await db.write(SYSTEM_ACTOR, (unit) => purgeBatch(unit, 'expiredProviderStates', clock.now() + DAY, 1000));
  return secure;
}
