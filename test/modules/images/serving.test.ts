/** Serving pictures in public: caching, security headers, and membership of the application. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { MembershipStatus } from '@/store/members.ts';
import * as given from '../../support/given.ts';
import { BLUE, png, RED } from './pictures.ts';
import { createWorld, type World } from './world.ts';

let world: World;
let url: string;
let version: number;

beforeAll(async () => {
  world = await createWorld();
  await world.put(
    'banner',
    png(300, 100, () => BLUE),
  );
  const { data } = (
    await world.put(
      'avatar',
      png(300, 200, () => RED),
    )
  ).json;
  ({ url } = data);
  version = Date.parse(data.updatedAt);
});

const path = (slug: string, file: string, userId = world.userId) => `/cdn/${slug}/users/${userId}/${file}`;
const cacheOf = (response: Response) => response.headers.get('cache-control');

const CURRENT = 'public, max-age=31536000, immutable';
const OUTDATED = 'public, max-age=60';

const changedTo =
  (status: MembershipStatus) =>
  ({ instance, application, userId }: World) =>
    given.member(instance, application.id, userId, { status });

describe('an image variant', () => {
  test('is served with its type, caching and security headers', async () => {
    const response = await world.get(url);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/webp',
      'cache-control': CURRENT,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"avatar-256-${version}"`,
    });
    expect(await response.bytes()).toEqual(new Uint8Array(world.stored('avatar')[1]!.bytes));
  });

  test('of every size and kind is available at its URL', async () => {
    for (const kind of ['avatar', 'banner'] as const) {
      const stored = world.stored(kind);
      for (const { size, bytes } of stored) {
        const response = await world.get(`${path('shop', `${kind}-${size}.webp`)}?v=${stored[0]!.updatedAt}`);
        expect([response.status, cacheOf(response)]).toEqual([200, CURRENT]);
        expect(await response.bytes()).toEqual(new Uint8Array(bytes));
      }
    }
  });

  test('is answered with a 304 when the client has it', async () => {
    const etag = `"avatar-256-${version}"`;
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await world.get(url, { headers: { 'if-none-match': header } });
      expect([response.status, await response.text()]).toEqual([304, '']);
      expect([response.headers.get('etag'), cacheOf(response)]).toEqual([etag, CURRENT]);
    }
    const response = await world.get(url, { headers: { 'if-none-match': `"avatar-256-${version - 1}"` } });
    expect(response.status).toBe(200);
  });

  test('is cached forever only under its current version', async () => {
    for (const query of ['', '?v=', `?v=${version - 1}`, `?v=${version + 1}`, `?v=0${version}`, '?w=1']) {
      const response = await world.get(path('shop', `avatar-256.webp${query}`));
      expect([query, response.status, cacheOf(response)]).toEqual([query, 200, OUTDATED]);
    }
  });

  test('is available to HEAD with the same headers and no body', async () => {
    const response = await world.get(url, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect([response.headers.get('content-type'), cacheOf(response)]).toEqual(['image/webp', CURRENT]);
    expect((await world.get(path('shop', 'avatar-1.webp'), { method: 'HEAD' })).status).toBe(404);
  });
});

describe('a picture', () => {
  test.each([
    'avatar-512.webp',
    'avatar-0256.webp',
    'avatar-256.png',
    'avatar-256',
    'banner-256.webp',
    'constructor',
    '..%2f..%2fgatehouse.db',
    'avatar-256.webp%00',
  ])('is a 404 under the unknown name %s', async (file) => {
    expect((await world.get(path('shop', file))).status).toBe(404);
  });

  test('is the same 404 in an unknown application and in one without the person', async () => {
    const tenant = await given.tenant(world.instance);
    const foreigner = await world.instance.signIn(tenant.application.clientId, 'eve@example.com');
    const { status } = await world.put(
      'avatar',
      png(9, 9, () => RED),
      { token: foreigner.token },
    );
    expect(status).toBe(200);
    const none = await (await world.get(path('none', 'avatar-256.webp'))).json();
    for (const [slug, userId] of [
      [tenant.application.slug, world.userId],
      ['shop', foreigner.userId],
      ['console', world.userId],
      ['shop', 'usr_01h455vb4pex5vsknk084sn02q'],
    ] as const) {
      const response = await world.get(path(slug, 'avatar-256.webp', userId));
      expect([slug, response.status, cacheOf(response)]).toEqual([slug, 404, 'no-store']);
      expect({ ...((await response.json()) as object), requestId: '' }).toEqual({ ...(none as object), requestId: '' });
    }
    expect((await world.get(path(tenant.application.slug, 'avatar-256.webp', foreigner.userId))).status).toBe(200);
    expect((await world.get(path('other', 'avatar-256.webp'))).status).toBe(200);
  });

  test.each([
    ['a person who left', changedTo('left'), 404],
    ['a person who was deleted there', changedTo('deleted'), 404],
    ['a deleted account', ({ instance, userId }: World) => given.person(instance, userId, { deletedAt: 1 }), 404],
    [
      'a person of a deleted application',
      ({ instance, application }: World) => given.application(instance, application.id, { deletedAt: 1 }),
      404,
    ],
    ['a banned person', changedTo('banned'), 200],
  ])('is shown or hidden for %s', async (_, change, status) => {
    const own = await createWorld();
    const { data } = (
      await own.put(
        'avatar',
        png(9, 9, () => RED),
      )
    ).json;
    await change(own);
    expect((await own.get(data.url)).status).toBe(status);
  });

  test('is a 404 once it was removed', async () => {
    const own = await createWorld();
    const { data } = (
      await own.put(
        'avatar',
        png(9, 9, () => RED),
      )
    ).json;
    await own.remove('avatar');
    expect((await own.get(data.url)).status).toBe(404);
  });
});

test('image URLs start with the configured image host', async () => {
  const own = await createWorld({ GATEHOUSE_CDN_URL: 'https://cdn.example.com/i' });
  const { data } = (
    await own.put(
      'avatar',
      png(9, 9, () => RED),
    )
  ).json;
  const start = `https://cdn.example.com/i/shop/users/${own.userId}/avatar-`;
  expect(
    [data.url, ...data.variants.map((variant: { url: string }) => variant.url)].every((one) => one.startsWith(start)),
  ).toBe(true);
});
