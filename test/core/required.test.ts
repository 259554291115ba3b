import { expect, test } from 'bun:test';
import { only, required } from '@/core/required.ts';

test('what is missing is named', () => {
  expect(required(0, 'number')).toBe(0);
  expect(() => required(undefined, 'user usr_1')).toThrow('missing: user usr_1');
  expect(() => required(null, 'session ses_1')).toThrow('missing: session ses_1');
});

test('one is neither none nor two', () => {
  expect(only(['a'])).toBe('a');
  expect(() => only([])).toThrow('0 instead of one');
  expect(() => only(['a', 'b'])).toThrow('2 instead of one');
});
