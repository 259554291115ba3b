import { expect, test } from 'bun:test';
import { onlyOne, required } from '@/core/required.ts';

test('required() names the missing value in its error', () => {
  expect(required(0, 'number')).toBe(0);
  expect(() => required(undefined, 'user usr_1')).toThrow('missing: user usr_1');
  expect(() => required(null, 'session ses_1')).toThrow('missing: session ses_1');
});

test('only() refuses an empty list and more than one element', () => {
  expect(onlyOne(['a'])).toBe('a');
  expect(() => onlyOne([])).toThrow('0 instead of one');
  expect(() => onlyOne(['a', 'b'])).toThrow('2 instead of one');
});
