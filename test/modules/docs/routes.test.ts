/**
 * The routes of the documentation: pages under their policies, Markdown, contents for agents, and the search index.
 */
import { describe, expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { GUIDES } from '@/modules/docs/guides.ts';
import { findEntries } from '@/pages/docs/search.ts';
import type { SearchEntry } from '@/pages/docs/docs.ts';
import { createInstance } from '../../support/instance.ts';

const instance = await createInstance();
const baseUrl = 'http://localhost:8080';
const get = (path: string, headers: Record<string, string> = {}) =>
  instance.app.fetch(new Request(baseUrl + path, { headers: { host: 'localhost:8080', ...headers } }));
const policyOf = (response: Response) => response.headers.get('content-security-policy') ?? '';

describe('pages', () => {
  const paths = ['/docs', '/docs/reference', ...GUIDES.map(({ slug }) => `/docs/guides/${slug}`)];

  test.each(paths)('%s is a page under a strict policy, with links to every guide', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const { slug } of GUIDES) expect(html).toContain(`href="/docs/guides/${slug}"`);
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)/);
    expect(html).not.toMatch(/ style="|<style| on\w+="/);
    const loosened = path === '/docs/reference' ? " 'unsafe-inline'" : '';
    expect(policyOf(response)).toContain(`script-src 'self'; style-src 'self'${loosened}; `);
    expect(policyOf(response)).toContain("connect-src 'self'; ");
    expect(policyOf(response)).not.toContain('unsafe-eval');
  });

  test('show this instance’s address in commands', async () => {
    const elsewhere = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
    for (const path of ['/docs/guides/first-sign-in', '/docs/guides/first-sign-in.md']) {
      const { text } = await elsewhere.call('GET', path);
      expect(text).toContain('url=https://auth.example.com');
      expect(text).not.toContain(baseUrl);
    }
  });

  test('are revalidated by ETag', async () => {
    for (const path of [...paths, '/docs/search.json', '/llms.txt', '/docs/guides/verify.md']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      const again = await get(path, { 'if-none-match': etag });
      expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
    }
  });

  test.each(['/docs/guides/none', '/docs/guides/none.md', '/docs/guides/verify.md.md', '/docs/none'])(
    '%s is not found, and a browser gets a page that says so',
    async (path) => {
      const response = await get(path, { accept: 'text/html' });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toContain('text/html');
    },
  );
});

test('a guide is served as Markdown under .md', async () => {
  const response = await get('/docs/guides/verify.md');
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  const text = await response.text();
  expect(text).toStartWith('# Verify in a backend\n');
  expect(text).toContain(baseUrl);
});

test('llms.txt has a title, a summary, and working links to each guide and description', async () => {
  const text = await (await get('/llms.txt')).text();
  expect(text).toMatch(/^# Gatehouse\n\n> .+\n/);
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): ./gm)].map(([, href = '']) => href);
  expect(links.length).toBe(GUIDES.length + 3);
  for (const link of links) expect([link, (await get(link.replace(baseUrl, ''))).status]).toEqual([link, 200]);
});

describe('the renderer of the reference', async () => {
  const html = await (await get('/docs/reference')).text();
  const [, path = ''] = /src="(\/assets\/reference\.[0-9a-f]{8}\.js)"/.exec(html) ?? [];

  test('is cached forever, and the same in every encoding', async () => {
    const [identity, gzip, brotli] = await Promise.all(
      ['identity', 'gzip', 'br'].map((encoding) => get(path, { 'accept-encoding': encoding })),
    );
    for (const response of [identity, gzip, brotli]) {
      expect(response!.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response!.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    }
    const bytes = Buffer.from(await identity!.arrayBuffer());
    expect(bytes.byteLength).toBeGreaterThan(1_000_000);
    expect(gzip!.headers.get('content-encoding')).toBe('gzip');
    expect(brotli!.headers.get('content-encoding')).toBe('br');
    expect(gunzipSync(await gzip!.arrayBuffer()).equals(bytes)).toBe(true);
    expect(brotliDecompressSync(await brotli!.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('has the stated length, with and without a body', async () => {
    for (const encoding of ['identity', 'gzip', 'br']) {
      const headers = { host: 'localhost:8080', 'accept-encoding': encoding };
      const head = await instance.app.fetch(new Request(baseUrl + path, { method: 'HEAD', headers }));
      const body = await (await get(path, headers)).arrayBuffer();
      expect([encoding, head.headers.get('content-length')]).toEqual([encoding, String(body.byteLength)]);
    }
  });

  test('is revalidated by ETag', async () => {
    const etag = (await get(path, { 'accept-encoding': 'br' })).headers.get('etag') ?? '';
    expect((await get(path, { 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(304);
  });
});

describe('the search', async () => {
  const entries = (await (await get('/docs/search.json')).json()) as SearchEntry[];
  const titles = (query: string) => findEntries(entries, query).map(({ title }) => title);

  test('covers every guide and every described operation, and is small', async () => {
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const places = entries.map(({ place }) => place);
    for (const operation of operations) expect(places).toContain(operation);
    for (const { title } of GUIDES) expect(entries.map((entry) => entry.title)).toContain(title);
    expect(Bun.gzipSync(JSON.stringify(entries)).byteLength).toBeLessThan(20_000);
  });

  test('finds by title, heading, path and word, best match first', () => {
    expect(titles('webhooks')[0]).toBe('Receive webhooks');
    expect(titles('rotate secret')[0]).toBe('Rotate the secret');
    expect(findEntries(entries, '/api/v1/introspect')[0]?.place).toBe('POST /api/v1/introspect');
    expect(titles('verify PYTHON')[0]).toBe('Python');
    expect(titles('nginx').length).toBeGreaterThan(0);
    expect(titles('')).toEqual([]);
    expect(titles('zzz')).toEqual([]);
    expect(titles('e').length).toBe(12);
  });
});
