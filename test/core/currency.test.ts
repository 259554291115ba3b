import { describe, expect, test } from 'bun:test';
import { currencyCode } from '../../src/core/currency.ts';

describe('currencyCode', () => {
  test.each([
    ['EUR', 'EUR'],
    ['usd', 'USD'],
    [' Chf ', 'CHF'],
    ['JPY', 'JPY'],
    ['XAF', 'XAF'],
  ])('reads %j as %j', (text, code) => {
    expect(currencyCode(text)).toBe(code);
  });

  test.each([
    '',
    'EU',
    'EURO',
    '€',
    '978',
    'QQQ',
    'XXX',
    'XTS',
    'E\u0131R',
    '\uff25\uff35\uff32',
    'EUR'.repeat(30_000),
  ])('refuses %p', (text) => {
    expect(currencyCode(text)).toBeNull();
  });
});
