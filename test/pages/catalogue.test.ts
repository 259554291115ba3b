import { describe, expect, test } from 'bun:test';
import { LOCALES } from '@/core/locale.ts';
import { type Catalogue, catalogueFor } from '@/i18n/catalogue.ts';
import { en } from '@/i18n/en.ts';
import { signInCodeMail } from '@/mail/messages/sign-in-code.ts';
import { renderSignInPage } from '@/pages/sign-in.ts';

const services = Object.keys(en) as (keyof typeof en)[];
const placeholdersOf = (text = '') => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');

/** The texts that fill in other values than English does. */
const departures = (texts: Catalogue) =>
  services.flatMap((service) => {
    const [own, english]: Record<string, string>[] = [texts[service], en[service]];
    return Object.keys(english!)
      .filter((key) => placeholdersOf(own![key]) !== placeholdersOf(english![key]))
      .map((key) => `${service}.${key}`);
  });

describe('catalogueFor', () => {
  test('every locale has texts, in English where it has none of its own', () => {
    for (const locale of LOCALES) {
      const { texts } = catalogueFor(locale);
      for (const service of services) {
        expect(Object.keys(texts[service]).sort()).toEqual(Object.keys(en[service]).sort());
        expect(Object.values(texts[service]).every((text) => text.trim() !== '')).toBe(true);
      }
    }
  });

  test('every language with texts of its own fills in the same values as English', () => {
    const translated = LOCALES.map(catalogueFor).filter(({ texts }) => texts !== en);
    expect(translated.flatMap(({ locale, texts }) => departures(texts).map((key) => `${locale}: ${key}`))).toEqual([]);
  });

  test('a translation that drops or invents a value would be found', () => {
    const dropped = { ...en, errors: { ...en.errors, reference: 'Ohne Angabe' } };
    const invented = { ...en, signin: { ...en.signin, continue: 'Weiter, {nobody}' } };
    expect([departures(dropped), departures(invented)]).toEqual([['errors.reference'], ['signin.continue']]);
  });

  test('says which language the texts are really in', () => {
    for (const locale of LOCALES) {
      const found = catalogueFor(locale);
      expect(found.texts === en).toBe(found.locale === 'en');
      expect([locale, 'en']).toContain(found.locale);
    }
  });
});

test.each(LOCALES)('a page and a mail asked for in %s name the language that they are really in', (locale) => {
  const found = catalogueFor(locale);
  const application = { name: 'Acme', clientId: 'acme', logoUrl: null, accentColor: null };
  const ways = { isCodeAllowed: true, passkeyHost: null, provider: null };
  const page = renderSignInPage({ locale, application, ways, returnTo: null });
  const mail = signInCodeMail({ locale, applicationName: 'Acme', code: '012345', lifetimeMinutes: 10, host: 'a.test' });
  for (const [document, text] of [
    [page, found.texts.signin.continue],
    [mail.html, found.texts.email.intro],
  ] as const) {
    expect(document).toContain(`<html lang="${found.locale}"`);
    expect(document).toContain(text);
  }
});
