import { expect, test } from 'bun:test';
import { LOCALES } from '@/core/locale.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import { deviceText } from '@/pages/account/words.ts';

const FIREFOX = { device: 'Firefox on Linux', browser: { browser: 'Firefox', system: 'Linux' } };

test.each([
  ['en', 'Firefox on Linux'],
  ['de', 'Firefox unter Linux'],
  ['tr', 'Linux üzerinde Firefox'],
  ['pl', 'Firefox w systemie Linux'],
] as const)('a device is named in the reader’s language: %s', (locale, name) => {
  expect(deviceText(textsFor(locale), FIREFOX)).toBe(name);
});

test('a browser without a known system, a program and an unknown device have names too', () => {
  for (const locale of LOCALES) {
    const text = textsFor(locale);
    expect(deviceText(text, { device: 'Firefox', browser: { browser: 'Firefox', system: null } })).toBe('Firefox');
    expect(deviceText(text, { device: 'acme-cli', browser: null })).toBe('acme-cli');
    expect(deviceText(text, { device: null, browser: null })).toBe(text('account.unknownDevice'));
  }
});
