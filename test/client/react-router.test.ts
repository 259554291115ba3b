/** The adapter for React Router, in the router that its server uses. */
import { describe, expect, test } from 'bun:test';
import {
  createContext,
  createStaticHandler,
  type LoaderFunctionArgs,
  RouterContextProvider,
  type StaticHandlerContext,
} from 'react-router';
import type { Fetch } from '@/client/exchange.ts';
import type { Identity } from '@/client/gatehouse.ts';
import { gatehouse } from '@/client/react-router.ts';
import { createInstance } from '../support/instance.ts';

const SHOP = 'https://shop.example.com';

async function createScene() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  const { token: apiKey } = await instance.createKey(shop.id, { access: 'read' });
  const ada = await instance.signIn(shop.clientId, 'ada@example.com');
  const network = { isDown: false };
  const fetch: Fetch = async (url, init) => {
    if (network.isDown) throw new TypeError('connection refused');
    return instance.app.fetch(new Request(url, init));
  };
  const auth = gatehouse<'editor' | 'user'>({
    url: 'http://localhost',
    clientId: shop.clientId,
    clientSecret: 'esk_secret',
    apiKey,
    redirectUri: `${SHOP}/auth/callback`,
    fetch,
  });
  const identityContext = createContext<Identity | null>(null);
  const reached: string[] = [];
  const { query, queryRoute } = createStaticHandler([
    { id: 'open', path: '/', loader: async (route) => ({ email: (await auth.user(route))?.email ?? 'nobody' }) },
    {
      id: 'orders',
      path: '/orders',
      loader: async (route) => ({ email: (await auth.requireUser(route)).email }),
      action: async (route) => ({ email: (await auth.requireUser(route)).email }),
    },
    { id: 'editors', path: '/editors', loader: (route) => auth.requireUser(route, { role: 'editor' }) },
    {
      id: 'account',
      path: '/account',
      middleware: [auth.middleware(identityContext)],
      children: [
        {
          id: 'profile',
          path: 'profile',
          loader: ({ context }: LoaderFunctionArgs) => {
            reached.push('profile');
            return { email: (context as RouterContextProvider).get(identityContext)?.email };
          },
        },
      ],
    },
    { id: 'sign-in', path: '/auth/sign-in', loader: auth.signIn },
    { id: 'callback', path: '/auth/callback', loader: auth.callback },
    { id: 'sign-out', path: '/auth/sign-out', action: auth.signOut },
  ]);
  const requestFor = (path: string, { token, method = 'GET', ...headers }: Record<string, string> = {}) =>
    new Request(SHOP + path, {
      method,
      headers: { ...headers, ...(token && { cookie: `__Host-gatehouse=${token}` }) },
      ...(method === 'POST' && { body: new URLSearchParams({ a: '1' }) }),
    });
  /** Loads a page as the framework's server does, middleware included. */
  async function load(path: string, given: Record<string, string> = {}): Promise<StaticHandlerContext | Response> {
    const result = await query(requestFor(path, given), {
      requestContext: new RouterContextProvider(),
      generateMiddlewareResponse: async (run) => {
        const loaded = await run(requestFor(path, given));
        if (loaded instanceof Response) return loaded;
        return Response.json({ data: loaded.loaderData, acted: loaded.actionData, errors: loaded.errors });
      },
    });
    return result;
  }
  return { instance, ada, network, load, requestFor, queryRoute, reached };
}

const dataOf = async (result: StaticHandlerContext | Response) =>
  result instanceof Response
    ? ((await result.json()) as { data: unknown; acted: unknown })
    : { data: null, acted: null };

describe('a loader', () => {
  test('knows who is signed in, and works for visitors', async () => {
    const { load, ada } = await createScene();
    expect((await dataOf(await load('/'))).data).toEqual({ open: { email: 'nobody' } });
    expect((await dataOf(await load('/', { token: ada.token }))).data).toEqual({ open: { email: 'ada@example.com' } });
    expect((await dataOf(await load('/', { token: 'est_0' }))).data).toEqual({ open: { email: 'nobody' } });
  });

  test('sends a visitor to the sign-in as a document, and back to the page', async () => {
    const { load, ada } = await createScene();
    const away = (await load('/orders?page=2')) as Response;
    expect([away.status, away.headers.get('location')]).toEqual([302, '/auth/sign-in?returnTo=%2Forders%3Fpage%3D2']);
    expect(away.headers.get('x-remix-reload-document')).toBe('true');
    const { data } = await dataOf(await load('/orders', { token: ada.token }));
    expect(data).toEqual({ orders: { email: 'ada@example.com' } });
  });

  test('answers 403 to people without the role, and 503 without a verdict', async () => {
    const { queryRoute, requestFor, ada, network } = await createScene();
    const statusOf = (path: string, routeId: string) =>
      queryRoute(requestFor(path, { token: ada.token }), { routeId, requestContext: new RouterContextProvider() }).then(
        () => 200,
        (thrown: unknown) => (thrown instanceof Response ? thrown.status : thrown),
      );
    expect(await statusOf('/orders', 'orders')).toBe(200);
    expect(await statusOf('/editors', 'editors')).toBe(403);
    network.isDown = true;
    expect(await statusOf('/orders', 'orders')).toBe(503);
    expect(await statusOf('/', 'open')).toBe(503);
  });
});

describe('an action', () => {
  test('is refused without a session, and from another site', async () => {
    const { load, ada } = await createScene();
    const post = { method: 'POST' };
    const { acted } = await dataOf(await load('/orders', { ...post, token: ada.token }));
    expect(acted).toEqual({ orders: { email: 'ada@example.com' } });
    for (const [given, status] of [
      [post, 401],
      [{ ...post, token: ada.token, 'sec-fetch-site': 'cross-site' }, 403],
    ] as const) {
      const answer = (await load('/orders', given)) as Response;
      const { errors } = (await answer.json()) as { errors: Record<string, { status: number }> };
      expect(errors['orders']?.status).toBe(status);
    }
  });
});

describe('middleware', () => {
  test('gives the identity to all loaders below it, and lets none run without one', async () => {
    const { load, ada, reached } = await createScene();
    const { data } = await dataOf(await load('/account/profile', { token: ada.token }));
    expect(data).toMatchObject({ profile: { email: 'ada@example.com' } });
    const away = (await load('/account/profile')) as Response;
    expect([away.status, away.headers.get('location')]).toEqual([302, '/auth/sign-in?returnTo=%2Faccount%2Fprofile']);
    expect(reached).toEqual(['profile']);
  });
});

test('the routes of a sign-in are loaders and an action', async () => {
  const { queryRoute, requestFor, ada, instance } = await createScene();
  const ask = (path: string, routeId: string, given?: Record<string, string>) =>
    queryRoute(requestFor(path, given), { routeId, requestContext: new RouterContextProvider() }) as Promise<Response>;
  const begun = await ask('/auth/sign-in?returnTo=/orders', 'sign-in').catch((thrown: Response) => thrown);
  expect(begun.headers.get('location')).toStartWith('http://localhost/oauth/authorize?response_type=code');
  const refused = await ask('/auth/callback?code=eac_1&state=x', 'callback').catch((thrown: Response) => thrown);
  expect(refused.status).toBe(400);
  const left = await ask('/auth/sign-out', 'sign-out', { method: 'POST', token: ada.token }).catch(
    (thrown: Response) => thrown,
  );
  expect([left.status, left.headers.get('location')]).toEqual([303, `${SHOP}/`]);
  const verdict = await instance.call('POST', '/api/v1/verify', {
    token: instance.workspaceKey,
    body: { token: ada.token },
  });
  expect(verdict.json.errorMessage).toBe('revoked');
});
