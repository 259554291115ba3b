/** Header injection: no caller's text becomes a header, a recipient or a second message, in mail or HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import addressparser from 'nodemailer/lib/addressparser/index.js';
import { LIMITS } from '@/http/limits.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import type { Mail } from '@/store/mails.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { filledWith, LETTERS } from '../support/letters.ts';
import { startMailServer, type TestMailServer } from '../support/smtp.ts';

setDefaultTimeout(120_000);

const EVE = 'eve@evil.example';

/** Ends of a line, a head and a message, in every spelling that some parser accepts. */
const HOSTILE: readonly string[] = [
  `\r\nBcc: ${EVE}`,
  `\nBcc: ${EVE}`,
  `\rBcc: ${EVE}`,
  `\n\nBcc: ${EVE}\n\nHello`,
  `\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n<script>`,
  `\r\n.\r\nMAIL FROM:<${EVE}>\r\nRCPT TO:<${EVE}>\r\nDATA\r\n`,
  `\n.\nMAIL FROM:<${EVE}>\n`,
  `\r\n \r\nBcc: ${EVE}`,
  `\r\n\tBcc: ${EVE}`,
  `\u0085Bcc: ${EVE}`,
  `\u2028Bcc: ${EVE}`,
  `\u2029Bcc: ${EVE}`,
  `\u000bBcc: ${EVE}`,
  `\u000cBcc: ${EVE}`,
  `\u0000Bcc: ${EVE}`,
  `\u001b[2JBcc: ${EVE}`,
  `\u010d\u010aBcc: ${EVE}`,
  `\uff0d\uff0aBcc: ${EVE}`,
  `%0d%0aBcc: ${EVE}`,
  `=?utf-8?q?=0d=0aBcc:_${EVE}?=`,
  `=?utf-8?b?${btoa(`\r\nBcc: ${EVE}`)}?=`,
  `?=\r\nBcc: ${EVE}`,
  `=0D=0ABcc: ${EVE}`,
  `\r\nContent-Transfer-Encoding: base64\r\n\r\n`,
  `" <${EVE}>, "`,
  `<${EVE}>`,
  `, ${EVE}`,
  `\ud800\r\nBcc: ${EVE}`,
  `${'x'.repeat(2000)}\r\nBcc: ${EVE}`,
];

let server: TestMailServer;
beforeAll(async () => void (server = await startMailServer()));
afterAll(() => server.close());

/** The headers of our mails, sorted. */
const HEAD = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];

describe('mails', () => {
  test('mails of every kind are covered by these tests', async () => {
    const messages = join(import.meta.dir, '../../src/mail/messages');
    const kinds: string[] = [];
    for (const file of new Bun.Glob('*.ts').scanSync(messages))
      for (const [, name] of (await Bun.file(join(messages, file)).text()).matchAll(/^export function (\w+Mail)\(/gm))
        kinds.push(name!);
    expect(kinds.sort()).toEqual([...new Set(Object.keys(LETTERS).map((name) => name.split(' ')[0]!))].sort());
  });

  test.each(Object.keys(LETTERS).map((name) => [name]))(
    'get no header, recipient or message from a text: %s',
    async (name) => {
      const transport = smtpTransport({ url: server.url, from: 'Acme <no-reply@acme.example>' });
      try {
        for (const text of HOSTILE) {
          const before = server.offered.length;
          const content = LETTERS[name]!('de', filledWith(`Shop${text}`));
          const { from } = content;
          const sender = { senderName: from?.name ?? null, replyTo: from?.replyTo ?? null };
          const given = { id: 'mail_1', recipient: 'ada@example.com', code: null, ...sender, ...content };
          await transport.send(given as unknown as Mail);
          const sent = server.offered.slice(before);
          expect([text, sent.length]).toEqual([text, 1]);
          const [{ envelopeFrom, envelopeTo, headers, raw }] = sent as [TestMailServer['offered'][number]];
          expect([text, envelopeFrom, envelopeTo]).toEqual([text, 'no-reply@acme.example', ['ada@example.com']]);
          expect([text, Object.keys(headers).sort()]).toEqual([text, HEAD]);
          expect(headers['to']).toBe('ada@example.com');
          const [, written = ''] = /^from:([^]*?)(?=\r\n\S)/im.exec(raw) ?? [];
          const senders = addressparser(written, { flatten: true });
          expect([text, senders.map(({ address }) => address)]).toEqual([text, ['no-reply@acme.example']]);
          if (from === null) expect(headers['from']).toBe('Acme <no-reply@acme.example>');
          expect([text, content.subject.match(/[\p{Cc}\p{Zl}\p{Zp}]/gu)]).toEqual([text, null]);
          // The head is printable ASCII with proper line ends.
          const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
          expect([text, /[^\x20-\x7e\r\n\t]|\r(?!\n)|(?<!\r)\n/.test(head)]).toEqual([text, false]);
          expect([text, head.split(/\r\n(?![ \t])/).filter((line) => /^bcc/i.test(line))]).toEqual([text, []]);
          // A body of two parts contains its boundary three times.
          const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type']!)![1]!;
          expect([text, raw.split(`--${boundary}`).length]).toEqual([text, 4]);
        }
      } finally {
        transport.close();
      }
    },
  );
});

/** Texts that are no address, and texts that some mail servers take for two. */
const ADDRESSES: readonly string[] = [
  ...HOSTILE.map((text) => `ada@example.com${text}`),
  ...HOSTILE.slice(0, 20).map((text) => `ada${text}@example.com`),
  `ada@example.com,${EVE}`,
  `ada@example.com;${EVE}`,
  `ada@example.com ${EVE}`,
  `ada@example.com>,<${EVE}`,
  `<ada@example.com>`,
  `Ada <ada@example.com>`,
  `"ada@example.com, ${EVE}" <x@example.com>`,
  `"${EVE}> "@example.com`,
  `"a\r\nRCPT TO:<${EVE}>"@example.com`,
  `ada(${EVE})@example.com`,
  `ada@example.com?bcc=${EVE}`,
  `ada@example.com&bcc=${EVE}`,
  `mailto:ada@example.com`,
  `@evil.example:ada@example.com`,
  `ada%evil.example@example.com,`,
  `evil.example!ada`,
  `ada@[127.0.0.1]`,
  `ada@localhost`,
  `ada@example.com\u0000`,
  `ada@example.com NOTIFY=SUCCESS`,
  `ada@example.com> NOTIFY=SUCCESS`,
  `ada@exa\u00admple.com\r`,
];

describe('addresses', () => {
  let instance: Instance;
  let id: string;
  let clientId: string;
  let session: string;
  beforeAll(async () => {
    // Lifts the limits against guessing.
    const environment = Object.fromEntries(
      Object.values(LIMITS)
        .filter(({ env }) => /EMAIL|ADDRESS|ACCOUNT_CODES/.test(env))
        .map((limit) => [limit.env, String('max' in limit ? limit.max : 1_000_000)]),
    );
    instance = await createInstance({ environment });
    ({ id, clientId } = await instance.createApplication());
    ({ token: session } = await instance.signIn(clientId, 'me@example.com'));
  });
  // Every mail left behind has one mailbox as its recipient.
  afterEach(() => {
    const rows = instance.sqlite.query('SELECT DISTINCT recipient FROM mails').all() as { recipient: string }[];
    const odd = rows.filter(({ recipient }) => !/^[^\s<>,;:"()@\\[\]\p{C}]+@[a-z0-9.-]+$/u.test(recipient));
    expect(odd).toEqual([]);
    expect(rows.filter(({ recipient }) => recipient === EVE || recipient.endsWith('@evil.example'))).toEqual([]);
  });

  const admin = (path: string, body: unknown) => instance.call('POST', path, { token: instance.workspaceKey, body });
  const WAYS: Record<string, (email: string) => Promise<{ status: number }>> = {
    'a sign-in code': (email) => instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } }),
    'a request for access': (email) =>
      instance.call('POST', `/api/applications/${id}/public/access-interest`, { body: { kind: 'request', email } }),
    'an allowlist': (email) => admin(`/api/applications/${id}/beta-interests`, { emails: [email] }),
    'an invitation': (email) => admin('/api/workspace/members', { email, role: 'member' }),
    'an import': (email) => admin(`/api/applications/${id}/users/bulk`, { users: [{ email }] }),
    'a change of address': (email) => instance.call('POST', '/api/account/email', { token: session, body: { email } }),
  };

  test.each(Object.keys(WAYS).map((name) => [name]))('are one mailbox or refused, in %s', async (name) => {
    for (const email of ADDRESSES) {
      const { status } = await WAYS[name]!(email);
      expect([email, status < 500]).toEqual([email, true]);
    }
    await instance.services.tasks.runOnce();
  });
});

describe('answers', () => {
  const SPLITS = [
    '%0d%0aX-Evil:%201',
    '%0aX-Evil:%201',
    '%0dX-Evil:%201',
    '%0d%0a%0d%0a<script>',
    '%e5%98%8a%e5%98%8dX-Evil:%201',
    '%c4%8d%c4%8aX-Evil:%201',
    '%E2%80%A8X-Evil:%201',
    '%00X-Evil:%201',
    '%250d%250aX-Evil:%201',
    '%u000d%u000aX-Evil:1',
  ];

  test('contain no header injected through path, query, headers or cookies', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_PROVIDER_PER_ADDRESS: '1000000' } });
    const { id, clientId } = await instance.createApplication({ returnUrls: ['https://shop.example.com/'] });
    const targets = (text: string) => [
      `/${text}`,
      `/sign-in?clientId=${clientId}&returnTo=https://shop.example.com/${text}`,
      `/sign-in?clientId=${text}`,
      `/sign-in?clientId=${clientId}&locale=${text}`,
      `/api/auth/google/start?clientId=${clientId}&returnTo=https://shop.example.com/${text}`,
      `/api/auth/google/callback?state=${text}&error=${text}&iss=${text}`,
      `/device?user_code=${text}`,
      `/setup?token=${text}`,
      `/api/applications/${text}`,
      `/api/applications/${id}/users?q=${text}&cursor=${text}`,
      `/api/applications/${id}/public/state?${text}=${text}`,
      `/api/v1/i18n/${text}/${text}.json`,
      `/cdn/${text}/users/${text}/avatar-64.webp?v=${text}`,
      `/assets/${text}`,
      `/openapi.yaml?${text}`,
      `/console/${text}`,
    ];
    for (const split of SPLITS) {
      const plain = decodeURIComponent(split.replace(/%u/g, '%25u')).replace(/[\r\n\0]/g, '\t');
      const latin = plain.replace(/[^\x20-\x7e\t]/g, '?');
      const disguises: Record<string, string>[] = [
        {},
        {
          'accept-language': latin,
          origin: `https://shop.example.com${latin}`,
          'x-request-id': latin,
          'if-none-match': latin,
          'user-agent': latin,
          referer: latin,
          cookie: `session=${split}; __Host-session=${split}; gatehouse=${latin}`,
          'access-control-request-headers': latin,
          'access-control-request-method': latin,
          'x-forwarded-for': latin,
        },
      ];
      for (const path of targets(split))
        for (const headers of disguises)
          for (const method of ['GET', 'OPTIONS', 'POST']) {
            const answer = await instance.call(method, path, { headers, token: instance.workspaceKey });
            const seen = [method, path, answer.status < 500, answer.headers.get('x-evil')];
            expect(seen).toEqual([method, path, true, null]);
            for (const [name, value] of answer.headers)
              expect([path, name, /[\r\n\0]|X-Evil:/i.test(value) && name !== 'location']).toEqual([path, name, false]);
            const location = answer.headers.get('location');
            expect([path, location !== null && /[\r\n\s]/.test(location)]).toEqual([path, false]);
          }
    }
  });

  test('contain no header injected through a stored text', async () => {
    const instance = await createInstance();
    for (const text of HOSTILE) {
      const token = instance.workspaceKey;
      const made = await instance.call('POST', '/api/applications', {
        token,
        body: { name: `Shop${text}`, slug: `shop${text}`, branding: { logoUrl: `https://x.example/${text}` } },
      });
      expect([text, made.status]).toEqual([text, 400]);
      const { clientId, id } = await instance.createApplication();
      await instance.call('PATCH', `/api/applications/${id}`, { token, body: { name: `Shop${text}` } });
      const page = await instance.call('GET', `/sign-in?clientId=${clientId}`);
      expect([text, page.status]).toEqual([text, 200]);
      for (const [name, value] of page.headers) expect([text, name, value.includes(EVE)]).toEqual([text, name, false]);
    }
  });
});
