import { describe, expect, test } from 'bun:test';
import { format } from '@/core/format.ts';

describe('format', () => {
  test('every placeholder that has a value is filled, however often it stands there', () => {
    expect(format('{code} is your {app} code: {code}', { code: '012345', app: 'Acme' })).toBe(
      '012345 is your Acme code: 012345',
    );
    expect(format('{minutes} min', { minutes: 0 })).toBe('0 min');
  });

  test('a placeholder without a value stays, inherited properties included', () => {
    expect(format('{name} {constructor} {toString}', {})).toBe('{name} {constructor} {toString}');
  });

  test('a value is never expanded in turn', () => {
    expect(format('{a} {b}', { a: '{b}', b: '$&$1' })).toBe('{b} $&$1');
  });
});
