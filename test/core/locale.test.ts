import { describe, expect, test } from 'bun:test';
import { LOCALES, negotiateLocale } from '@/core/locale.ts';

describe('negotiateLocale', () => {
  test('a locale asked for by name wins over the header, in any case and with an underscore', () => {
    expect(negotiateLocale('de', 'fr')).toBe('de');
    expect(negotiateLocale('PT_br', 'fr')).toBe('pt-BR');
  });

  test('every locale is found by its own tag', () => {
    for (const locale of LOCALES) expect(negotiateLocale(locale, null)).toBe(locale);
  });

  test('a name that is not spoken leaves the choice to the header', () => {
    expect(negotiateLocale('xx', 'sv')).toBe('sv');
    expect(negotiateLocale('', 'sv')).toBe('sv');
  });

  test('the heaviest range wins, and order decides between equals', () => {
    expect(negotiateLocale(null, 'de;q=0.5, fr;q=0.9, it;q=0.1')).toBe('fr');
    expect(negotiateLocale(null, 'it, cs')).toBe('it');
    expect(negotiateLocale(null, 'ja, el;q=0.3')).toBe('el');
  });

  test('a range with q=0 or a broken weight is not taken', () => {
    expect(negotiateLocale(null, 'de;q=0, fr;q=0.1')).toBe('fr');
    expect(negotiateLocale(null, 'de;q=0.000')).toBe('en');
    expect(negotiateLocale(null, 'de;q=7, fr;q=0.1')).toBe('fr');
  });

  test('a range is shortened until a locale matches', () => {
    expect(negotiateLocale(null, 'de-AT')).toBe('de');
    expect(negotiateLocale(null, 'de-u-co-phonebk')).toBe('de');
    expect(negotiateLocale(null, 'en-Latn-GB')).toBe('en');
  });

  test('Portuguese is Brazilian unless the region follows Portugal', () => {
    expect(negotiateLocale(null, 'pt')).toBe('pt-BR');
    expect(negotiateLocale(null, 'pt-PT')).toBe('pt-PT');
    expect(negotiateLocale(null, 'pt-AO')).toBe('pt-PT');
  });

  test('who speaks none of the languages is answered in the nearest that CLDR knows', () => {
    expect(negotiateLocale(null, 'ca')).toBe('es');
    expect(negotiateLocale(null, 'gsw-CH')).toBe('de');
    expect(negotiateLocale('sk', 'en')).toBe('cs');
  });

  test('a language that is spoken goes before one that is only near', () => {
    expect(negotiateLocale(null, 'ca, fr;q=0.5')).toBe('fr');
    expect(negotiateLocale(null, 'de-AT, en')).toBe('de');
    expect(negotiateLocale(null, 'pt-AO, en')).toBe('pt-PT');
  });

  test('English is the answer when nothing is asked for or nothing matches', () => {
    expect(negotiateLocale(null, null)).toBe('en');
    expect(negotiateLocale(undefined, '*')).toBe('en');
    expect(negotiateLocale(null, 'ja, zh-Hant')).toBe('en');
  });

  test('a hostile header is answered at once', () => {
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

  test('ranges beyond the twentieth are not read', () => {
    expect(negotiateLocale(null, `${'ja,'.repeat(20)}de`)).toBe('en');
    expect(negotiateLocale(null, `${'ja,'.repeat(19)}de`)).toBe('de');
  });
});
