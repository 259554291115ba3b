/** Checks what the guides say of calls, settings, events, codes and each other against the code. */
import { describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { EVENT_TYPES } from '@/core/event.ts';
import { guideMarkdown, GUIDES } from '@/modules/docs/guides.ts';
import { renderMarkdown } from '@/modules/docs/markdown.ts';
import { PICTURES } from '@/modules/docs/pictures.ts';
import { ALL_SETTINGS, KNOWN_VARIABLES } from '@/settings.ts';
import { createInstance } from '../../support/instance.ts';
import { SLUGS, unpadded, withTables } from './tables.ts';

const FOLDER = resolve(import.meta.dir, '../../../src/modules/docs/guides');

const HERE = 'http://here.test';
const instance = await createInstance();
const texts = GUIDES.map((guide) => [guide.slug, guideMarkdown(guide, HERE)] as const);
const all = texts.map(([, text]) => text).join('\n');
const textOf = (slug: string) => texts.find(([one]) => one === slug)?.[1] ?? '';
const withoutBlocks = (text: string) => text.replace(/^```.*?^```$/gms, '');
const patterns = instance.app.operations.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '*')}`);

test('every guide has a title, a summary, and no placeholders', () => {
  for (const { slug, title, summary, group, text } of GUIDES) {
    for (const part of [title, summary, group]) expect([slug, part]).not.toEqual([slug, '']);
    expect([slug, summary.endsWith('.')]).toEqual([slug, true]);
    expect(text).not.toContain('{{');
    expect(text).not.toContain('TODO');
  }
  expect(new Set(GUIDES.map(({ slug }) => slug)).size).toBe(GUIDES.length);
});

// `bun run guides` updates them.
test.each(SLUGS)('the tables of %s match the code', (slug) => {
  const text = GUIDES.find((guide) => guide.slug === slug)?.text ?? '';
  expect(unpadded(text)).toBe(unpadded(withTables(slug, text)));
});

test('the tables name every event with its cause, every error code and every setting', () => {
  const rows = textOf('events').match(/^\| `user\..*$/gm) ?? [];
  expect(rows.map((row) => /`(user\.\w+)`/.exec(row)?.[1])).toEqual([...EVENT_TYPES]);
  for (const row of rows) expect(row.split('|')[2]).toMatch(/[A-Z].+\. *$/);
  expect(textOf('errors-and-limits').match(/^\| \d{3} /gm)?.length).toBe(Object.keys(ERROR_CATALOGUE).length);
  expect(textOf('settings').match(/^\| `GATEHOUSE_/gm)?.length).toBe(ALL_SETTINGS.length);
});

test('every call in a guide is a served operation', () => {
  const quoted = [...withoutBlocks(all).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[\w{}/.-]+)/g)];
  const calls = quoted.map(([, method, path = '']) => `${method} ${path.replace(/\{\w+\}/g, '*')}`);
  expect(calls.length).toBeGreaterThan(15);
  expect([...new Set(calls)].filter((call) => !patterns.includes(call))).toEqual([]);
});

test('every setting in a guide exists', () => {
  const named = [...all.matchAll(/GATEHOUSE_[A-Z_]+[A-Z]/g)].map(([name]) => name);
  expect([...new Set(named)].filter((name) => !KNOWN_VARIABLES.includes(name) && name !== 'GATEHOUSE_LIMIT')).toEqual(
    [],
  );
});

describe('links', () => {
  const anchors = new Map(texts.map(([slug, text]) => [slug, renderMarkdown(text).sections.map(({ id }) => id)]));

  test.each(texts.map(([slug]) => slug))('links of %s resolve in the repository and in an instance', (slug) => {
    const wrong = [...withoutBlocks(textOf(slug)).matchAll(/\]\(([^)]+)\)/g)]
      .map(([, href = '']) => href)
      .filter((href) => {
        if (href.startsWith('#')) return !anchors.get(slug)?.includes(href.slice(1));
        const [, guide, anchor] = /^([\w-]+)\.md(?:#(.+))?$/.exec(href) ?? [];
        if (guide !== undefined)
          return anchor === undefined ? !anchors.has(guide) : !anchors.get(guide)?.includes(anchor);
        const { origin, pathname } = new URL(href, 'http://elsewhere.test');
        return origin === 'http://elsewhere.test' || (origin === HERE && !patterns.includes(`GET ${pathname}`));
      });
    expect(wrong).toEqual([]);
  });

  test('between guides lead to pages in the HTML and stay unchanged in the Markdown', async () => {
    const read = async (path: string) => (await instance.call('GET', path)).text;
    expect(await read('/docs/guides/webhooks')).toContain(
      'href="command-line-and-agents#receive-webhooks-on-your-own-machine"',
    );
    expect(await read('/docs/guides/webhooks')).not.toMatch(/href="[\w-]+\.md/);
    expect(await read('/docs/guides/webhooks.md')).toContain('](events.md)');
  });

  test('links in the folder’s README name every guide in order, with its summary', async () => {
    const index = await Bun.file(join(FOLDER, 'README.md')).text();
    const listed = [...index.matchAll(/^- \[(.+)\]\((.+)\.md\): (.+)$/gm)].map(([, ...row]) => row);
    expect(listed).toEqual(GUIDES.map(({ title, slug, summary }) => [title, slug, summary]));
    expect([...index.matchAll(/^## (.+)$/gm)].map(([, group]) => group)).toEqual([
      ...new Set(GUIDES.map(({ group }) => group)),
    ]);
  });
});

describe('pictures', () => {
  const shown = texts.flatMap(([, text]) =>
    [...text.matchAll(/(?:src|srcset)="(images\/[^"]+)"/g)].map(([, path = '']) => path),
  );

  test('are embedded in the binary, each in light and dark, with an alternative text', () => {
    expect(new Set(shown.map((path) => path.replace(/-(?:light|dark)\.webp$/, '')))).toEqual(
      new Set(['sign-in', 'console', 'users', 'account', 'webhooks'].map((name) => `images/${name}`)),
    );
    for (const path of shown) expect(PICTURES.has(path.replace('images/', ''))).toBe(true);
    for (const [, text] of texts)
      for (const [picture] of text.matchAll(/<picture>.*?<\/picture>/gs))
        expect(picture).toMatch(
          /^<picture>\n {2}<source media="\(prefers-color-scheme: dark\)" srcset="(images\/[\w-]+)-dark\.webp">\n {2}<img src="\1-light\.webp" width="\d+" alt="[^"]{20,}">\n<\/picture>$/,
        );
  });

  test('are small', () => {
    const sizes = [...PICTURES.values()].map((path) => Bun.file(path).size);
    expect(Math.max(...sizes)).toBeLessThan(150 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(800 * 1024);
  });

  test.each([...PICTURES.keys()])('%s is served next to the guides with an ETag', async (name) => {
    const get = (headers: Record<string, string> = {}) =>
      instance.app.fetch(
        new Request(`http://localhost:8080/docs/guides/images/${name}`, {
          headers: { host: 'localhost:8080', ...headers },
        }),
      );
    const response = await get();
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(Buffer.from(await response.arrayBuffer()).toString('latin1', 8, 12)).toBe('WEBP');
    expect((await get({ 'if-none-match': response.headers.get('etag') ?? '' })).status).toBe(304);
  });

  test('unknown pictures are not found', async () => {
    expect((await instance.call('GET', '/docs/guides/images/none.webp')).status).toBe(404);
  });
});

describe('the HTML of a guide', () => {
  test('has linkable sections, tables and blocks scrollable by keyboard, and highlighting that loses no text', () => {
    const { html, sections } = renderMarkdown(
      '# Title\n\n## A `b` & c\n\n| a |\n| - |\n| 1 |\n\n```js\nconst a = "<b>"; // https://c\n```\n',
    );
    expect(sections).toEqual([{ id: 'a-b-c', title: 'A b & c', level: 2 }]);
    expect(html).not.toContain('Title');
    expect(html).toContain('<h2 id="a-b-c">');
    expect(html).toContain('<div class="table" tabindex="0"');
    expect(html).toContain('<span class="code-string">&quot;&lt;b&gt;&quot;</span>');
    expect(html).toContain('<span class="code-comment">// https://c</span>');
    expect(html).toContain('<pre tabindex="0">');
  });

  test('marks a body of several lines in a shell as one string, and what follows it as none', () => {
    const { html } = renderMarkdown("# T\n\n```sh\ncurl --json '{\n  \"a\": 1\n}' | grep -o 'b'\n```\n");
    const strings = [...html.matchAll(/<span class="code-string">(.*?)<\/span>/gs)].map(([, text]) => text);
    expect(strings).toEqual(["'{\n  &quot;a&quot;: 1\n}'", "'b'"]);
  });

  test('shows every block unchanged', () => {
    for (const [, text] of texts) {
      const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code = '']) =>
        // Markdown expands tabs at the start of a line.
        code.replaceAll('\t', '    '),
      );
      const shown = [...renderMarkdown(text).html.matchAll(/<pre tabindex="0"><code>(.*?)<\/code><\/pre>/gs)].map(
        ([, code = '']) =>
          code
            .replace(/<[^>]+>/g, '')
            .replaceAll('&lt;', '<')
            .replaceAll('&gt;', '>')
            .replaceAll('&quot;', '"')
            .replaceAll('&amp;', '&'),
      );
      expect(shown.map((code) => code.replaceAll('\t', '    '))).toEqual(blocks);
    }
  });
});
