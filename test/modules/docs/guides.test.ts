/** What the guides say of calls, settings, events, codes and each other, held against the code. */
import { describe, expect, test } from 'bun:test';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { EVENT_SCHEMAS, EVENT_TYPES } from '@/core/event.ts';
import { LIMITS } from '@/http/limits.ts';
import { guideMarkdown, GUIDES } from '@/modules/docs/guides.ts';
import { renderMarkdown } from '@/modules/docs/markdown.ts';
import { ALL_SETTINGS, CLIENT_VARIABLES } from '@/settings.ts';
import { createInstance } from '../../support/instance.ts';

const instance = await createInstance();
const texts = GUIDES.map((guide) => [guide.slug, guideMarkdown(guide, 'http://here.test')] as const);
const all = texts.map(([, text]) => text).join('\n');
const textOf = (slug: string) => texts.find(([one]) => one === slug)?.[1] ?? '';
const withoutBlocks = (text: string) => text.replace(/^```.*?^```$/gms, '');
const patterns = instance.app.operations.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '*')}`);

test('every guide has a title, a sentence about it, and nothing left to be filled in', () => {
  for (const { slug, title, summary, group, text } of GUIDES) {
    for (const part of [title, summary, group]) expect([slug, part]).not.toEqual([slug, '']);
    expect([slug, summary.endsWith('.')]).toEqual([slug, true]);
    expect(text.replaceAll('{{url}}', '')).not.toContain('{{');
  }
  expect(new Set(GUIDES.map(({ slug }) => slug)).size).toBe(GUIDES.length);
});

test('every event is named, with all that its data holds', () => {
  const rows = textOf('events')
    .split('\n')
    .filter((line) => line.startsWith('| `user.'));
  expect(rows.map((row) => /`(user\.\w+)`/.exec(row)?.[1])).toEqual(EVENT_TYPES);
  for (const [index, type] of EVENT_TYPES.entries())
    for (const field of Object.keys(EVENT_SCHEMAS[type].properties)) expect(rows[index]).toContain(`\`${field}\``);
});

test('every error code is named with its status, and every limit with its setting', () => {
  const text = textOf('errors-and-limits');
  for (const [code, { status }] of Object.entries(ERROR_CATALOGUE))
    expect(text).toContain(`| ${status} | \`${code}\` |`);
  for (const { env } of Object.values(LIMITS)) expect(text).toContain(`\`${env.replace('GATEHOUSE_LIMIT_', '…')}\``);
});

test('every call that is written out is one that is served', () => {
  const quoted = [...withoutBlocks(all).matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[\w{}/.-]+)/g)];
  const calls = quoted.map(([, method, path = '']) => `${method} ${path.replace(/\{\w+\}/g, '*')}`);
  expect(calls.length).toBeGreaterThan(2);
  expect([...new Set(calls)].filter((call) => !patterns.includes(call))).toEqual([]);
});

test('every setting that is named is one', () => {
  const known = [...ALL_SETTINGS.map(({ env }) => env), ...Object.values(CLIENT_VARIABLES)] as string[];
  const named = [...all.matchAll(/GATEHOUSE_[A-Z_]+[A-Z]/g)].map(([name]) => name);
  expect([...new Set(named)].filter((name) => !known.includes(name) && name !== 'GATEHOUSE_LIMIT')).toEqual([]);
});

describe('links', () => {
  const anchors = new Map(texts.map(([slug, text]) => [slug, renderMarkdown(text).sections.map(({ id }) => id)]));

  test.each(texts.map(([slug]) => slug))('of %s lead somewhere', (slug) => {
    const wrong = [...withoutBlocks(textOf(slug)).matchAll(/\]\(([^)]+)\)/g)]
      .map(([, href = '']) => href)
      .filter((href) => {
        const { origin, pathname, hash } = new URL(href, `http://here.test/docs/guides/${slug}`);
        if (origin !== 'http://here.test') return false;
        const [, guide] = /^\/docs\/guides\/([\w-]+)$/.exec(pathname) ?? [];
        if (guide === undefined) return !patterns.includes(`GET ${pathname}`);
        return !anchors.has(guide) || (hash !== '' && !anchors.get(guide)?.includes(hash.slice(1)));
      });
    expect(wrong).toEqual([]);
  });
});

describe('the HTML of a guide', () => {
  test('has sections to link to, tables and blocks that can be scrolled by keyboard, and colours that lose nothing', () => {
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

  test('shows every block as it was written', () => {
    for (const [, text] of texts) {
      const blocks = [...text.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code = '']) =>
        // Markdown knows no tabs at the beginning of a line.
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
