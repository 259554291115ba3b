import { describe, expect, test } from 'bun:test';
import { canonicalLocale, canonicalTimeZone } from '../../src/core/language.ts';

describe('canonicalLocale', () => {
  test.each([
    ['de', 'de'],
    ['DE-at', 'de-AT'],
    ['zh-hans-cn', 'zh-Hans-CN'],
    ['sr-latn-RS', 'sr-Latn-RS'],
    ['en-US-u-ca-gregory', 'en-US-u-ca-gregory'],
    ['de-DE-1996', 'de-DE-1996'],
  ])('reads %j as %j', (text, canonical) => {
    expect(canonicalLocale(text)).toBe(canonical);
    expect(canonicalLocale(canonical)).toBe(canonical);
  });

  test.each([
    '',
    ' ',
    'x',
    'de_AT',
    'en-',
    '-en',
    '123',
    'english language',
    'de,en',
    'é',
    'en\0',
    `en-${'a'.repeat(40)}`,
  ])('refuses the locale %j', (text) => {
    expect(canonicalLocale(text)).toBeNull();
  });
});

describe('canonicalTimeZone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'Etc/GMT+5'])(
    'accepts %j',
    (text) => {
      expect(canonicalTimeZone(text)).not.toBeNull();
    },
  );

  test.each([
    '',
    ' ',
    'Mars/Olympus',
    '+01:00',
    '-0800',
    '\u221201:00',
    '01:00',
    'UTC+1',
    'GMT+1',
    'Z',
    'local',
    'x'.repeat(65),
  ])('refuses the time zone %j', (text) => {
    expect(canonicalTimeZone(text)).toBeNull();
  });
});
