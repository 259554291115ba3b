/**
 * The routes of the documentation: pages under their policies, Markdown, contents for agents, and the search index.
 */
import { describe, expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { EVENT_TYPES } from '@/core/event.ts';
import { GUIDES } from '@/modules/docs/guides.ts';
import { docsSearch, type SearchEntry } from '@/pages/docs/search.ts';
import { ALL_SETTINGS } from '@/settings.ts';
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

test('the reference has every operation as text, at the place that the search leads to, before any renderer', async () => {
  const html = await (await get('/docs/reference')).text();
  const { paths, tags } = (await (await get('/openapi.json?part=all')).json()) as {
    paths: Record<string, Record<string, { summary: string; tags: string[] }>>;
    tags: { name: string }[];
  };
  for (const { name } of tags) expect(html).toContain(`<h2>${name}</h2>`);
  for (const [path, methods] of Object.entries(paths))
    for (const [
      method,
      {
        summary,
        tags: [tag = ''],
      },
    ] of Object.entries(methods)) {
      const id = `tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method.toUpperCase()}${path}`;
      expect([
        id,
        html.includes(`id="${id}"><h3>${summary.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</h3>`),
      ]).toEqual([id, true]);
    }
  expect(/<script[^>]*\/reference\.[0-9a-f]{8}\.js/.test(html)).toBe(false);
});

test('the reference says in words what an operation of its own may be refused with', async () => {
  const html = await (await get('/docs/reference')).text();
  const [, article = ''] = html.split('id="tag/account/PATCH/api/account/username"');
  expect(article.slice(0, article.indexOf('</article>'))).toContain(
    `<code>conflict</code> (409): ${ERROR_CATALOGUE.conflict.message}`,
  );
  expect(html).toContain('href="/docs/guides/errors-and-limits"');
});

describe('the renderer of the reference', async () => {
  const html = await (await get('/docs/reference')).text();
  const [, path = ''] = /data-renderer="(\/assets\/reference\.[0-9a-f]{8}\.js)"/.exec(html) ?? [];

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
  const text = await (await get('/docs/search.json')).text();
  const search = docsSearch(text);
  const hrefs = (query: string, most?: number) => search(query, most).map(({ href }) => href);
  const titles = (query: string) => search(query).map(({ title }) => title);

  test('covers every guide, described operation, error code, setting and event, and is small', async () => {
    const { paths } = (await (await get('/openapi.json?part=all')).json()) as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const stored = Object.values((JSON.parse(text) as { storedFields: Record<string, SearchEntry> }).storedFields);
    const places = stored.map(({ place }) => place);
    for (const operation of operations) expect(places).toContain(operation);
    const found = stored.map(({ title }) => title);
    for (const { title } of GUIDES) expect(found).toContain(title);
    for (const name of [...Object.keys(ERROR_CATALOGUE), ...EVENT_TYPES, ...ALL_SETTINGS.map(({ env }) => env)])
      expect(found).toContain(name);
    expect(Bun.gzipSync(text, { level: 5 }).byteLength).toBeLessThan(90_000);
  });

  test('leads to places that exist', async () => {
    const stored = Object.values((JSON.parse(text) as { storedFields: Record<string, SearchEntry> }).storedFields);
    const pages = new Map<string, string>();
    for (const { href } of stored) {
      const [path = '', anchor] = href.split('#');
      if (path === '/docs/reference') continue;
      if (!pages.has(path)) pages.set(path, await (await get(path)).text());
      expect([href, anchor === undefined || pages.get(path)?.includes(` id="${anchor}"`)]).toEqual([href, true]);
    }
  });

  test.each([
    ['retry', 'guides/webhooks#retries-and-quarantine'],
    ['Retry-After', 'guides/webhooks#retries-and-quarantine', 'guides/errors-and-limits#rate-limits'],
    ['cors', 'guides/on-a-page#calls-from-a-page-cors'],
    ['cookie', 'guides/on-a-page#store-the-token'],
    ['membership_blocked', 'guides/errors-and-limits#membership_blocked'],
    ['expired', 'guides/errors-and-limits#expired'],
    ['GATEHOUSE_SMTP_URL', 'guides/settings#GATEHOUSE_SMTP_URL'],
    ['rate limit', 'guides/errors-and-limits#rate-limits'],
    ['migrate', 'guides/migrate'],
    ['logout', 'guides/on-a-page#sign-out'],
    ['refresh', 'guides/sessions#why-no-refresh-token'],
    ['session lifetime', 'guides/sessions#session-lifetime'],
    ['quarantine', 'guides/webhooks#retries-and-quarantine'],
    ['ban', 'reference#tag/users/POST/api/applications/{id}/users/{userId}/ban'],
    ['react', 'guides/frameworks#react'],
    ['sso', 'guides/sign-in-methods#single-sign-on-sso'],
    ['express', 'guides/frameworks#express'],
    ['jwt', 'guides/sessions#why-no-jwt'],
    ['gdpr', 'guides/personal-data'],
    ['clerk', 'guides/coming-from#clerk'],
  ])('answers "%s" with the right page first', (query, ...expected) => {
    const first = hrefs(query, expected.length);
    expect(first).toEqual(expected.map((href) => `/docs/${href}`));
  });

  test('finds by title, heading, path and word, best match first', () => {
    expect(titles('webhooks')[0]).toBe('Receive webhooks');
    expect(titles('rotate secret')[0]).toBe('Rotate the secret');
    expect(search('/api/v1/introspect')[0]?.place).toBe('POST /api/v1/introspect');
    expect(titles('verify PYTHON')[0]).toBe('Python');
    expect(titles('nginx').length).toBeGreaterThan(0);
    expect(titles('e').length).toBe(12);
  });

  test('finds the forms of a word, a name by its parts, and what is still being typed', () => {
    expect(hrefs('retries')).toEqual(hrefs('retry'));
    expect(hrefs('banned')).toEqual(hrefs('ban'));
    expect(hrefs('log out').length).toBeGreaterThan(0);
    expect(hrefs('login')).toEqual(hrefs('sign in'));
    expect(titles('smtp url')).toContain('GATEHOUSE_SMTP_URL');
    expect(titles('sessionTtlSeconds')).toContain('Change an application');
    expect(titles('webh')[0]).toBe('Receive webhooks');
  });

  test('finds no part of a word, and nothing for nothing', () => {
    expect(titles('ban').filter((title) => /banner/i.test(title))).toEqual([]);
    expect(titles('react').filter((title) => /reactivate/i.test(title))).toEqual([]);
    for (const query of ['zzz', 'retry zzz', '', ' ', '?', 'the']) expect([query, titles(query)]).toEqual([query, []]);
  });
});
