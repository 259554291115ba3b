/** Runs the example project as its README says: installed, started, and used in a browser. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '@/client/gatehouse.ts';
import { packClient } from '@/client/package.ts';
import { startEphemeral } from '@/client/testing.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { leaving } from '../../browser/leaving.ts';
import { BINARY, cleanEnvironment, collect, freePort } from '../../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../../support/browser.ts';
import { RUNTIME, signInOnPage } from './example.ts';

setDefaultTimeout(120_000);

const EXAMPLE = resolve(import.meta.dir, '../../../src/client/examples/shop');
const CUSTOMER = 'ada@example.com';

const folder = await mkdtemp(join(tmpdir(), 'gatehouse-example-'));
const server = await startEphemeral({ binary: BINARY });
const processes: Bun.Subprocess[] = [];
afterAll(async () => {
  closeBrowser();
  for (const child of processes) child.kill('SIGTERM');
  await Promise.all(processes.map((child) => child.exited));
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function install(): Promise<void> {
  await cp(EXAMPLE, folder, { recursive: true });
  const tarball = await packClient(folder);
  const installing = Bun.which('npm') ? ['npm', 'install', '--offline', '--no-audit'] : [process.execPath, 'add'];
  const child = Bun.spawn([...installing, tarball], { cwd: folder, stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(said);
}

/** Performs the README's manual steps. */
async function prepare(shop: string): Promise<Record<string, string>> {
  const client = createClient({ url: server.url, apiKey: server.workspaceKey });
  const path = { id: server.applicationId };
  await client.patch('/api/applications/{id}', { path, body: { returnUrls: [`${shop}/`] } });
  const key = await client.post('/api/applications/{id}/api-keys', { path, body: { name: 'shop', access: 'read' } });
  const url = `${shop}/hook`;
  const hook = await client.post('/api/applications/{id}/webhooks', { path, body: { url, events: ['*'] } });
  return {
    GATEHOUSE: server.url,
    CLIENT_ID: server.clientId,
    API_KEY: key.token,
    SIGNING_SECRET: hook.signingSecret,
    PORT: new URL(shop).port,
  };
}

test('the shop depends only on the package, and every example on the file of this version: a registry has another’s', async () => {
  const file = `file:gatehouse-${manifest.version}.tgz`;
  const manifests = [...new Bun.Glob('*/package.json').scanSync(join(EXAMPLE, '..'))];
  expect(manifests.length).toBeGreaterThanOrEqual(4);
  for (const path of manifests)
    expect([path, (await Bun.file(join(EXAMPLE, '..', path)).json()).dependencies.gatehouse]).toEqual([path, file]);
  const { dependencies } = await Bun.file(join(EXAMPLE, 'package.json')).json();
  expect(dependencies).toEqual({ gatehouse: file });
});

test('a customer signs in, the backend recognises them, and the shop receives the event', async () => {
  const shop = `http://localhost:${freePort()}`;
  const [environment] = await Promise.all([prepare(shop), install()]);
  const child = Bun.spawn([RUNTIME, 'server.js'], { cwd: folder, env: cleanEnvironment(environment), stdout: 'pipe' });
  processes.push(child);
  const output = collect(child.stdout);
  await output.until(/The shop is open/);

  const page = await openBrowserPage();
  await page.open(shop);
  await page.untilText('p', /^nobody$/);
  await leaving(page, () => page.view.click('a'));
  await signInOnPage(page, server, CUSTOMER);
  await page.untilText('p', /^ada@example\.com: user$/);
  expect((await page.address()).href).toBe(`${shop}/`);
  await output.until(/user\.signed_in/);

  // A ban takes effect at the very next call.
  const client = createClient({ url: server.url, apiKey: server.workspaceKey });
  const { userId } = await server.signIn(CUSTOMER);
  await client.post('/api/applications/{id}/users/{userId}/ban', { path: { id: server.applicationId, userId } });
  const token = await page.evaluate<string>('sessionStorage.getItem("token")');
  const me = await fetch(`${shop}/me`, { headers: { authorization: `Bearer ${token}` } });
  expect([me.status, await me.json()]).toMatchObject([403, { error: 'membership_blocked' }]);
  await output.until(/user\.banned/);
  page.close();

  // A link with another person's token, in a tab without a sign-in, and in one with a different sign-in.
  const { token: foreign } = await server.signIn('eve@example.com');
  const stranger = await openBrowserPage();
  for (const query of ['', '?state=', '?state=1']) {
    await stranger.open('about:blank');
    await stranger.open(`${shop}/${query}#token=${foreign}&expiresAt=x`);
    await stranger.untilText('p', /^state_mismatch$/);
    expect(await stranger.evaluate('sessionStorage.getItem("token")')).toBeNull();
    expect((await stranger.address()).href).toBe(`${shop}/`);
  }
  expect(stranger.problems).toEqual([]);
  stranger.close();

  expect((await fetch(`${shop}/me`)).status).toBe(401);
  const forged = await fetch(`${shop}/hook`, { method: 'POST', body: '{}', headers: { 'svc-signature': 't=1,v1=00' } });
  expect(forged.status).toBe(401);
});
