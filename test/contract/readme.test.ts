/** What the README says of events and calls, and the guide to errors of their shapes, held against the code. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { EVENT_TYPES } from '@/core/event.ts';
import { GUIDES } from '@/modules/docs/guides.ts';
import { createInstance } from '../support/instance.ts';

const readme = await Bun.file(join(import.meta.dir, '../../README.md')).text();
const guide = GUIDES.find(({ slug }) => slug === 'errors-and-limits')?.text ?? '';
const instance = await createInstance();

/** The words in backquotes of a text, its blocks left out. */
const quoted = (text: string) =>
  [...text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);

test('the README names every event there is, and how many', () => {
  const [, count, names = ''] =
    /^The events, (\d+) of them, are `user\.` followed by one of:\n(.*)$/m.exec(readme) ?? [];
  expect(Number(count)).toBe(EVENT_TYPES.length);
  expect(
    quoted(names)
      .map((name) => `user.${name}`)
      .sort(),
  ).toEqual([...EVENT_TYPES].sort());
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
    ['management, account, all the rest', 401, () => call('/api/applications', {})],
    ['`/api/v1/session`', 401, () => call('/api/v1/session', {})],
    ['`/api/v1/verify`, of the token', 200, () => verify({ token: 'est_none' }, instance.workspaceKey)],
    ['`/api/v1/verify`, of the call', 401, () => verify({ token: 'est_none' }, 'eak_none')],
    [
      '`/api/v1/device/*`, `introspect`, `revoke`',
      400,
      () => call('/api/v1/device/token', { client_id: 'none', device_code: 'none' }),
    ],
  ];

  test('is said of these families and no other', () => {
    expect(Object.keys(rows)).toEqual(CASES.map(([where]) => where));
  });

  test.each(CASES)('%s: is what is answered, with %d', async (where, status, provoke) => {
    const answer = await provoke();
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.json)).toEqual(namesIn(rows[where]));
  });

  test('has `fields` where the body is to be mended, and `error` where a call to verify was wrong otherwise', async () => {
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

test('every call that the README writes out is one that is served', () => {
  const patterns = instance.app.operations.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '*')}`);
  const calls = quoted(readme)
    .map((text) => /^(GET|POST|PUT|PATCH|DELETE) (\/api\/[\w{}/-]+)/.exec(text))
    .flatMap((match) => (match ? [`${match[1]} ${match[2]?.replace(/\{\w+\}/g, '*')}`] : []));
  expect(calls.length).toBeGreaterThan(15);
  expect([...new Set(calls)].filter((one) => !patterns.includes(one))).toEqual([]);
});
