/** The example APIs in each language, run as their READMEs say: whom they admit, and which events they take. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { freePort, type Output } from '../../support/binary.ts';
import { Example, RUNTIME } from './example.ts';

setDefaultTimeout(120_000);

const python = Bun.which('python3');
const hasFastApi = python !== null && Bun.spawnSync([python, '-c', 'import fastapi, uvicorn']).success;
const go = Bun.which('go');

const apis = [
  { name: 'express', isHere: true, command: () => [RUNTIME, 'server.js'] },
  {
    name: 'fastapi',
    isHere: hasFastApi,
    command: (port: string) => [`${python}`, '-m', 'uvicorn', 'main:app', '--port', port],
  },
  { name: 'go', isHere: go !== null, command: () => [`${go}`, 'run', '.'] },
];

for (const { name, isHere, command } of apis)
  describe.skipIf(!isHere)(`${name}${isHere ? '' : ' (its tools are not on this machine)'}`, () => {
    let example: Example;
    let site = '';
    let output: Output;

    beforeAll(async () => {
      example = await Example.install(name);
      const PORT = String(freePort());
      site = `http://127.0.0.1:${PORT}`;
      const path = { id: example.server.applicationId };
      const body = { url: `${site}/hook`, events: ['*'] as const };
      const hook = await example.client.post('/api/applications/{id}/webhooks', {
        path,
        body: { ...body, events: [...body.events] },
      });
      output = await example.start(
        command(PORT),
        {
          GATEHOUSE: example.server.url,
          API_KEY: await example.createKey(),
          SIGNING_SECRET: hook.signingSecret,
          PORT,
          HOME: `${process.env['HOME']}`,
        },
        /Listening|Uvicorn running/,
      );
    });
    afterAll(() => example?.end());

    test('knows who is calling', async () => {
      const { token } = await example.signInAs('ada@example.com', 'editor');
      const me = (authorization?: string) =>
        fetch(`${site}/me`, authorization === undefined ? {} : { headers: { authorization } });
      expect(await (await me(`Bearer ${token}`)).json()).toEqual({ email: 'ada@example.com', roles: ['editor'] });
      for (const wrong of [undefined, 'Bearer', 'Bearer est_0', `Basic ${token}`]) {
        const refused = await me(wrong);
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Bearer/),
        ]);
      }
    });

    test('lets only editors publish', async () => {
      const { token, userId } = await example.server.signIn('ada@example.com');
      const publish = (bearer: string) =>
        fetch(`${site}/articles`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: '{"title":"Tea"}',
        });
      const article = await publish(token);
      expect([article.status, await article.json()]).toEqual([201, { title: 'Tea', author: userId }]);
      const bob = await example.server.signIn('bob@example.com');
      expect((await publish(bob.token)).status).toBe(403);
    });

    test('refuses who is banned from the next request on', async () => {
      const { token, userId } = await example.server.signIn('mallory@example.com');
      const path = { id: example.server.applicationId, userId };
      await example.client.post('/api/applications/{id}/users/{userId}/ban', { path });
      expect((await fetch(`${site}/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(403);
    });

    test('takes signed events alone', async () => {
      await output.until(/user\.signed_in/);
      const body = '{"id":"evt_1","type":"user.left","data":{}}';
      for (const signature of [
        '',
        't=1,v1=00',
        `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`,
        'v1=ä,t=x',
      ]) {
        const headers = { 'svc-signature': encodeURI(signature), 'content-type': 'application/json' };
        expect((await fetch(`${site}/hook`, { method: 'POST', body, headers })).status).toBe(401);
      }
    });

    test('admits nobody while the server is away', async () => {
      const { token } = await example.server.signIn('ada@example.com');
      await example.server.stop();
      expect((await fetch(`${site}/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(503);
    });
  });
