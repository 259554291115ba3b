/**
 * Markup in every text that people and operators can set, in every page and every mail. A parser of HTML decides: a document
 * with hostile texts must have the same elements, attributes and comments as one with plain texts, and its addresses must
 * lead nowhere that runs.
 */
import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { MailContent } from '@/mail/messages/notice.ts';
import { accountChangeMail, accountCodeMail, accountDeletedMail } from '@/mail/messages/account.ts';
import * as account from '@/mail/messages/account.ts';
import { betaMail } from '@/mail/messages/beta.ts';
import { invitationMail } from '@/mail/messages/invitation.ts';
import { lifecycleCodeMail } from '@/mail/messages/lifecycle-code.ts';
import { noticeMail } from '@/mail/messages/notice.ts';
import { quarantineMail } from '@/mail/messages/quarantine.ts';
import { signInCodeMail } from '@/mail/messages/sign-in-code.ts';
import { createInstance } from '../support/instance.ts';

const PLAIN = 'Plain words';
const HOSTILE = [
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</title><script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '" onfocus=alert(1) autofocus x="',
  "' onfocus=alert(1) autofocus x='",
  '<!-- --!><img src=x>',
  ']]><img src=x>',
  '&lt;img src=x&gt;&#60;b>',
  '</noscript></style></textarea><b>',
  '<a href=javascript:alert(1)>',
  '{app}{code}{provider}<b>{{7*7}}${7*7}',
  '`<b>`',
];

interface Shape {
  /** Elements with the names of their attributes, and comments, in order. */
  readonly parts: string[];
  /** What attributes that take an address hold. */
  readonly addresses: string[];
  /** What scripts hold between their tags. */
  readonly scripts: string[];
}

const ADDRESSES = ['href', 'src', 'action', 'formaction', 'data', 'poster', 'srcset', 'content'];

async function shapeOf(html: string): Promise<Shape> {
  const parts: string[] = [];
  const addresses: string[] = [];
  const scripts: string[] = [];
  const rewriter = new HTMLRewriter()
    .onDocument({
      doctype: ({ name }) => void parts.push(`!${name}`),
      comments: () => void parts.push('comment'),
    })
    .on('*', {
      element(element) {
        const attributes = [...element.attributes];
        parts.push(`${element.tagName} ${attributes.map(([name]) => name).join(' ')}`);
        for (const [name, value] of attributes) if (ADDRESSES.includes(name)) addresses.push(value);
        if (element.tagName === 'script') scripts.push('');
      },
    })
    .on('script', { text: ({ text }) => void (scripts[scripts.length - 1] += text) });
  await rewriter.transform(new Response(html)).text();
  return { parts, addresses, scripts };
}

/** What a document runs or opens that it must not. */
function faultsOf({ parts, addresses, scripts }: Shape): string[] {
  const handlers = parts.filter((part) => part.split(' ').some((name) => /^on/i.test(name)));
  const running = addresses.filter((address) => {
    const start = address.replace(/&[^;]*;|[\s\0-\x1f]/g, '').toLowerCase();
    return /^(?:javascript|vbscript|data:(?!image\/))/.test(start);
  });
  const inline = scripts.filter((text) => text !== '' && !isJson(text));
  return [...handlers, ...running, ...inline];
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

async function expectSame(name: string, plain: string, hostile: string): Promise<void> {
  const [expected, found] = [await shapeOf(plain), await shapeOf(hostile)];
  expect([name, ...found.parts]).toEqual([name, ...expected.parts]);
  expect([name, ...faultsOf(found)]).toEqual([name]);
}

test('the parser sees what a browser would', async () => {
  const { parts, scripts } = await shapeOf(
    '<!doctype html><p id=a>x<script>alert(1)</script><!-- c --><img src=x onerror=y>',
  );
  expect(parts).toEqual(['!html', 'p id', 'script ', 'comment', 'img src onerror']);
  expect(faultsOf({ parts, addresses: ['java\nscript:alert(1)'], scripts })).toHaveLength(3);
});

/** Every page there is, with a text wherever somebody can put one. */
async function pagesWith(text: string): Promise<Record<string, string>> {
  const instance = await createInstance({
    environment: {
      GATEHOUSE_GOOGLE_CLIENT_ID: 'id',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: 'secret',
    },
  });
  const token = instance.workspaceKey;
  const { id, clientId } = await instance.createApplication();
  const path = `/api/applications/${id}`;
  const encoded = encodeURIComponent(text);
  for (const [method, rest, body] of [
    [
      'PATCH',
      '',
      {
        name: text,
        branding: { logoUrl: `https://cdn.example/logo.png?${text.replaceAll(/\s/g, '')}`, accentColor: '#aabbcc' },
        returnUrls: ['https://app.example/in'],
      },
    ],
    ['PUT', '/identity-provider', { issuer: 'https://id.example', clientId: 'c', clientSecret: 's', name: text }],
  ] as const) {
    const { status, text: said } = await instance.call(method, `${path}${rest}`, { token, body });
    if (status !== 200) throw new Error(said);
  }
  const code = await instance.call('POST', '/api/v1/device/code', { body: { client_id: clientId, device_name: text } });
  const get = async (address: string, headers: Record<string, string> = {}) => {
    const answer = await instance.call('GET', address, { headers: { accept: 'text/html', ...headers } });
    expect([address, answer.headers.get('content-type')]).toEqual([address, 'text/html; charset=utf-8']);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe-inline|unsafe-eval/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    return answer.text;
  };
  const returnTo = encodeURIComponent(`https://app.example/in?${text.replaceAll(/[\s#]/g, '')}`);
  return {
    signInPage: await get(`/sign-in?clientId=${clientId}&email=${encoded}&locale=${encoded}&returnTo=${returnTo}`, {
      'accept-language': text,
      'user-agent': text,
    }),
    'signInPage of nobody': await get(`/sign-in?clientId=${encoded}`),
    'signInPage to elsewhere': await get(`/sign-in?clientId=${clientId}&returnTo=${encoded}`),
    setupPage: await get(`/setup?token=${encoded}`),
    'setupPage that is open': await get(`/setup?token=${await instance.services.setup.createLink()}&locale=${encoded}`),
    'devicePage without a good code': await get(`/device?code=${encoded}`),
    devicePage: await get(`/device?code=${code.json.user_code}&locale=${encoded}`),
    undoEmailChangePage: await get(`/undo-email-change?token=${encoded}&locale=${encoded}`),
    startProviderSignIn: await get(`/api/auth/google/start?clientId=${encoded}&returnTo=${encoded}`),
    'startProviderSignIn to elsewhere': await get(`/api/auth/google/start?clientId=${clientId}&returnTo=${encoded}`),
    finishProviderSignIn: await get(
      `/api/auth/google/callback?state=${encoded}&error=${encoded}&error_description=${encoded}&clientId=${encoded}`,
    ),
    'no page': await get(`/${encoded}?${encoded}`),
  };
}

describe('a page', async () => {
  const plain = await pagesWith(PLAIN);

  test('is looked at for every operation that answers with one', async () => {
    const { operations } = (await createInstance()).app;
    const pages = operations.filter(({ style, method }) => style === 'page' && method === 'GET').map(({ id }) => id);
    // A picture of the product's own, and a way on.
    const others = ['asset', 'homePage'];
    const seen = Object.keys(plain).map((name) => name.split(' ')[0]);
    expect(pages.filter((id) => !others.includes(id) && !seen.includes(id))).toEqual([]);
  });

  test.each(HOSTILE)('has the same parts with %s in every text', async (text) => {
    const hostile = await pagesWith(text);
    for (const [name, html] of Object.entries(hostile)) await expectSame(name, plain[name]!, html);
  });
});

/** Every mail there is. */
const MAILS: Record<string, (text: string) => MailContent[]> = {
  accountCodeMail: (text) =>
    (['proof', 'email_change', 'account_deletion'] as const).map((kind) =>
      accountCodeMail({ kind, applicationName: text, code: '042917', lifetimeMinutes: 10, explanation: [text] }),
    ),
  accountChangeMail: (text) =>
    (['passkey_added', 'provider_linked', 'device_connected'] as const).map((change) =>
      accountChangeMail(change, text),
    ),
  accountDeletedMail: (text) => [accountDeletedMail({ deleted: [text], kept: [text] })],
  emailChangedMail: (text) => [account.emailChangedMail(`https://id.example/undo?${text}`, 7)],
  addressProvedMail: () => [],
  addressTakenMail: () => [],
  betaMail: (text) => (['approved', 'declined', 'launched'] as const).map((kind) => betaMail(kind, text)),
  invitationMail: (text) => [invitationMail({ workspaceName: text, role: text, url: `https://id.example/${text}` })],
  lifecycleCodeMail: (text) =>
    (['archive', 'delete', 'hide_now'] as const).map((kind) =>
      lifecycleCodeMail({ kind, applicationName: text, code: '042917', lifetimeMinutes: 10 }),
    ),
  noticeMail: (text) => [
    noticeMail({
      locale: 'en',
      subject: text,
      heading: text,
      before: [text],
      code: text,
      after: [text],
      signature: text,
    }),
  ],
  quarantineMail: (text) => [quarantineMail({ applicationName: text, url: text, reason: text })],
  signInCodeMail: (text) => [
    signInCodeMail({ locale: 'en', applicationName: text, code: '042917', lifetimeMinutes: 10, host: text }),
  ],
};

describe('a mail', () => {
  test('is looked at whatever it is about', async () => {
    const folder = resolve(import.meta.dir, '../../src/mail/messages');
    const modules = await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))));
    const made = modules.flatMap((module: object) => Object.entries(module));
    const names = made.filter(([, value]) => typeof value === 'function').map(([name]) => name);
    expect(names.filter((name) => !(name in MAILS))).toEqual([]);
  });

  test.each(HOSTILE)('has the same parts with %s in every text', async (text) => {
    for (const [name, make] of Object.entries(MAILS)) {
      const plain = make(PLAIN);
      for (const [index, { html, subject }] of make(text).entries()) {
        await expectSame(name, plain[index]!.html, html);
        expect(subject).not.toMatch(/[\r\n]/);
      }
    }
  });
});

test('answers in JSON are never taken for a page', async () => {
  const instance = await createInstance();
  const { id } = await instance.createApplication({ name: HOSTILE[0]! });
  const { headers } = await instance.call('GET', `/api/applications/${id}`, { token: instance.workspaceKey });
  expect(headers.get('content-type')).toStartWith('application/json');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});
