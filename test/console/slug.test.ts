/** How the slug that a form proposes follows from a name. */
import { expect, test } from 'bun:test';
import { slugOf } from '@/console/slug.ts';

test('letters lose their accents, the rest becomes single hyphens, none at the ends', () => {
  expect(slugOf('Büro  Zürich!', 64)).toBe('buro-zurich');
  expect(slugOf('  Ｔｅｓｔ 2 ', 64)).toBe('test-2');
});

test('characters that a kind of slug has besides are kept', () => {
  expect(slugOf('Orders:write v1.2', 64, '_:.')).toBe('orders:write-v1.2');
  expect(slugOf('Orders:write v1.2', 64)).toBe('orders-write-v1-2');
});

test('a slug that is cut does not end in a hyphen, and there may be none', () => {
  expect(slugOf('abc def', 4)).toBe('abc');
  expect(slugOf('日本', 64)).toBe('');
});
