/** Every mail of an application as a mail program lists and shows it: sender, subject, preview, and the same in both parts. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { textsFor } from '@/i18n/catalogue.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import type { Mail } from '@/store/mails.ts';
import { type Filling, LETTERS } from '../support/letters.ts';
import { type ReceivedMail, startMailServer, type TestMailServer } from '../support/smtp.ts';

setDefaultTimeout(60_000);

const FILLING: Filling = {
  application: {
    name: 'Παλιό Λιμάνι & Söhne',
    workspaceId: 'ws_1',
    clientId: 'cli_1',
    supportEmail: 'help@harbour.example',
    support: null,
    logoUrl: null,
    logoDarkUrl: null,
    accentColor: '#0f766e',
  },
  name: 'Acme',
  url: 'https://id.harbour.example/account/devices?clientId=cli_1',
  host: 'id.harbour.example',
  email: 'ada@example.com',
  line: 'Zażółć gęślą jaźń – Ξεσκεπάζω.',
};

/** Mails of the server itself, to those who run it. */
const OF_SERVER = /^(?:invitation|lifecycleCode|mailTest|quarantine|backup|heldEvents)Mail/;

let server: TestMailServer;
beforeAll(async () => void (server = await startMailServer()));
afterAll(() => server.close());

/** Sends every mail in a language. @returns each by its name, as the mail server received it. */
async function mailbox(locale: 'en' | 'de' | 'pl' | 'el'): Promise<[string, ReceivedMail][]> {
  const transport = smtpTransport({ url: server.url, from: 'Gatehouse <no-reply@id.example>' });
  const received: [string, ReceivedMail][] = [];
  for (const [name, make] of Object.entries(LETTERS)) {
    const { from, ...content } = make(locale, FILLING);
    const sender = { senderName: from?.name ?? null, replyTo: from?.replyTo ?? null };
    await transport.send({
      id: 'mail_1',
      recipient: 'ada@example.com',
      code: null,
      ...sender,
      ...content,
    } as unknown as Mail);
    received.push([name, server.received.at(-1) as ReceivedMail]);
  }
  transport.close();
  return received;
}

/** The text that a list of mails shows behind the subject. */
const previewOf = (html: string) =>
  (/<div style="display:none[^>]*>([^<]*)</.exec(html)?.[1] ?? '').replace(/[\u200c\u00a0]+$/, '').trim();

describe.each(['en', 'de', 'pl', 'el'] as const)('in %s', (locale) => {
  const text = textsFor(locale);
  let mails: [string, ReceivedMail][];
  beforeAll(async () => void (mails = await mailbox(locale)));

  test('the sender is the application, with its support address for answers; the server’s own mails have its name', () => {
    for (const [name, { headers }] of mails) {
      const isOfServer = OF_SERVER.test(name);
      const from = headers['from']?.replaceAll('"', '');
      expect([name, from]).toEqual([
        name,
        isOfServer ? 'Gatehouse <no-reply@id.example>' : `${FILLING.application.name} <no-reply@id.example>`,
      ]);
      expect([name, headers['reply-to']]).toEqual([name, isOfServer ? undefined : 'help@harbour.example']);
    }
  });

  test('the preview adds to the subject, and neither is empty', () => {
    for (const [name, { headers, html }] of mails) {
      const preview = previewOf(html);
      expect([name, preview.length > 0, preview === headers['subject']]).toEqual([name, true, false]);
      expect([name, (headers['subject'] ?? '').length > 0]).toEqual([name, true]);
    }
  });

  test('what happened to an account has its time, place and browser, and a button with the address of the account', () => {
    const told = mails.filter(([name]) => /^(?:accountChange|newSignIn|addressProved)Mail/.test(name));
    expect(told.length).toBeGreaterThan(8);
    const browser = text('account.browserOn', { browser: 'Chrome', system: 'Windows' });
    for (const [name, mail] of told)
      for (const part of [mail.text, mail.html.replaceAll('&amp;', '&')])
        expect([name, part.includes(text('email.with', { browser })), part.includes(FILLING.url)]).toEqual([
          name,
          true,
          true,
        ]);
  });

  test('a mail with a code says who asked for it', () => {
    const codes = mails.filter(([, mail]) => mail.text.includes('042917'));
    expect(codes.length).toBeGreaterThan(10);
    const place = new Intl.DisplayNames(locale, { type: 'region' }).of('AT');
    const from = `${text('account.browserOn', { browser: 'Chrome', system: 'Windows' })}, ${place}`;
    const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'Europe/Vienna' });
    const asked = text('email.codeAskedFrom', { time: time.format(Date.UTC(2026, 10, 23, 9, 42)), from });
    for (const [name, mail] of codes)
      expect([name, mail.text.includes(asked), mail.html.includes(asked)]).toEqual([name, true, true]);
  });

  test('the application’s line is in its own mails alone, above the foot', () => {
    for (const [name, mail] of mails)
      for (const part of [mail.text, mail.html])
        expect([name, part.includes(FILLING.line)]).toEqual([name, !OF_SERVER.test(name)]);
  });
});

test('an address that an account has lost does not learn where its holder undid that', () => {
  for (const part of [
    LETTERS['emailUndoneMail gone']?.('en', FILLING).text,
    LETTERS['emailUndoneMail gone']?.('en', FILLING).html,
  ])
    expect(part).not.toMatch(/Austria|Chrome|Windows|10:42/);
});
