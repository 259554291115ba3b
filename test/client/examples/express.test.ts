/** The example for Express, run as its README says. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { freePort } from '../../support/binary.ts';
import { Example, RUNTIME } from './example.ts';

setDefaultTimeout(120_000);

let example: Example;
beforeAll(async () => {
  example = await Example.install('express');
});
afterAll(() => example.end());

test('an API knows who is calling, what they may do, and receives events', async () => {
  const { server } = example;
  const PORT = String(freePort());
  const site = `http://localhost:${PORT}`;
  const path = { id: server.applicationId };
  const url = `http://127.0.0.1:${PORT}/hook`;
  const hook = await example.client.post('/api/applications/{id}/webhooks', { path, body: { url, events: ['*'] } });
  const API_KEY = await example.createKey();
  const env = { GATEHOUSE: server.url, API_KEY, SIGNING_SECRET: hook.signingSecret, PORT };
  const output = await example.start([RUNTIME, 'server.js'], env, /Listening/);

  const { token, userId } = await example.signInAs('ada@example.com', 'editor');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const me = await fetch(`${site}/me`, { headers });
  expect(await me.json()).toEqual({ email: 'ada@example.com', roles: ['editor'] });
  const article = await fetch(`${site}/articles`, { method: 'POST', headers, body: '{"title":"Tea"}' });
  expect([article.status, await article.json()]).toEqual([201, { title: 'Tea', author: userId }]);

  const bob = await server.signIn('bob@example.com');
  const refused = { authorization: `Bearer ${bob.token}` };
  expect((await fetch(`${site}/articles`, { method: 'POST', headers: refused })).status).toBe(403);
  expect((await fetch(`${site}/me`)).status).toBe(401);
  await output.until(/user\.signed_in/);
  const forged = await fetch(`${site}/hook`, { method: 'POST', body: '{}', headers: { 'svc-signature': 't=1,v1=00' } });
  expect(forged.status).toBe(401);
});
