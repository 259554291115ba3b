import { describe, expect, test } from 'bun:test';
import { LOCALES, negotiateLocale } from '@/core/locale.ts';

describe('negotiateLocale', () => {
  test('prefers an explicit locale to the header, in any case and with an underscore', () => {
    expect(negotiateLocale('de', 'fr')).toBe('de');
    expect(negotiateLocale('PT_br', 'fr')).toBe('pt-BR');
  });

  test('finds every locale by its own tag', () => {
    for (const locale of LOCALES) expect(negotiateLocale(locale, null)).toBe(locale);
  });

  test('falls back to the header for an unsupported locale', () => {
    expect(negotiateLocale('xx', 'sv')).toBe('sv');
    expect(negotiateLocale('', 'sv')).toBe('sv');
  });

  test('takes the range with the highest weight, and the first of equals', () => {
    expect(negotiateLocale(null, 'de;q=0.5, fr;q=0.9, it;q=0.1')).toBe('fr');
    expect(negotiateLocale(null, 'it, cs')).toBe('it');
    expect(negotiateLocale(null, 'ja, el;q=0.3')).toBe('el');
  });

  test('ignores ranges with q=0 or an invalid weight', () => {
    expect(negotiateLocale(null, 'de;q=0, fr;q=0.1')).toBe('fr');
    expect(negotiateLocale(null, 'de;q=0.000')).toBe('en');
    expect(negotiateLocale(null, 'de;q=7, fr;q=0.1')).toBe('fr');
  });

  test('shortens a range until a locale matches', () => {
    expect(negotiateLocale(null, 'de-AT')).toBe('de');
    expect(negotiateLocale(null, 'de-u-co-phonebk')).toBe('de');
    expect(negotiateLocale(null, 'en-Latn-GB')).toBe('en');
  });

  test('takes Portuguese as Brazilian unless the region follows Portugal', () => {
    expect(negotiateLocale(null, 'pt')).toBe('pt-BR');
    expect(negotiateLocale(null, 'pt-PT')).toBe('pt-PT');
    expect(negotiateLocale(null, 'pt-AO')).toBe('pt-PT');
  });

  test('takes the nearest language in CLDR when none is supported', () => {
    expect(negotiateLocale(null, 'ca')).toBe('es');
    expect(negotiateLocale(null, 'gsw-CH')).toBe('de');
    expect(negotiateLocale('sk', 'en')).toBe('cs');
  });

  test('prefers a supported language to a near one', () => {
    expect(negotiateLocale(null, 'ca, fr;q=0.5')).toBe('fr');
    expect(negotiateLocale(null, 'de-AT, en')).toBe('de');
    expect(negotiateLocale(null, 'pt-AO, en')).toBe('pt-PT');
  });

  test('returns English when nothing is requested or nothing matches', () => {
    expect(negotiateLocale(null, null)).toBe('en');
    expect(negotiateLocale(undefined, '*')).toBe('en');
    expect(negotiateLocale(null, 'ja, zh-Hant')).toBe('en');
  });

  test('handles a hostile header quickly', () => {
    const hostile = [
      'a-'.repeat(500_000),
      'x-foo, und, i-klingon, de-',
      ','.repeat(1_000_000),
      `${'x;'.repeat(400_000)}, de`,
      ' '.repeat(1_000_000),
    ];
    const before = performance.now();
    for (const header of hostile) expect(negotiateLocale(header, header)).toBe('en');
    expect(performance.now() - before).toBeLessThan(100);
  });

  test('ignores ranges beyond the twentieth', () => {
    expect(negotiateLocale(null, `${'ja,'.repeat(20)}de`)).toBe('en');
    expect(negotiateLocale(null, `${'ja,'.repeat(19)}de`)).toBe('de');
  });
});
