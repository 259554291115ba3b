/** The adapters of frameworks, each in the real framework: whom they admit, and what everybody else is answered. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Elysia } from 'elysia';
import express, { type ErrorRequestHandler } from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { gatehouse as forElysia } from '@/client/elysia.ts';
import type { Fetch } from '@/client/exchange.ts';
import { gatehouse as forExpress, respond, webhook as expressWebhook } from '@/client/express.ts';
import { gatehouse as forFastify, webhook as fastifyWebhook } from '@/client/fastify.ts';
import { Refusal, type VerifierOptions, verifyWebhook, type WebhookEvent } from '@/client/gatehouse.ts';
import { gatehouse as forHono } from '@/client/hono.ts';
import { createSignIn } from '@/client/sign-in.ts';
import { signatureHeader } from '@/modules/webhooks/signature.ts';
import { createInstance } from '../support/instance.ts';

const SECRET = 'whsec_one';
const COOKIE = 'session';
type Role = 'editor' | 'admin';

/** A server of a customer, with the same routes in each framework. */
interface Site {
  readonly url: string;
  stop(): unknown;
}

type OnEvent = (event: WebhookEvent) => void;

const sites: Record<string, (options: VerifierOptions, onEvent: OnEvent) => Promise<Site>> = {
  async Express(options, onEvent) {
    const { requireSession, requireRole, requireScope, findSession, identityOf } = forExpress<Role>(options);
    const app = express();
    app.post('/hook', expressWebhook(SECRET, onEvent));
    app.use(express.json());
    app.post('/parsed', expressWebhook(SECRET, onEvent));
    app.get('/me', requireSession(), (request, response) => void response.json(request.identity));
    app.post('/me', requireSession(), (request, response) => void response.json(identityOf(request)));
    app.get('/edit', requireRole(['editor', 'admin']), (request, response) => {
      response.json(identityOf(request).roles);
    });
    app.get('/admin', requireRole('admin'), (_request, response) => void response.end('admitted'));
    app.get('/orders', requireScope('orders:write'), (_request, response) => void response.end('admitted'));
    app.get('/open', findSession(), (request, response) => void response.json(request.identity?.email ?? 'nobody'));
    app.get('/forgotten', (request, response) => void response.json(identityOf(request)));
    const failed: ErrorRequestHandler = (error, _request, response, _next) => void response.status(500).end(`${error}`);
    app.use(failed);
    const server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
  },

  async Fastify(options, onEvent) {
    const { requireSession, requireRole, requireScope, findSession, identityOf } = forFastify<Role>(options);
    const app = Fastify();
    app.register(fastifyWebhook('/hook', SECRET, onEvent));
    app.get('/me', { onRequest: requireSession() }, async (request) => request.identity);
    app.post('/me', { onRequest: requireSession() }, async (request) => identityOf(request));
    app.get('/edit', { onRequest: requireRole(['editor', 'admin']) }, async (request) => identityOf(request).roles);
    app.get('/admin', { preHandler: requireRole('admin') }, async () => 'admitted');
    app.get('/orders', { onRequest: requireScope('orders:write') }, async () => 'admitted');
    app.get('/open', { onRequest: findSession() }, async (request) =>
      JSON.stringify(request.identity?.email ?? 'nobody'),
    );
    app.get('/forgotten', async (request) => identityOf(request));
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), stop: () => app.close() };
  },

  async Hono(options, onEvent) {
    const { requireSession, requireRole, requireScope, findSession } = forHono<Role>(options);
    const app = new Hono()
      .get('/me', requireSession(), (context) => context.json(context.get('identity')))
      .post('/me', requireSession(), (context) => context.json(context.get('identity')))
      .get('/edit', requireRole(['editor', 'admin']), (context) => context.json(context.var.identity.roles))
      .get('/admin', requireRole('admin'), (context) => context.text('admitted'))
      .get('/orders', requireScope('orders:write'), (context) => context.text('admitted'))
      .get('/open', findSession(), (context) => context.json(context.var.identity?.email ?? 'nobody'))
      .post('/hook', async (context) => {
        onEvent(await verifyWebhook(await context.req.arrayBuffer(), context.req.raw.headers, SECRET));
        return context.body('');
      })
      .onError((error) => (error instanceof Refusal ? error.response : new Response(`${error}`, { status: 500 })));
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch });
    return { url: server.url.origin, stop: () => server.stop(true) };
  },

  async Elysia(options, onEvent) {
    const { requireSession, requireRole, requireScope, findSession } = forElysia<Role>(options);
    const app = new Elysia()
      .use(
        new Elysia()
          .resolve(requireSession())
          .get('/me', ({ identity }) => identity)
          .post('/me', ({ identity }) => identity),
      )
      .use(new Elysia().resolve(requireRole(['editor', 'admin'])).get('/edit', ({ identity }) => identity.roles))
      .use(new Elysia().resolve(requireRole('admin')).get('/admin', () => 'admitted'))
      .use(new Elysia().resolve(requireScope('orders:write')).get('/orders', () => 'admitted'))
      .use(
        new Elysia().resolve(findSession()).get('/open', ({ identity }) => JSON.stringify(identity?.email ?? 'nobody')),
      )
      .post(
        '/hook',
        async ({ request }) => {
          try {
            onEvent(await verifyWebhook(await request.arrayBuffer(), request.headers, SECRET));
            return '';
          } catch (error) {
            if (error instanceof Refusal) return error.response;
            throw error;
          }
        },
        { parse: 'none' },
      )
      .listen({ port: 0, hostname: '127.0.0.1' });
    return { url: `http://127.0.0.1:${app.server?.port}`, stop: () => app.stop(true) };
  },
};

async function createScene() {
  const instance = await createInstance();
  const shop = await instance.createApplication({ name: 'Shop' });
  const ada = await instance.signIn(shop.clientId, 'ada@example.com');
  const { token: apiKey } = await instance.createKey(shop.id, { access: 'read' });
  const root = `/api/applications/${shop.id}`;
  await instance.call('POST', `${root}/roles`, { token: instance.workspaceKey, body: { slug: 'editor' } });
  const body = { roles: ['editor'] };
  await instance.call('PUT', `${root}/users/${ada.userId}/roles`, { token: instance.workspaceKey, body });
  const down = { isDown: false };
  const fetch: Fetch = async (url, init) => {
    if (down.isDown) throw new TypeError('connection refused');
    return instance.app.fetch(new Request(url, init));
  };
  return { instance, shop, ada, down, options: { url: 'http://localhost', apiKey, cookie: COOKIE, fetch } };
}

const EVENT = JSON.stringify({ id: 'evt_1', type: 'user.left', data: { userId: 'usr_1' } });
const signed = (body = EVENT) => ({
  'svc-signature': signatureHeader([SECRET], Math.floor(Date.now() / 1000), body),
  'content-type': 'application/json',
});

describe.each(Object.keys(sites))('in %s', (name) => {
  let scene: Awaited<ReturnType<typeof createScene>>;
  let site: Site;
  const events: WebhookEvent[] = [];

  beforeAll(async () => {
    scene = await createScene();
    site = await sites[name]!(scene.options, (event) => {
      if (event.id === 'evt_fails') throw new Error('the database is down');
      events.push(event);
    });
  });
  afterAll(() => site.stop());

  const ask = (path: string, init: RequestInit = {}) => fetch(site.url + path, init);
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test('a person with a session is admitted, by bearer or by cookie, with their identity', async () => {
    for (const headers of [as(scene.ada.token).headers, { cookie: `${COOKIE}=${scene.ada.token}` }])
      for (const method of ['GET', 'POST']) {
        const answer = await ask('/me', { method, headers });
        expect([answer.status, (await answer.json()).userId]).toEqual([200, scene.ada.userId]);
      }
  });

  test('everyone else is answered 401 with a challenge, and the handler does not run', async () => {
    for (const [headers, reason] of [
      [{}, 'no_token'],
      [as('est_0').headers, 'invalid_token'],
      [{ cookie: `${COOKIE}=est_0` }, 'invalid_token'],
    ] as const)
      for (const path of ['/me', '/edit', '/admin', '/orders']) {
        const answer = await ask(path, { headers });
        expect([answer.status, (await answer.json()).error]).toEqual([401, reason]);
        expect(answer.headers.get('www-authenticate')).toStartWith('Bearer');
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
  });

  test('a change by cookie from another site is refused', async () => {
    const headers = { cookie: `${COOKIE}=${scene.ada.token}`, 'sec-fetch-site': 'cross-site' };
    const answer = await ask('/me', { method: 'POST', headers });
    expect([answer.status, (await answer.json()).error]).toEqual([403, 'cross_site']);
  });

  test('a role or scope that the person lacks is 403', async () => {
    const edit = await ask('/edit', as(scene.ada.token));
    expect([edit.status, await edit.json()]).toEqual([200, ['editor']]);
    const admin = await ask('/admin', as(scene.ada.token));
    expect([admin.status, (await admin.json()).error]).toEqual([403, 'missing_role']);
    const orders = await ask('/orders', as(scene.ada.token));
    expect([orders.status, (await orders.json()).error]).toEqual([403, 'missing_scope']);
    expect(orders.headers.get('www-authenticate')).toContain('insufficient_scope');
  });

  test('a page for everyone knows who is signed in', async () => {
    expect(await (await ask('/open', as(scene.ada.token))).json()).toBe('ada@example.com');
    expect(await (await ask('/open')).json()).toBe('nobody');
    expect(await (await ask('/open', as('est_0'))).json()).toBe('nobody');
  });

  test('without a verdict nobody is admitted: 503', async () => {
    scene.down.isDown = true;
    try {
      for (const path of ['/me', '/admin', '/open']) {
        const answer = await ask(path, as(scene.ada.token));
        expect([answer.status, (await answer.json()).error]).toEqual([503, 'unavailable']);
      }
    } finally {
      scene.down.isDown = false;
    }
  });

  test('a signed event is taken, and a forged or changed one is answered 401', async () => {
    events.length = 0;
    const hook = (init: RequestInit) => ask('/hook', { method: 'POST', ...init });
    expect((await hook({ body: EVENT, headers: signed() })).status).toBe(200);
    expect(events.map(({ id }) => id)).toEqual(['evt_1']);
    for (const forgery of [
      { body: EVENT },
      { body: `${EVENT} `, headers: signed() },
      { headers: signed() },
      { body: EVENT, headers: { ...signed(), 'svc-signature': `t=1,v1=${'0'.repeat(64)}` } },
      {
        body: 'x'.repeat(3 * 1024 * 1024),
        headers: { 'content-type': 'text/plain', 'svc-signature': signed()['svc-signature'] },
      },
    ])
      expect([401, 413]).toContain((await hook(forgery)).status);
    expect(events).toHaveLength(1);
  });

  test('an event whose handler fails is answered 500, so that it is sent again', async () => {
    const body = EVENT.replace('evt_1', 'evt_fails');
    const answer = await ask('/hook', { method: 'POST', body, headers: signed(body) });
    expect(answer.status).toBe(500);
  });
});

describe('in Express', () => {
  test('the routes of a sign-in are middleware', async () => {
    const { options, ada } = await createScene();
    const redirectUri = 'http://localhost:3000/auth/callback';
    const signIn = createSignIn({ url: options.url, clientId: 'cli_1', redirectUri, fetch: options.fetch });
    const app = express();
    app.get('/auth/sign-in', respond(signIn.begin));
    app.get('/auth/callback', respond(signIn.finish));
    app.post('/auth/sign-out', respond(signIn.end));
    const server = createServer(app).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init });
    const begun = await ask('/auth/sign-in?returnTo=/orders');
    expect([begun.status, begun.headers.getSetCookie()]).toEqual([302, [expect.stringMatching(/^gatehouse-sign-in=/)]]);
    expect(begun.headers.get('location')).toStartWith('http://localhost/oauth/authorize?');
    const refused = await ask('/auth/callback?code=eac_1&state=x');
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('state_mismatch')]);
    const left = await ask('/auth/sign-out', { method: 'POST', headers: { cookie: `gatehouse=${ada.token}` } });
    expect([left.status, left.headers.getSetCookie()]).toEqual([303, [expect.stringContaining('Max-Age=0')]]);
    server.close();
  });

  test('a webhook after express.json() says that it needs the raw body', async () => {
    const { options } = await createScene();
    const site = await sites['Express']!(options, () => {});
    const answer = await fetch(`${site.url}/parsed`, { method: 'POST', body: EVENT, headers: signed() });
    expect([answer.status, (await answer.json()).message]).toEqual([401, expect.stringContaining('raw body')]);
    const forgotten = await fetch(`${site.url}/forgotten`);
    expect([forgotten.status, await forgotten.text()]).toEqual([500, expect.stringContaining('put requireSession()')]);
    site.stop();
  });
});

test('a wrong set-up is refused when the adapter is made', () => {
  for (const adapter of [forExpress, forFastify, forHono, forElysia])
    expect(() => adapter({ url: '', apiKey: 'eak_0' })).toThrow(/url is empty.*GATEHOUSE/);
  const unset = /^webhook: secret is (?:empty|missing)\. Check the environment variable SIGNING_SECRET\.$/;
  for (const secret of ['', [], ['whsec_1', '']]) {
    expect(() => expressWebhook(secret, () => {})).toThrow(unset);
    expect(() => fastifyWebhook('/hook', secret, () => {})).toThrow(unset);
  }
});
