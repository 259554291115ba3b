/** Every mail in every language: the same content in both parts, readable in all mail clients. */
import { describe, expect, test } from 'bun:test';
import { contrast, parseHex } from '@/core/accent.ts';
import { LOCALES } from '@/core/locale.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import type { MailContent } from '@/mail/letter.tsx';
import { type Filling, LETTERS } from '../support/letters.ts';

const FILLING: Filling = {
  application: {
    name: 'Northwind Books',
    workspaceId: 'ws_1',
    clientId: 'app_northwind',
    supportEmail: 'help@northwind.example',
    support: 'https://northwind.example/help?from=mail&x=1',
    logoUrl: 'https://cdn.example/logo.png',
    logoDarkUrl: 'https://cdn.example/logo-dark.png',
    accentColor: '#f5d90a',
  },
  name: 'Workshop Ltd',
  url: 'https://id.example/undo-email-change?token=abc&x=1',
  host: 'id.example',
  email: 'ada@example.com',
  line: 'Open from nine to five.',
};

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Returns the visible text of the HTML part. */
function seen(html: string): string[] {
  const body = html
    .slice(html.indexOf('<body'))
    .replace(/<div (?:style="display:none|class="accent" aria-hidden)[^>]*>[^<]*<\/div>/g, '');
  const text = body
    .replace(/<(?!\/?a\b)[^>]*>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/[\u00a0\u202f]/g, ' ')
    .replaceAll('\u00ad', '');
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

const plain = (text: string) =>
  text
    .replace(/[\u00a0\u202f]/g, ' ')
    .split('\n')
    .map((line) => line.replace(/^- /, '').trim())
    .filter((line) => line !== '' && !/^@\S+ #\d+$/.test(line));

const everyMail = (locale: (typeof LOCALES)[number]): [string, MailContent][] =>
  Object.entries(LETTERS).map(([name, make]) => [name, make(locale, FILLING)]);

describe.each(LOCALES)('in %s', (locale) => {
  const text = textsFor(locale);

  test('every mail says the same in both of its parts', () => {
    for (const [name, mail] of everyMail(locale)) {
      const [below] = plain(text('email.linkBelow'));
      expect([name, seen(mail.html).filter((line) => line !== below)]).toEqual([name, plain(mail.text)]);
    }
  });

  test('no mail contains a placeholder or a raw value such as undefined or NaN', () => {
    for (const [name, mail] of everyMail(locale))
      for (const part of [mail.subject, mail.text, seen(mail.html).join('\n')]) {
        expect([name, /[{}]|\bundefined\b|\bnull\b|\[object|\bNaN\b/.exec(part)?.[0]]).toEqual([name, undefined]);
        expect([name, part.trim().length > 0]).toEqual([name, true]);
      }
  });

  test('every mail names its language and has a subject of one line', () => {
    for (const [name, mail] of everyMail(locale)) {
      expect([name, /<html lang="([^"]*)"/.exec(mail.html)?.[1]]).toEqual([name, text.locale]);
      expect([name, /[\r\n]|\s{2}/.test(mail.subject)]).toEqual([name, false]);
      expect([name, mail.html.includes(`<title>${Bun.escapeHTML(mail.subject)}</title>`)]).toEqual([name, true]);
    }
  });
});

test('every mail says why it was sent, or what to do if the reader did not request it', () => {
  for (const [name, mail] of everyMail('en'))
    expect([name, /You get this e-mail because|If .*not|nobody/.test(mail.text)]).toEqual([name, true]);
});

test('a code is at the start of the subject and in no address', () => {
  for (const [name, mail] of everyMail('en'))
    if (mail.text.includes('042917')) expect([name, mail.subject.startsWith('042917 ')]).toEqual([name, true]);
});

test('a mail loads nothing but the logos, runs nothing, and has inline styles only', () => {
  for (const [name, { html }] of everyMail('en')) {
    expect([name, /<(?:script|link|iframe|form|svg|video)\b|url\(|@import|@font-face/i.exec(html)]).toEqual([
      name,
      null,
    ]);
    const loaded = [...html.matchAll(/ src="([^"]*)"/g)].map(([, address]) => address);
    const { logoUrl, logoDarkUrl } = FILLING.application;
    expect([name, loaded.every((address) => address === logoUrl || address === logoDarkUrl)]).toEqual([name, true]);
    expect([name, html.length < 20_000]).toEqual([name, true]);
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>');
    expect(html).toContain('@media (prefers-color-scheme:dark)');
  }
});

test.each(['#000000', '#ffffff', '#f5d90a', '#2853d8', '#808080', '#16191f', 'red;}', null])(
  'a button is readable in light and in dark mode in any colour: %s',
  (accentColor) => {
    const filling = { ...FILLING, application: { ...FILLING.application, accentColor } };
    const { html } = LETTERS['betaMail approved']!('en', filling);
    const pairs = [
      [/<td class="accent" style="border-radius:8px;background-color:(#\w{6})/, /<a class="ink"[^>]*;color:(#\w{6})/],
      [/\.accent\{background-color:(#\w{6})/, /\.ink\{color:(#\w{6})/],
    ] as const;
    for (const [fill, ink] of pairs) {
      const [on, of] = [fill, ink].map((pattern) => parseHex(pattern.exec(html)?.[1] ?? '')!);
      expect(contrast(on!, of!)).toBeGreaterThan(4.4);
    }
  },
);

const drawn = (kind: string, application: Partial<Filling['application']>) =>
  LETTERS[kind]!('en', { ...FILLING, application: { ...FILLING.application, ...application } });

describe('the logo for dark mode', () => {
  test('is hidden by its style attribute, and replaces the other where the style sheet is read', () => {
    const { html } = drawn('newSignInMail', {});
    const [, hidden] = /<div class="on-dark" style="([^"]*)"><img src="https:\/\/cdn\.example\/logo-dark\.png"/.exec(
      html,
    )!;
    expect(hidden).toBe('display:none;overflow:hidden;max-height:0;mso-hide:all');
    const [, dark] = /@media \(prefers-color-scheme:dark\)\{(.*)\}<\/style>/s.exec(html)!;
    expect(dark).toContain('.on-light{display:none!important}');
    expect(dark).toContain('.on-dark{display:block!important;max-height:none!important}');
  });

  test.each([
    ['without one', { logoDarkUrl: null }],
    ['where both are the same', { logoDarkUrl: FILLING.application.logoUrl }],
  ])('leaves the only image in both schemes: %s', (_, application) => {
    const { html } = drawn('newSignInMail', application);
    expect(html.match(/<img /g)).toHaveLength(1);
    expect(html).not.toContain('class="on-');
  });

  test('changes nothing for an application without a logo, whose initial is shown', () => {
    expect(drawn('newSignInMail', { logoUrl: null }).html).not.toContain('<img ');
  });
});

describe('a mail that tells the reader to ask for help', () => {
  const NAMING = ['accountDeletedMail', 'emailUndoneMail back', 'emailUndoneMail gone'];

  test('links to the application’s support page in both parts; no other mail does', () => {
    for (const [name, { html, text }] of everyMail('en')) {
      const isNaming = NAMING.includes(name);
      expect([name, html.includes('href="https://northwind.example/help?from=mail&amp;x=1"')]).toEqual([
        name,
        isNaming,
      ]);
      expect([
        name,
        text.endsWith('\n\nWrite to Northwind Books\nhttps://northwind.example/help?from=mail&x=1'),
      ]).toEqual([name, isNaming]);
    }
  });

  test.each(NAMING)('gives the support address without mailto: where people read it: %s', (kind) => {
    const { html, text } = drawn(kind, { support: 'mailto:help@northwind.example' });
    expect(html).toMatch(/<a [^>]*href="mailto:help@northwind\.example"[^>]*>help@northwind\.example<\/a>/);
    expect(text).toEndWith('\n\nWrite to Northwind Books\nhelp@northwind.example');
  });

  test.each(NAMING)('offers nothing where the application has no support: %s', (kind) => {
    expect(drawn(kind, { support: null }).text).not.toContain('Write to');
  });
});
