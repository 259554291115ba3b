/** `gatehouse serve --dev` listens only on the developer's own machine. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createBrowser, fragmentOf, passProvider, pathOf } from '../modules/provider/browser.ts';
import { emptyFolder, eventually, request, run, signIn, startServer } from '../support/binary.ts';
import { startOpenIdProvider } from '../support/openid-provider.ts';
import { startReceiver } from '../support/receiver.ts';

setDefaultTimeout(120_000);

const folder = emptyFolder();
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
  folder.remove();
});

async function start(args: string[]) {
  const key = (await run(['key'], { cwd: folder.path })).stdout.trim();
  const provider = await startOpenIdProvider({ accounts: [{ login: 'ada', email: 'ada@example.com' }] });
  const client = args.includes('--dev') ? provider.environment : {};
  const env = { GATEHOUSE_WORKSPACE_KEY: key, ...client };
  const server = await startServer(`${folder.path}/${args.join('')}data`, env, args);
  closing.push(() => server.stop(), provider.stop);
  const admin = (method: string, path: string, body?: unknown) => request(server, method, path, { token: key, body });
  const { id, clientId } = (await admin('POST', '/api/applications', { name: 'Shop' })).json.data;
  await admin('POST', `/api/applications/${id}/publish`);
  await admin('POST', `/api/applications/${id}/go-live`);
  const manage = (method: string, path: string, body?: unknown) =>
    admin(method, `/api/applications/${id}${path}`, body);
  return { server, provider, clientId: clientId as string, manage };
}

test('webhooks, return URLs and identity providers on loopback are accepted and reached', async () => {
  const { server, provider, clientId, manage } = await start(['--dev']);
  const receiver = await startReceiver();
  closing.push(() => receiver.close());

  const returnTo = 'http://localhost:3000/signed-in';
  expect((await manage('PATCH', '', { returnUrls: [returnTo] })).status).toBe(200);
  const local = receiver.url.replace('127.0.0.1', 'localhost');
  for (const url of [receiver.url, local]) {
    const created = await manage('POST', '/webhooks', { url, events: ['user.signed_in'] });
    expect([created.status, created.json.data?.url]).toEqual([200, url]);
    receiver.trust(created.json.data.signingSecret);
    const before = receiver.received.length;
    await signIn(server, `${before}@example.com`, clientId);
    await eventually(`a delivery to ${url}`, () => receiver.received.length > before);
    expect(receiver.received.at(-1)?.event.type).toBe('user.signed_in');
    await manage('DELETE', `/webhooks/${created.json.data.id}`);
  }

  const browser = createBrowser({ call: (method, path, options) => request(server, method, path, options) });
  const query = new URLSearchParams({ clientId, returnTo });
  const started = await browser.visit(`/api/auth/google/start?${query}`);
  const callback = await passProvider(browser, started.headers.get('location') ?? '', { login: 'ada' });
  const { token } = fragmentOf(await browser.visit(pathOf(callback)));
  const session = await request(server, 'POST', '/api/v1/session', { token });
  expect([session.json.ok, session.json.email]).toEqual([true, 'ada@example.com']);

  const own = { issuer: provider.issuer, clientId: provider.clientId, clientSecret: 'a-secret' };
  const configured = await manage('PUT', '/identity-provider', own);
  expect([configured.status, configured.json.fields]).toEqual([200, undefined]);
});

test('a server that is not in dev mode refuses all of them', async () => {
  const { provider, manage } = await start([]);
  const { issuer, clientId } = provider;
  const answers = [
    await manage('PATCH', '', { returnUrls: ['http://localhost:3000/signed-in'] }),
    await manage('POST', '/webhooks', { url: 'http://localhost:3000/hook', events: ['*'] }),
    await manage('PUT', '/identity-provider', { issuer, clientId, clientSecret: 'a-secret' }),
  ];
  const fields = answers.map(({ json }) => json.fields?.[0].path);
  expect(fields).toEqual(['returnUrls.0', 'url', 'issuer']);
});
