import { describe, expect, test } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { formatUserCode, mintUserCode, normalizeUserCode } from '@/core/user-code.ts';

describe('a user code', () => {
  test('has eight letters without vowels, and its displayed form is read back', () => {
    for (let draw = 0; draw < 100; draw += 1) {
      const code = mintUserCode(systemRandom);
      expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
      expect(formatUserCode(code)).toBe(`${code.slice(0, 4)}-${code.slice(4)}`);
      expect(normalizeUserCode(formatUserCode(code))).toBe(code);
    }
  });

  test.each([
    'WDJB-MJHT',
    'wdjb-mjht',
    'WdJbMjHt',
    ' WDJB MJHT ',
    'W D J B - M J H T',
    'WDJB–MJHT',
    'WDJB‑MJHT',
    '\tWDJB\u00a0MJHT\n',
    '--WDJBMJHT--',
    'WDJB_MJHT',
    'ＷＤＪＢＭＪＨＴ',
  ])('is read from %j', (typed) => {
    expect(normalizeUserCode(typed)).toBe('WDJBMJHT');
  });

  test.each(['', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJA-MJHT', '0DJB-MJHT', "' OR 1=1", 'WDJBMJHT'.padEnd(101)])(
    'is not read from %j',
    (typed) => {
      expect(normalizeUserCode(typed)).toBeNull();
    },
  );

  test('gets its hyphen while it is typed, and keeps wrong characters visible', () => {
    expect(['b', 'bcdf', 'bcdfg', 'bcdfghjkl', 'acdf1'].map(formatUserCode)).toEqual([
      'B',
      'BCDF',
      'BCDF-G',
      'BCDF-GHJK',
      'ACDF-1',
    ]);
  });
});
