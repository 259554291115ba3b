/** The npm package in a Workers runtime: it has what it needs, and admits, refuses and verifies as elsewhere. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packClient } from '@/client/package.ts';
import { type EphemeralServer, startEphemeral } from '@/client/testing.ts';
import { BINARY, cleanEnvironment, collect } from '../support/binary.ts';

setDefaultTimeout(120_000);

/** The runtime itself; the package's own command needs Node and only locates it. */
const WORKERD = createRequire(createRequire(import.meta.url).resolve('workerd')).resolve(
  `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}/bin/workerd`,
);

/** A customer's worker, as deployed. */
const WORKER = `
import { createClient, createVerifier, Refusal, signInUrl, verifyWebhook } from 'gatehouse';

export default {
  async fetch(request, { URL_OF_SERVER: url, API_KEY: apiKey, SECRET }) {
    const { pathname } = new URL(request.url);
    try {
      if (pathname === '/hook') {
        const { type } = await verifyWebhook(await request.text(), request.headers, SECRET);
        return Response.json({ type });
      }
      if (pathname === '/users') {
        const emails = [];
        const client = createClient({ url, apiKey });
        const path = { id: request.headers.get('x-application') };
        for await (const { email } of client.all('/api/applications/{id}/users', { path })) emails.push(email);
        return Response.json(emails);
      }
      if (pathname === '/sign-in')
        return Response.redirect(signInUrl({ url, clientId: 'cli_1', returnTo: 'https://shop.example.com/', state: 's' }));
      const { email, roles } = await createVerifier({ url, apiKey, cookie: 'token' }).requireSession(request);
      return Response.json({ email, roles });
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      throw error;
    }
  },
};
`;

/** The runtime's message on its control channel. */
const LISTENS = /"port":(\d+)/;

/** Allows all networks, since the server of this test is on this machine. */
const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "shop", worker = .shop),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "shop")],
);
const shop :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "gatehouse", esModule = embed "package/gatehouse.js"),
  ],
  bindings = [
    (name = "URL_OF_SERVER", fromEnvironment = "URL_OF_SERVER"),
    (name = "API_KEY", fromEnvironment = "API_KEY"),
    (name = "SECRET", text = "whsec_1"),
  ],
);
`;

describe('in a worker', () => {
  let folder = '';
  let server: EphemeralServer;
  let worker: Bun.Subprocess;
  let origin = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-worker-'));
    const [tarball, started] = await Promise.all([packClient(folder), startEphemeral({ binary: BINARY })]);
    server = started;
    await Bun.$`tar -xzf ${tarball} -C ${folder}`;
    await Promise.all([Bun.write(join(folder, 'worker.js'), WORKER), Bun.write(join(folder, 'config.capnp'), CONFIG)]);
    const child = Bun.spawn([WORKERD, 'serve', 'config.capnp', '--control-fd=1'], {
      cwd: folder,
      env: cleanEnvironment({ URL_OF_SERVER: server.url, API_KEY: server.workspaceKey }),
      stdout: 'pipe',
      stderr: 'inherit',
    });
    worker = child;
    const said = await collect(child.stdout).until(LISTENS);
    origin = `http://127.0.0.1:${LISTENS.exec(said)?.[1]}`;
  });
  afterAll(async () => {
    worker?.kill();
    await Promise.all([worker?.exited, server?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const ask = (path: string, init: RequestInit = {}) => fetch(origin + path, { redirect: 'manual', ...init });

  test('a person with a session is admitted, by bearer or by cookie', async () => {
    const { token } = await server.signIn('ada@example.com');
    for (const headers of [
      new Headers({ authorization: `Bearer ${token}` }),
      new Headers({ cookie: `token=${token}` }),
    ])
      expect(await (await ask('/', { headers })).json()).toEqual({ email: 'ada@example.com', roles: ['user'] });
  });

  test('everyone else is refused', async () => {
    expect((await ask('/')).status).toBe(401);
    const refused = await ask('/', { headers: { authorization: 'Bearer est_0' } });
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'invalid_token' }]);
  });

  test('users are read page by page', async () => {
    await server.signIn('ada@example.com');
    const answer = await ask('/users', { headers: { 'x-application': server.applicationId } });
    expect(await answer.json()).toEqual(['ada@example.com']);
  });

  test('a signed event is accepted, and a forged one is refused', async () => {
    const body = JSON.stringify({ id: 'evt_1', type: 'user.left', data: { userId: 'usr_1' } });
    const t = Math.floor(Date.now() / 1000);
    const v1 = new Bun.CryptoHasher('sha256', 'whsec_1').update(`${t}.${body}`).digest('hex');
    const send = (signature: string) =>
      ask('/hook', { method: 'POST', body, headers: { 'svc-signature': `t=${t},v1=${signature}` } });
    expect(await (await send(v1)).json()).toEqual({ type: 'user.left' });
    expect((await send(v1.replace(/^./, (first) => (first === '0' ? '1' : '0')))).status).toBe(401);
  });

  test('the sign-in URL is built', async () => {
    const { status, headers } = await ask('/sign-in');
    const { origin: of, searchParams } = new URL(headers.get('location') ?? '');
    expect([status, of, searchParams.get('clientId')]).toEqual([302, server.url, 'cli_1']);
    expect(searchParams.get('returnTo')).toBe('https://shop.example.com/?state=s');
  });
});
