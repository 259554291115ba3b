/** Uploaded logos and icons of applications: who may, what is refused, how they are drawn, served and removed. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import {
  animatedGif,
  BLUE,
  type Colour,
  hugePng,
  isNear,
  jpeg,
  pixelsOf,
  png,
  pngChunk,
  RED,
  webp,
  withExif,
} from './pictures.ts';

setDefaultTimeout(120_000);

const KINDS = ['logo', 'logo-dark', 'icon'] as const;
const COLUMNS = { logo: 'logoUrl', 'logo-dark': 'logoDarkUrl', icon: 'iconUrl' } as const;
const CLEAR: Colour = [0, 0, 0, 0];

/** A red disc without a background. */
const mark = (width: number, height: number) =>
  png(width, height, (x, y) => (Math.hypot(x - width / 2, y - height / 2) < height / 3 ? RED : CLEAR), {
    hasAlpha: true,
  });

let instance: Instance;
let id: string;
beforeAll(async () => {
  instance = await createInstance({ environment: { GATEHOUSE_LIMIT_IMAGES_PER_PERSON: '1000' } });
  ({ id } = await instance.createApplication({ name: 'Shop', slug: 'shop' }));
});

async function send(method: string, kind: string, file?: Uint8Array, { token = instance.workspaceKey, of = id } = {}) {
  const response = await instance.app.fetch(
    new Request(`http://localhost/api/applications/${of}/branding/${kind}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(file && { 'content-type': 'image/png' }) },
      ...(file && { body: new Uint8Array(file) }),
    }),
  );
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}
const put = (kind: string, file: Uint8Array, by?: { token?: string; of?: string }) => send('PUT', kind, file, by);
const get = (url: string, init?: RequestInit) =>
  instance.app.fetch(new Request(new URL(url, 'http://localhost:8080'), init));

async function imageAt(url: string) {
  const bytes = await (await get(url)).bytes();
  return pixelsOf(bytes);
}
const rows = () =>
  instance.sqlite.query('SELECT application_id AS id, kind FROM application_images ORDER BY kind').all() as object[];

describe('an upload', () => {
  test.each(KINDS)('of the %s sets its address, which serves it for good, and is in the audit log', async (kind) => {
    const before = instance.auditKinds(id).length;
    const { status, json } = await put(kind, mark(600, 300));
    expect(status).toBe(200);
    const url: string = json.data.branding[COLUMNS[kind]];
    expect(url).toMatch(new RegExp(`^http://localhost:8080/cdn/applications/${id}/${kind}\\.png\\?v=[0-9a-f]{16}$`));
    expect(instance.auditKinds(id).slice(before)).toEqual(['application.updated']);
    const answer = await get(url);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const cached = await get(url, { headers: { 'if-none-match': answer.headers.get('etag')! } });
    expect(cached.status).toBe(304);
    const old = await get(url.replace(/v=.*/, 'v=0'));
    expect(old.headers.get('cache-control')).toBe('public, max-age=60');
  });

  test('of a logo is reduced to its box, in its proportions, and keeps what is transparent', async () => {
    const { json } = await put('logo', mark(1200, 600));
    const { width, height, at } = await imageAt(json.data.branding.logoUrl);
    expect([width, height]).toEqual([176, 88]);
    expect(isNear(at(88, 44), RED)).toBe(true);
    expect(at(2, 2)[3]).toBe(0);
    const wide = await imageAt((await put('logo', mark(2000, 100))).json.data.branding.logoUrl);
    expect([wide.width, wide.height]).toEqual([400, 20]);
  });

  test('of a small logo is not enlarged', async () => {
    const { json } = await put('logo', mark(60, 20));
    const { width, height } = await imageAt(json.data.branding.logoUrl);
    expect([width, height]).toEqual([60, 20]);
  });

  test('of an icon is cut square around its centre', async () => {
    const sides = png(600, 300, (x) => (x < 150 || x >= 450 ? BLUE : RED));
    const { json } = await put('icon', sides);
    const { width, height, at } = await imageAt(json.data.branding.iconUrl);
    expect([width, height]).toEqual([180, 180]);
    expect(isNear(at(4, 90), RED)).toBe(true);
    expect(isNear(at(175, 90), RED)).toBe(true);
  });

  test('of a photo is turned upright and loses its place', async () => {
    const halves = png(200, 100, (x) => (x < 100 ? RED : BLUE));
    const { json } = await put('logo', withExif(await jpeg(halves), 6));
    const bytes = await (await get(json.data.branding.logoUrl)).bytes();
    const { width, height, at } = await pixelsOf(bytes);
    expect([width, height]).toEqual([44, 88]);
    expect(isNear(at(22, 10), RED)).toBe(true);
    expect(isNear(at(22, 78), BLUE)).toBe(true);
    expect(Buffer.from(bytes).includes('Exif')).toBe(false);
    const noted = png(50, 50, () => RED, { extra: [pngChunk('tEXt', Buffer.from('Author\0Ada'))] });
    const other = await put('logo', noted);
    expect(Buffer.from(await (await get(other.json.data.branding.logoUrl)).bytes()).includes('Ada')).toBe(false);
  });

  test.each([
    ['WebP', () => webp(mark(50, 50))],
    ['GIF', async () => animatedGif(40, 40)],
  ])('may be %s', async (_, file) => {
    expect((await put('logo', await file())).status).toBe(200);
  });

  test.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), /no JPEG, PNG/],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>'), /no JPEG, PNG/],
    ['a truncated picture', mark(100, 100).subarray(0, 200), /truncated/],
    ['a picture that would fill the memory', hugePng(), /megapixels/],
  ])('of %s is refused and changes nothing', async (_, file, remedy) => {
    for (const kind of KINDS) {
      const before = dumpTables(instance);
      const { status, json } = await put(kind, file);
      expect([status, json.error, json.fields]).toEqual([
        400,
        'invalid_request',
        [{ path: 'file', message: expect.stringMatching(remedy) }],
      ]);
      expect(dumpTables(instance)).toEqual(before);
    }
  });

  test('of the type of SVG is refused unread', async () => {
    const { status, json } = await instance.call('PUT', `/api/applications/${id}/branding/logo`, {
      token: instance.workspaceKey,
      body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      headers: { 'content-type': 'image/svg+xml' },
    });
    expect([status, json.error]).toEqual([415, 'unsupported_media_type']);
  });

  test('is for keys with full access to this application only', async () => {
    const { workspaceKey, application } = await given.tenant(instance);
    const own = await instance.createApplication({ name: 'Blog' });
    const { token: readKey } = await instance.createKey(id, { access: 'read' });
    const { token: otherKey } = await instance.createKey(own.id, { access: 'full' });
    const before = rows();
    for (const [token, code] of [
      [workspaceKey, 'not_found'],
      [otherKey, 'not_found'],
      [readKey, 'admin_scope_required'],
    ] as const)
      for (const method of ['PUT', 'DELETE'])
        expect((await send(method, 'logo', method === 'PUT' ? mark(20, 20) : undefined, { token })).json.error).toBe(
          code,
        );
    expect((await put('logo', mark(20, 20), { of: application.id })).json.error).toBe('not_found');
    expect((await put('banner', mark(20, 20))).json.error).toBe('not_found');
    expect(rows()).toEqual(before);
  });
});

describe('an uploaded image', () => {
  const fresh = async () => {
    const { id: of, clientId } = await instance.createApplication({ name: 'Harbour' });
    const { json } = await put('logo', mark(100, 50), { of });
    return { of, clientId, url: json.data.branding.logoUrl as string };
  };
  const stored = (of: string) => rows().filter((row) => (row as { id: string }).id === of);

  test('has the same address again if it is the same, and another one if it is not', async () => {
    const { of, url } = await fresh();
    expect((await put('logo', mark(100, 50), { of })).json.data.branding.logoUrl).toBe(url);
    expect((await put('logo', mark(90, 50), { of })).json.data.branding.logoUrl).not.toBe(url);
    expect(stored(of)).toHaveLength(1);
  });

  test('is removed at once, and a second time without an error', async () => {
    const { of, url } = await fresh();
    for (let times = 0; times < 2; times += 1) {
      const { status, json } = await send('DELETE', 'logo', undefined, { of });
      expect([status, json.data.branding.logoUrl]).toEqual([200, null]);
    }
    expect((await get(url)).status).toBe(404);
    expect(stored(of)).toEqual([]);
    expect(instance.auditKinds(of).filter((kind) => kind === 'application.updated')).toHaveLength(2);
  });

  test('goes when another address replaces it, and removing an upload keeps that address', async () => {
    const { of, url } = await fresh();
    const logoUrl = 'https://cdn.example.com/logo.png';
    const path = `/api/applications/${of}`;
    await instance.call('PATCH', path, {
      token: instance.workspaceKey,
      body: { branding: { accentColor: '#000000' } },
    });
    expect((await get(url)).status).toBe(200);
    await instance.call('PATCH', path, { token: instance.workspaceKey, body: { branding: { logoUrl } } });
    expect([(await get(url)).status, stored(of)]).toEqual([404, []]);
    expect((await send('DELETE', 'logo', undefined, { of })).json.data.branding.logoUrl).toBe(logoUrl);
  });

  test('is hidden while its application is deleted', async () => {
    const { of, url } = await fresh();
    await given.application(instance, of, { deletedAt: instance.clock.now() });
    expect((await get(url)).status).toBe(404);
    await given.application(instance, of, { deletedAt: null });
    expect((await get(url)).status).toBe(200);
  });

  test('is found for no other name, kind or application', async () => {
    const { of } = await fresh();
    for (const path of [`${of}/icon.png`, `${of}/logo`, `${of}/logo.svg`, `app_other/logo.png`, `${of}/..%2flogo.png`])
      expect((await get(`/cdn/applications/${path}`)).status).not.toBe(200);
  });

  test('is shown by the sign-in page from its own host, whatever the base URL was', async () => {
    const { of, clientId, url } = await fresh();
    await put('logo-dark', mark(80, 40), { of });
    await put('icon', mark(80, 80), { of });
    const page = async () => (await get(`/sign-in?clientId=${clientId}`)).text();
    const [, path] = /^http:\/\/localhost:8080(.*)$/.exec(url)!;
    expect(await page()).toContain(`src="${path}"`);
    expect(await page()).toMatch(/<source [^>]*media="\(prefers-color-scheme: dark\)"/);
    expect(await page()).toMatch(new RegExp(`<link rel="icon" href="/cdn/applications/${of}/icon\\.png\\?v=`));
    await given.application(instance, of, { logoUrl: url.replace('localhost:8080', 'before.example') });
    expect(await page()).toContain(`src="${path}"`);
  });
});
