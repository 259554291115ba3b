/** Deriving a form's proposed slug from a name. */
import { expect, test } from 'bun:test';
import { slugOf } from '@/console/slug.ts';

test('letters lose their accents, and other characters become single inner hyphens', () => {
  expect(slugOf('Büro  Zürich!', 64)).toBe('buro-zurich');
  expect(slugOf('  Ｔｅｓｔ 2 ', 64)).toBe('test-2');
});

test('extra characters of a kind of slug are kept', () => {
  expect(slugOf('Orders:write v1.2', 64, '_:.')).toBe('orders:write-v1.2');
  expect(slugOf('Orders:write v1.2', 64)).toBe('orders-write-v1-2');
});

test('a cut slug does not end in a hyphen, and may be empty', () => {
  expect(slugOf('abc def', 4)).toBe('abc');
  expect(slugOf('日本', 64)).toBe('');
});
