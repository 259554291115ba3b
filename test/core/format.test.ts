import { describe, expect, test } from 'bun:test';
import { format } from '@/core/format.ts';

describe('format', () => {
  test('fills every occurrence of a placeholder that has a value', () => {
    expect(format('{code} is your {app} code: {code}', { code: '012345', app: 'Acme' })).toBe(
      '012345 is your Acme code: 012345',
    );
    expect(format('{minutes} min', { minutes: 0 })).toBe('0 min');
  });

  test('keeps placeholders without a value, including names of inherited properties', () => {
    expect(format('{name} {constructor} {toString}', {})).toBe('{name} {constructor} {toString}');
  });

  test('never expands a value again', () => {
    expect(format('{a} {b}', { a: '{b}', b: '$&$1' })).toBe('{b} $&$1');
  });
});
