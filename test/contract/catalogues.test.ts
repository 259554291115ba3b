/**
 * Every language has all of English's texts with the same values, in its own grammar and typography, and no text is
 * unused.
 */
import { describe, expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { HINTS } from '@/core/error-hints.ts';
import { LOCALES, type Locale } from '@/core/locale.ts';
import { CATALOGUES } from '@/i18n/catalogues.ts';

type Messages = Readonly<Record<string, string>>;

const ROOT = resolve(import.meta.dir, '../../src');

const SAME_WORD = 'written alike in the language, where it is the usual word';
const CODE = { 'device.codeLabel': SAME_WORD, 'device.codeTitle': SAME_WORD, 'account.codeLabel': SAME_WORD };
const PASSKEYS = 'the name that platforms give it in the language as well';

/** Texts that are rightly the same as in English, with the reason. */
const SAME_AS_ENGLISH: { readonly [Other in Locale]?: Readonly<Record<string, string>> } = {
  de: {
    ...CODE,
    'account.renameLabel': SAME_WORD,
    'account.passkey.title': PASSKEYS,
    'account.passkey.unnamed': PASSKEYS,
    'email.with': SAME_WORD,
    'account.profile.names': SAME_WORD,
    'account.profile.region': SAME_WORD,
    'account.picture.banner': SAME_WORD,
    'account.picture.zoom': SAME_WORD,
  },
  es: { 'device.roles': SAME_WORD },
  fr: {
    ...CODE,
    'account.address.province': SAME_WORD,
    'account.application.status.active': `${SAME_WORD}: feminine of actif`,
  },
  it: {
    'signin.privacy': SAME_WORD,
    'device.accountTitle': SAME_WORD,
    'account.passkey.unnamed': PASSKEYS,
    'email.with': SAME_WORD,
  },
  nl: { ...CODE, 'signin.privacy': SAME_WORD, 'device.accountTitle': SAME_WORD, 'email.with': SAME_WORD },
  tr: { 'openid.clientTitle': SAME_WORD },
  pl: { 'account.profile.region': SAME_WORD, 'openid.clientTitle': SAME_WORD },
  cs: { 'account.profile.region': SAME_WORD, 'openid.clientTitle': SAME_WORD },
  sv: {
    'openid.clientTitle': SAME_WORD,
    'account.passkey.title': PASSKEYS,
    'account.passkey.unnamed': PASSKEYS,
    'account.profile.region': SAME_WORD,
  },
};

/**
 * Keys built from a single value, with the replacements of `*`. Longer ones, such as `account.part.${part}`, need no
 * entry.
 */
const MADE: Readonly<Record<string, readonly string[]>> = {
  'errors.*': [...Object.keys(ERROR_CATALOGUE), ...Object.keys(HINTS), 'network', 'session_ended'],
  'errors.problem.*': Object.keys(ERROR_CATALOGUE),
  'account.*': ['rename', 'disconnect'],
  'device.*': ['owner', 'admin', 'member'],
  'signin.*': ['terms', 'privacy', 'imprint'],
};

/** Quotation marks by language; `’` is the apostrophe in all. */
const QUOTES: Readonly<Record<Locale, string>> = {
  en: '“”‘’',
  de: '„“‚‘',
  es: '«»“”',
  fr: '«»“”',
  it: '«»“”',
  nl: '“”‘’',
  'pt-BR': '“”‘’',
  'pt-PT': '«»“”',
  tr: '“”‘’',
  pl: '„”«»',
  cs: '„“‚‘',
  sv: '”’',
  el: '«»“”',
  ru: '«»„“',
  uk: '«»„“',
};

const flat = (services: Readonly<Record<string, Messages>>): Messages =>
  Object.fromEntries(
    Object.entries(services).flatMap(([service, texts]) =>
      Object.entries(texts).map(([key, text]) => [`${service}.${key}`, text] as const),
    ),
  );

const english = flat(CATALOGUES.en);
const catalogues = LOCALES.flatMap((locale) => {
  const texts = CATALOGUES[locale];
  return texts ? [[locale, flat(texts)] as const] : [];
});

function partsOf(message: string): MessageFormatElement[] {
  const all: MessageFormatElement[] = [];
  const walk = (parts: readonly MessageFormatElement[]): void => {
    for (const part of parts) {
      all.push(part);
      if (part.type === TYPE.plural || part.type === TYPE.select)
        for (const { value } of Object.values(part.options)) walk(value);
    }
  };
  walk(parse(message, { ignoreTag: true }));
  return all;
}

const literalsOf = (message: string) =>
  partsOf(message).flatMap((part) => (part.type === TYPE.literal ? part.value : []));

/** Returns a message's arguments by name and kind, and the options of each choice. */
function valuesOf(message: string): string {
  const values = partsOf(message).flatMap((part) => {
    if (part.type === TYPE.literal || part.type === TYPE.pound) return [];
    const choice = part.type === TYPE.select ? ` of ${Object.keys(part.options).sort().join(' ')}` : '';
    return `${part.value}: ${TYPE[part.type]}${choice}`;
  });
  return [...new Set(values)].sort().join(', ');
}

/** Returns plurals with categories that the language lacks; exact matches such as `=0` are allowed. */
function wrongPlurals(locale: string, message: string): string[] {
  return partsOf(message).flatMap((part) => {
    if (part.type !== TYPE.plural) return [];
    const type = part.pluralType ?? 'cardinal';
    const needed = new Intl.PluralRules(locale, { type }).resolvedOptions().pluralCategories.toSorted();
    const given = Object.keys(part.options).filter((option) => !option.startsWith('='));
    return given.toSorted().join() === needed.join() ? [] : [`${part.value} needs ${needed.join(' ')}`];
  });
}

/** Returns typographic errors. */
function typographyOf(locale: Locale, message: string): string[] {
  const words = literalsOf(message);
  const foreign = (text: string) =>
    [...text].filter((mark) => '“”„‟‘‚«»‹›'.includes(mark) && !QUOTES[locale].includes(mark));
  return [
    ...(message.includes("'") ? ['a straight apostrophe, which ICU takes for its own; write ’'] : []),
    ...(words.some((text) => text.includes('"')) ? ['a straight quotation mark'] : []),
    ...(words.some((text) => text.includes('...')) ? ['three dots for …'] : []),
    ...(message.trim() === message ? [] : ['a space at its start or end']),
    ...(words.some((text) => /[ \t\n]{2}/.test(text)) ? ['two spaces'] : []),
    ...(words.some((text) => foreign(text).length > 0) ? ['quotation marks of another language'] : []),
    ...(locale === 'fr' && words.some((text) => /(?:^|[^\u00a0\u202f])[;:!?»]|«[^\u00a0\u202f]/.test(text))
      ? ['no narrow space before ; : ! ? » or after «']
      : []),
  ];
}

/** Returns whether the message contains a translatable word. */
const hasWords = (message: string) => literalsOf(message).some((text) => /\p{Letter}{2}/u.test(text));

/** Returns every finding as `key: finding`. */
function findings(locale: Locale, messages: Messages): string[] {
  const reasons = SAME_AS_ENGLISH[locale] ?? {};
  const missing = Object.keys(english).filter((key) => !Object.hasOwn(messages, key));
  return [
    ...missing.map((key) => `${key}: missing`),
    ...Object.entries(messages).flatMap(([key, message]) => {
      const original = Object.hasOwn(english, key) ? english[key]! : null;
      if (original === null) return [`${key}: no such text in English`];
      const isSame = locale !== 'en' && message === original && hasWords(message);
      return [
        ...(message === '' ? ['empty'] : []),
        ...(valuesOf(message) === valuesOf(original)
          ? []
          : [`takes ${valuesOf(message)}; English ${valuesOf(original)}`]),
        ...wrongPlurals(locale, message),
        ...typographyOf(locale, message),
        ...(isSame && !Object.hasOwn(reasons, key) ? ['the same as in English, without a reason'] : []),
      ].map((what) => `${key}: ${what}`);
    }),
    ...Object.keys(reasons)
      .filter((key) => messages[key] !== english[key])
      .map((key) => `${key}: has a reason to be the same as in English, and is not`),
  ];
}

describe('the texts', () => {
  test.each(catalogues)('texts in %s match English’s, in their own grammar and typography', (locale, messages) => {
    expect(findings(locale, messages)).toEqual([]);
  });

  test.each(LOCALES)('messages in %s have each key once, which parsing alone would not show', async (locale) => {
    const written = (await Bun.file(join(ROOT, `i18n/locales/${locale}.json`)).text()).trimEnd().split('\n');
    const parsed = JSON.stringify(CATALOGUES[locale], null, 2).split('\n');
    expect(written.find((line, index) => line !== parsed[index])).toBeUndefined();
  });

  test.each<[Locale, string, string, string]>([
    ['de', 'signin.continue', 'Weiter, {nobody}', 'takes nobody: argument; English '],
    ['de', 'errors.reference', 'Ohne Angabe', 'takes ; English requestId: argument'],
    ['de', 'errors.rate_limited', 'Noch {seconds} Sekunden', 'takes seconds: argument; English seconds: plural'],
    [
      'pl',
      'errors.rate_limited',
      '{seconds, plural, one {Sekunda} other {Sekundy}}',
      'seconds needs few many one other',
    ],
    ['de', 'signin.continue', 'Continue', 'the same as in English, without a reason'],
    ['de', 'signin.continue', "Geht's weiter", 'a straight apostrophe, which ICU takes for its own; write ’'],
    ['de', 'signin.continue', '“Weiter”', 'quotation marks of another language'],
    ['de', 'signin.continue', 'Weiter ', 'a space at its start or end'],
    ['fr', 'signin.continue', 'Continuer ?', 'no narrow space before ; : ! ? » or after «'],
    ['de', 'signin.nothing', 'Nichts', 'no such text in English'],
  ])('an error in %s is reported: %s as %p', (locale, key, message, what) => {
    expect(findings(locale, { ...english, [key]: message })).toContain(`${key}: ${what}`);
  });
});

describe('every key', () => {
  const SERVICES = Object.keys(CATALOGUES.en).join('|');
  const sources = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(ROOT)].filter(
    (path) => !path.startsWith('i18n/') && !path.includes('generated/'),
  );
  const named = new Set<string>();
  const made = new Set<string>();

  test('every English key is used', async () => {
    for (const path of sources) {
      const text = await Bun.file(join(ROOT, path)).text();
      for (const [, key] of text.matchAll(new RegExp(`['"\`]((?:${SERVICES})\\.[\\w.-]+)['"\`]`, 'g'))) named.add(key!);
      for (const [, key] of text.matchAll(new RegExp(`\`((?:${SERVICES})\\.[^\`\\s]*\\$\\{[^\`\\s]*)\``, 'g')))
        made.add(key!.replace(/\$\{[^}]*\}/g, '*'));
    }
    const patterns = [...made]
      .filter((pattern) => !(pattern in MADE) && !/^\w+\.\*$/.test(pattern))
      .map((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[\\w-]+')}$`));
    const listed = new Set(
      Object.entries(MADE).flatMap(([pattern, values]) => values.map((value) => pattern.replace('*', value))),
    );
    const isUsed = (key: string) => named.has(key) || listed.has(key) || patterns.some((pattern) => pattern.test(key));
    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });

  test('every key built from a single value is listed with its possible values', () => {
    expect([...made].filter((pattern) => /^\w+\.\*$/.test(pattern) && !(pattern in MADE))).toEqual([]);
  });

  test('a key without a use is reported', () => {
    expect(named.has('signin.title')).toBe(true);
    expect([...named].filter((key) => key === 'signin.nothing')).toEqual([]);
  });
});
