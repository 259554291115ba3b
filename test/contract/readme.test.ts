/** Holds README and guides: length and commands, relative links, and the shapes of errors against the code. */
import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { GUIDES } from '@/modules/docs/guides.ts';
import { renderMarkdown } from '@/modules/docs/markdown.ts';
import { createInstance } from '../support/instance.ts';

const ROOT = resolve(import.meta.dir, '../..');
const readme = await Bun.file(join(ROOT, 'README.md')).text();
const guide = GUIDES.find(({ slug }) => slug === 'errors-and-limits')?.text ?? '';
const instance = await createInstance();

/** Returns the words in backquotes of a text, without its code blocks. */
const quoted = (text: string) =>
  [...text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

test('the README is an introduction: at most 200 lines, with the two commands of a clone first', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(201);
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trim());
  expect(blocks.slice(0, 2)).toEqual(['npx -y bun@1.4.5 start', 'npx -y bun@1.4.5 run test']);
});

describe('relative links and pictures', () => {
  const documents = ['*.md', 'src/modules/docs/guides/*.md', 'src/client/*.md', 'src/client/examples/*/*.md'].flatMap(
    (pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)],
  );
  /** Returns the text without code, which contains no links. */
  const prose = (text: string) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  const read = (path: string) => Bun.file(path).text();

  test.each(documents.sort())('links of %s lead to files and sections of this repository', async (document) => {
    const text = await read(join(ROOT, document));
    const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(
      ([, link = '', source = '']) => link || source,
    );
    const wrong: string[] = [];
    for (const link of links.filter((one) => !/^[a-z]+:/.test(one))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(ROOT, document) : join(ROOT, dirname(document), path);
      const isSection = async () => renderMarkdown(await read(target)).sections.some(({ id }) => id === anchor);
      if (!existsSync(target) || (anchor !== undefined && !(await isSection()))) wrong.push(link);
    }
    expect(wrong).toEqual([]);
  });
});

describe('the guide’s shape of an error', () => {
  const [, table = ''] = /## The shape of an error\n\n(.*?)\n\n/s.exec(guide) ?? [];
  const rows = Object.fromEntries(
    table
      .split('\n')
      .slice(2)
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, where = '', shape = '']) => [where, shape]),
  );
  const namesIn = (shape = '') =>
    [...(quoted(shape)[0] ?? '').matchAll(/"(\w+)"\s*[:,}]/g)].map(([, name = '']) => name);

  const call = (path: string, body: unknown, token?: string) =>
    instance.call('POST', path, { body, ...(token && { token }) });
  const verify = (body: unknown, token?: string) => call('/api/v1/verify', body, token);
  const CASES: [string, number, () => ReturnType<typeof call>][] = [
    ['management, account and all other calls', 401, () => call('/api/applications', {})],
    ['`/api/v1/session`', 401, () => call('/api/v1/session', {})],
    ['`/api/v1/verify`, about the token', 200, () => verify({ token: 'est_none' }, instance.workspaceKey)],
    ['`/api/v1/verify`, about the call', 401, () => verify({ token: 'est_none' }, 'eak_none')],
    [
      '`/api/v1/device/*`, `introspect`, `revoke`',
      400,
      () => call('/api/v1/device/token', { client_id: 'none', device_code: 'none' }),
    ],
  ];

  test('covers exactly these families', () => {
    expect(Object.keys(rows)).toEqual(CASES.map(([where]) => where));
  });

  test.each(CASES)('%s: matches the answer with %d', async (where, status, provoke) => {
    const answer = await provoke();
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.json)).toEqual(namesIn(rows[where]));
  });

  test('has `fields` for an invalid body, and `error` for other errors of a call to verify', async () => {
    const [wrong, misspelt] = [
      await call('/api/applications', { name: 7 }, instance.workspaceKey),
      await verify({}, instance.workspaceKey),
    ];
    for (const { status, json } of [wrong, misspelt]) {
      expect(status).toBe(400);
      expect(Object.keys(json)).toEqual(['success', 'error', 'message', 'requestId', 'fields']);
    }
  });
});
