import { describe, expect, test } from 'bun:test';
import { PRODUCT_NAMES, productOf } from '@/console/views/settings/openid-snippets.ts';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { assetResponse, assetUrl, chooseEncoding, findAsset } from '@/pages/assets.ts';
import { bundlePages } from '@/pages/bundle.ts';
import { generatedAssets } from '@/pages/generated/assets.ts';

const asset = findAsset(assetUrl('style.css'))!;

function get(headers: Record<string, string> = {}): Response {
  return assetResponse(new Request(`http://localhost${asset.path}`, { headers }), asset);
}

test('an asset has a content hash in its name and no other name', () => {
  expect(assetUrl('style.css')).toMatch(/^\/assets\/style\.[0-9a-f]{8}\.css$/);
  expect(findAsset('/assets/style.css')).toBeUndefined();
  expect(findAsset('/assets/__proto__')).toBeUndefined();
});

test('the address of an asset that does not exist throws', () => {
  expect(() => assetUrl('missing.js')).toThrow('missing.js');
  expect(() => assetUrl('constructor')).toThrow('constructor');
});

describe('chooseEncoding', () => {
  test.each([
    [null, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;Q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, gzip;q=0', 'identity'],
    ['br;q=0.001', 'br'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', 'identity'],
    ['deflate, zstd', 'identity'],
  ] as const)('the header %p selects %s', (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding);
  });
});

describe('assetResponse', () => {
  test('has the same bytes in every encoding', async () => {
    const identity = Buffer.from(await get().arrayBuffer());
    expect(identity.byteLength).toBeGreaterThan(1_000);
    const gzip = get({ 'accept-encoding': 'gzip' });
    const brotli = get({ 'accept-encoding': 'br' });
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(gunzipSync(await gzip.arrayBuffer()).equals(identity)).toBe(true);
    expect(brotliDecompressSync(await brotli.arrayBuffer()).equals(identity)).toBe(true);
  });

  test('is cached forever, separately by encoding, and never sniffed', () => {
    const { status, headers } = get({ 'accept-encoding': 'br' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('vary')).toBe('Accept-Encoding');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('etag')).not.toBe(get().headers.get('etag'));
  });

  test('a known ETag is answered 304 without a body', async () => {
    const etag = get().headers.get('etag')!;
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = get({ 'if-none-match': value });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(etag);
      expect(await response.text()).toBe('');
    }
    expect(get({ 'if-none-match': '"other"' }).status).toBe(200);
  });
});

const FILLING = { issuer: 'https://id.example.com', clientId: 'cli_x' };

/** Documentation of products, and the name that oauth2-proxy's own has for itself. */
const OF_PRODUCTS = PRODUCT_NAMES.map((name) => productOf(name, 'https://a.example.com', FILLING)?.docs ?? '');
const isOfProduct = (address: string) =>
  address.startsWith('http://oauth2-proxy:4180') ||
  OF_PRODUCTS.some((docs) => docs.startsWith(address.split(/["`]/)[0]!));

test('no page script evaluates text or writes markup', async () => {
  // The renderer of the API reference is a library; the policy of its page is its own.
  const scripts = Object.keys(generatedAssets).filter((name) => name.endsWith('.js') && name !== 'reference.js');
  expect(scripts).toEqual(expect.arrayContaining(['sign-in.js', 'device-code.js', 'device.js', 'setup.js']));
  for (const name of scripts) {
    const source = new TextDecoder().decode(gunzipSync(await Bun.file(generatedAssets[name]!.gzip).bytes()));
    // Code of the rendering library, for a property that no component of ours sets, and XML namespaces.
    const own = source
      .replace(/\(\w+\.__html==\w+\.__html\|\|(\w+)\.__html==(\w+)\.innerHTML\)\|\|\(\2\.innerHTML=\1\.__html\)/, '')
      .replaceAll(/"http:\/\/www\.w3\.org\/[\w/]+"/g, '""');
    expect(own.match(/\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write/g)).toBeNull();
    // Addresses in the console, apart from licenses in comments: examples, the one known issuer, and what people
    // read of products that sign in here.
    const told = /^http:\/\/localhost\b|^https:\/\/(?:accounts\.google\.com|[a-z]+\.example\.com\b)/;
    const said = own.replaceAll(/\/\*!?[^]*?\*\//g, '');
    expect(
      (said.match(/https?:\/\/[a-z]\S{0,40}/g) ?? []).filter((address) => !told.test(address) && !isOfProduct(address)),
    ).toEqual([]);
  }
});

test('no component writes markup, except the document its JSON data, and guides and reference their own text', async () => {
  const pages = new URL('../../src/pages/', import.meta.url).pathname;
  const writers: string[] = [];
  for (const path of new Bun.Glob('**/*.{ts,tsx}').scanSync(pages))
    if (/dangerouslySetInnerHTML|innerHTML/.test(await Bun.file(`${pages}${path}`).text())) writers.push(path);
  expect(writers.filter((path) => !path.startsWith('generated/')).sort()).toEqual([
    'docs/guide.tsx',
    'docs/reference.tsx',
    'document.tsx',
  ]);
});

// Runs last: if a source has changed since the last build, bundling replaces the files that the tests above read.
test('bundling unchanged sources rewrites no file', async () => {
  await bundlePages();
  const folder = new URL('../../src/pages/generated/', import.meta.url).pathname;
  const times = () =>
    [...new Bun.Glob('*').scanSync(folder)].sort().map((name) => [name, Bun.file(folder + name).lastModified]);
  const before = times();
  const { files, bytes } = await bundlePages();
  expect(files).toBe(Object.keys(generatedAssets).length);
  expect(files).toBeGreaterThanOrEqual(6);
  expect(bytes).toBeGreaterThan(1_000);
  expect(times()).toEqual(before);
  // Each asset in two encodings, and the module that lists them.
  expect(before.length).toBe(2 * files + 1);
}, 120_000);
