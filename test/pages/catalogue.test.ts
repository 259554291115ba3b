import { describe, expect, test } from 'bun:test';
import { LOCALES } from '@/core/locale.ts';
import { messagesFor, textsFor } from '@/i18n/catalogue.ts';
import { CATALOGUES } from '@/i18n/catalogues.ts';
import en from '@/i18n/locales/en.json';
import { PRODUCT } from '@/mail/letter.tsx';
import { signInCodeMail } from '@/mail/messages/sign-in-code.ts';
import { renderSignInPage } from '@/pages/sign-in/route.tsx';
import { OCCURRENCE } from '../support/letters.ts';

const services = Object.keys(en) as (keyof typeof en)[];
const translated = LOCALES.filter((locale) => CATALOGUES[locale] !== undefined);

describe('the catalogues', () => {
  test('have texts for every locale, in English if it has none', () => {
    for (const locale of LOCALES) {
      const messages = messagesFor(locale, services);
      for (const service of services) {
        const keys = Object.keys(en[service]).map((key) => `${service}.${key}`);
        expect(Object.keys(messagesFor(locale, [service])).sort()).toEqual(keys.sort());
      }
      expect(Object.values(messages).every((message) => message.length > 0)).toBe(true);
    }
  });

  test('state the actual language of the texts', () => {
    for (const locale of LOCALES)
      expect([locale, textsFor(locale).locale]).toEqual([locale, translated.includes(locale) ? locale : 'en']);
  });
});

test.each(LOCALES)('a page and a mail requested in %s state their actual language', (locale) => {
  const text = textsFor(locale);
  const look = { name: 'Acme', logoUrl: null, logoDarkUrl: null, iconUrl: null, accentColor: null };
  const page = renderSignInPage({
    locale,
    application: {
      ...look,
      id: 'app_1',
      clientId: 'acme',
      state: null,
      homeUrl: null,
      supportUrl: null,
      links: { terms: null, privacy: null, imprint: null },
    },
    methods: { isCodeAllowed: true, passkeyHost: null, provider: null },
    isPasskeyFirst: false,
    wrongTriesPerCode: 5,
    isMailOff: false,
    isDev: false,
    returnTo: null,
    isTrial: false,
    authorization: null,
    email: null,
    accounts: [],
  });
  const mail = signInCodeMail({
    locale,
    application: { ...PRODUCT, ...look },
    code: '012345',
    occurrence: OCCURRENCE,
    line: null,
    lifetimeMinutes: 10,
    host: 'a.test',
  });
  for (const [document, words] of [
    [page, text('signin.continue')],
    [mail.html, text('email.codeIntro')],
  ] as const) {
    expect(document).toContain(`<html lang="${text.locale}"`);
    expect(document).toContain(words);
  }
});
