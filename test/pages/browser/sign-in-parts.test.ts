import { describe, expect, test } from 'bun:test';
import { ERROR_CATALOGUE, type ErrorCode } from '@/core/error.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import { accentPalette, contrast, parseHex } from '@/core/accent.ts';
import { post } from '@/pages/browser/api.ts';
import { codeDigits, extractCode } from '@/pages/browser/code.ts';
import { failureText } from '@/pages/components/failure-text.ts';
import { addressBack } from '@/pages/browser/return-url.ts';
import { clockText, secondsUntil } from '@/pages/browser/timing.ts';

describe('extractCode', () => {
  test.each([
    ['123456', '123456'],
    [' 123 456 ', '123456'],
    ['123-456', '123456'],
    ['1 2 3 4 5 6', '123456'],
    ['１２３４５６', '123456'],
    ['Your code is 123 456. It expires in 10 minutes.', '123456'],
    ['012345 is your Acme 3000 sign-in code', '012345'],
    ['Expires in 10 minutes: 654321', '654321'],
    ['2025-01-02 your code: 987654', '987654'],
  ])('finds in %p the code %s', (text, code) => {
    expect(extractCode(text)).toBe(code);
  });

  test.each(['', '12345', '1234567', 'call +49 170 1234567', 'no code here'])('finds no code in %p', (text) => {
    expect(extractCode(text)).toBeNull();
  });

  test('handles a huge text at once', () => {
    const before = performance.now();
    expect(extractCode('1 '.repeat(1_000_000))).toBe('111111');
    extractCode('1-'.repeat(5) + ' '.repeat(1_000_000));
    expect(performance.now() - before).toBeLessThan(100);
  });

  test('a partially typed code keeps its digits', () => {
    expect(codeDigits('12 3a')).toBe('123');
    expect(codeDigits('12345678')).toBe('123456');
  });
});

describe('addressBack', () => {
  test('encodes values, keeps the query and drops an old fragment', () => {
    const values = { token: 'est_a+b/c&d', expiresAt: '2030-01-01T00:00:00.000Z' };
    expect(addressBack('https://acme.test/back?x=1#old', values)).toBe(
      'https://acme.test/back?x=1#token=est_a%2Bb%2Fc%26d&expiresAt=2030-01-01T00%3A00%3A00.000Z',
    );
  });

  test('follows only http(s) addresses', () => {
    for (const address of [null, '', '/back', 'javascript:alert(1)', 'data:text/html,x', ' jAvAscript:alert(1)']) {
      expect(addressBack(address, { error: 'waitlist' })).toBeNull();
    }
  });
});

describe('secondsUntil', () => {
  const limits = { fallback: 30, atMost: 300 };

  test('uses the server’s clock for the wait, not the local one', () => {
    expect(secondsUntil('2001-01-01T00:00:31.000Z', 'Mon, 01 Jan 2001 00:00:01 GMT', limits)).toBe(30);
  });

  test('ignores the rounding of the Date header, which has whole seconds', () => {
    expect(secondsUntil('2001-01-01T00:00:32.900Z', 'Mon, 01 Jan 2001 00:00:01 GMT', limits)).toBe(30);
    expect(secondsUntil('2001-01-01T00:00:13.900Z', 'Mon, 01 Jan 2001 00:00:01 GMT', limits)).toBe(12);
  });

  test('replaces an implausible or unreadable wait', () => {
    expect(secondsUntil('2001-01-05T00:00:31.000Z', 'Mon, 01 Jan 2001 00:00:01 GMT', limits)).toBe(30);
    expect(secondsUntil('2000-01-01T00:00:31.000Z', 'Mon, 01 Jan 2001 00:00:01 GMT', limits)).toBe(30);
    expect(secondsUntil('soon', null, limits)).toBe(30);
  });

  test('formats a wait as minutes and seconds', () => {
    expect([0, 9, 61, 600].map(clockText)).toEqual(['0:00', '0:09', '1:01', '10:00']);
  });
});

describe('failureText', () => {
  const text = textsFor('en');
  const failure = { ok: false, requestId: 'req_1', retryAfterSeconds: null, fields: [] as string[] } as const;

  test('has a sentence for every code of the catalogue', () => {
    expect(failureText(text, { ...failure, code: 'code_invalid' })).toBe(text('errors.code_invalid'));
    expect(failureText(text, { ...failure, code: 'network' })).toBe(text('errors.network'));
  });

  test.each([
    [1, '1 second'],
    [2, '2 seconds'],
    [90, '90 seconds'],
    [91, '2 minutes'],
    [90 * 60, '90 minutes'],
    [90 * 60 + 1, '2 hours'],
    [24 * 3600, '24 hours'],
  ])('writes a wait of %d s as %s', (retryAfterSeconds, said) => {
    expect(failureText(text, { ...failure, code: 'rate_limited', retryAfterSeconds })).toContain(` ${said},`);
  });

  test('writes an unknown code as an internal error with its reference', () => {
    for (const code of ['internal', 'brand_new', 'constructor', 'reference', 'rate_limited_minutes']) {
      expect(failureText(text, { ...failure, code })).toEndWith('Reference: req_1');
    }
  });

  test('never uses an error’s message for programs', () => {
    for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[])
      expect(failureText(text, { ...failure, code })).not.toContain(ERROR_CATALOGUE[code].message);
  });

  test('keeps nothing of the answer’s message for programs', async () => {
    const fields = [{ path: 'name', message: 'Words for programs.' }];
    const answer = { success: false, error: 'conflict', message: 'Words for programs.', requestId: 'req_1', fields };
    using server = Bun.serve({ port: 0, fetch: () => Response.json(answer, { status: 409 }) });
    const outcome = await post(new URL('/api', server.url).href, {});
    expect(outcome).toEqual({
      ok: false,
      code: 'conflict',
      requestId: 'req_1',
      retryAfterSeconds: null,
      fields: ['name'],
    });
    expect(failureText(text, outcome as typeof failure & { code: string })).toBe(
      `${text('errors.internal')} Reference: req_1`,
    );
  });

  test('writes a wait in seconds, then in minutes, and never as zero', () => {
    const wait = (retryAfterSeconds: number) =>
      failureText(text, { ...failure, code: 'rate_limited', retryAfterSeconds });
    expect(wait(0)).toContain('1 second,');
    expect(wait(45)).toContain('45 seconds');
    expect(wait(3_600)).toContain('60 minutes');
  });
});

describe('accentPalette', () => {
  const rgb = (color: string | undefined) => parseHex(color ?? '')!;

  test('gives readable text and a visible focus ring for any colour', () => {
    for (const color of ['#000', '#fff', '#f5d90a', '#2853d8', '#16191f', '#808080', '#ff0000', '#00ff00']) {
      const { onLight, onDark } = accentPalette(color)!;
      for (const { accent, ink } of [onLight, onDark]) expect(contrast(rgb(accent), rgb(ink))).toBeGreaterThan(4.4);
      expect(contrast(rgb(onLight.ring), rgb('#ffffff'))).toBeGreaterThanOrEqual(3);
      expect(contrast(rgb(onDark.ring), rgb('#16191f'))).toBeGreaterThanOrEqual(3);
    }
  });

  test('keeps a colour with enough contrast', () => {
    expect(accentPalette('#2853d8')).toMatchObject({ onLight: { accent: '#2853d8', ink: '#ffffff' } });
    expect(accentPalette('red')).toBeNull();
  });
});
