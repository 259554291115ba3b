/** The example for Next.js, built and used in a browser: rendered pages know who is signed in, and no script the token. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { leaving } from '../../browser/leaving.ts';
import { freePort } from '../../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../../support/browser.ts';
import { Example, RUNTIME, signInOnPage } from './example.ts';

setDefaultTimeout(300_000);

let example: Example;
let site = '';

beforeAll(async () => {
  example = await Example.install('next');
  const path = { id: example.server.applicationId };
  const { clientSecret } = await example.client.post('/api/applications/{id}/rotate-secret', { path });
  const env = {
    GATEHOUSE: example.server.url,
    CLIENT_ID: example.server.clientId,
    CLIENT_SECRET: clientSecret,
    API_KEY: await example.createKey(),
  };
  const next = [RUNTIME, example.bin('next/dist/bin/next')];
  await example.run([...next, 'build'], env);
  // The build takes so long that another test could take a port chosen before.
  const port = String(freePort());
  site = `http://localhost:${port}`;
  const redirectUris = [`${site}/auth/callback`];
  await example.client.put('/api/applications/{id}/openid', { path, body: { redirectUris } });
  const start = [...next, 'start', '--hostname', 'localhost', '--port', port];
  await example.start(start, { ...env, SITE: site }, /Ready/);
});
afterAll(async () => {
  closeBrowser();
  await example?.end();
});

/** Asks as a browser does when it opens a page. */
const visit = (path: string, token?: string) =>
  fetch(site + path, {
    redirect: 'manual',
    headers: { accept: 'text/html', ...(token !== undefined && { cookie: `gatehouse=${token}` }) },
  });

describe('a person', () => {
  test('opens a protected page, signs in, lands on it, and signs out from the menu', async () => {
    const page = await openBrowserPage();
    await page.open(`${site}/`);
    await page.untilText('main p', /^Hello, whoever you are\.$/);
    expect(await page.text('header a')).toBe('Sign in');
    await leaving(page, () => page.view.click('main a'));
    await signInOnPage(page, example.server, 'ada@example.com');
    await page.untilText('p', /^Orders of ada@example\.com$/);
    expect((await page.address()).href).toBe(`${site}/orders`);

    // Neither scripts nor the address have a token.
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(page.requested.filter((address) => address.includes('est_'))).toEqual([]);
    await page.open(`${site}/`);
    await page.untilText('main p', /^Hello, ada@example\.com$/);
    await page.view.click('summary');
    expect(await page.evaluate<string>(`document.querySelector('details a').href`)).toStartWith(
      `${example.server.url}/account?clientId=`,
    );
    await leaving(page, () => page.view.click('details button'));
    await page.untilText('main p', /^Hello, whoever you are\.$/);
    expect(page.problems).toEqual([]);
    page.close();
  });

  test('comes back to the page where they pressed the button', async () => {
    const page = await openBrowserPage();
    await page.open(`${site}/?from=mail`);
    await page.untilText('header a', /^Sign in$/);
    await leaving(page, () => page.view.click('header a'));
    await signInOnPage(page, example.server, 'bob@example.com');
    await page.untilText('main p', /^Hello, bob@example\.com$/);
    expect((await page.address()).href).toBe(`${site}/?from=mail`);
    page.close();
  });
});

describe('the proxy', () => {
  test('sends a visitor to the sign-in page, and answers other requests 401', async () => {
    const away = await visit('/orders?page=2');
    expect([away.status, new URL(`${away.headers.get('location')}`, site).href]).toEqual([
      307,
      `${site}/auth/sign-in?returnTo=%2Forders%3Fpage%3D2`,
    ]);
    expect((await fetch(`${site}/orders`, { headers: { accept: 'application/json' } })).status).toBe(401);
    expect((await visit('/orders', 'est_0')).status).toBe(307);
  });

  test('refuses who is banned from the next request on', async () => {
    const { token, userId } = await example.server.signIn('mallory@example.com');
    expect((await visit('/orders', token)).status).toBe(200);
    const path = { id: example.server.applicationId, userId };
    await example.client.post('/api/applications/{id}/users/{userId}/ban', { path });
    expect((await visit('/orders', token)).status).toBe(403);
    expect(await (await visit('/', token)).text()).toContain('whoever you are');
  });
});

describe('a page and a route handler', () => {
  test('for a role are not there for people without it', async () => {
    const { token } = await example.server.signIn('carol@example.com');
    expect((await visit('/editors', token)).status).toBe(404);
    const editor = await example.signInAs('dora@example.com', 'editor');
    expect(await (await visit('/editors', editor.token)).text()).toContain('dora@example.com');
    const away = await visit('/editors');
    expect([away.status, away.headers.get('location')]).toEqual([307, '/auth/sign-in?returnTo=%2Feditors']);

    const call = (method: string, bearer?: string) =>
      fetch(`${site}/api/me`, { method, headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } });
    expect(await (await call('GET', token)).json()).toEqual({ email: 'carol@example.com' });
    expect((await call('GET')).status).toBe(401);
    const refused = await call('POST', token);
    expect([refused.status, (await refused.json()).error]).toEqual([403, 'missing_role']);
    expect(await (await call('POST', editor.token)).json()).toEqual({ published: true });
  });

  test('of a change by cookie from another site is refused', async () => {
    const editor = await example.server.signIn('dora@example.com');
    const headers = { cookie: `gatehouse=${editor.token}`, 'sec-fetch-site': 'cross-site' };
    expect((await fetch(`${site}/api/me`, { method: 'POST', headers })).status).toBe(403);
  });
});

test('the sign-in routes are three', async () => {
  expect((await fetch(`${site}/auth/nothing`)).status).toBe(404);
  expect((await fetch(`${site}/auth/sign-out`)).status).toBe(404);
  expect((await fetch(`${site}/auth/callback?code=eac_1&state=x`)).status).toBe(400);
});
