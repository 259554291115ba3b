import { describe, expect, test } from 'bun:test';
import { LOCALES } from '@/core/locale.ts';
import { catalogueFor, format } from '@/i18n/catalogue.ts';
import { en } from '@/i18n/en.ts';

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

describe('catalogueFor', () => {
  test('every locale has texts, in English where it has none of its own', () => {
    for (const locale of LOCALES) {
      const catalogue = catalogueFor(locale);
      for (const service of Object.keys(en) as (keyof typeof en)[]) {
        expect(Object.keys(catalogue[service]).sort()).toEqual(Object.keys(en[service]).sort());
        expect(Object.values(catalogue[service]).every((text) => text.trim() !== '')).toBe(true);
      }
    }
  });
});
