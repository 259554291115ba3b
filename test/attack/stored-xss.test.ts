/**
 * Markup in every text that people and operators can set, in every page and mail. An HTML parser decides: a document
 * with hostile texts must have the same elements, attributes and comments as one with plain texts, and no address in
 * it may run a script.
 */
import { describe, expect, test } from 'bun:test';
import { applicationSender } from '@/mail/application-sender.ts';
import { createInstance } from '../support/instance.ts';
import { filledWith, LETTERS } from '../support/letters.ts';

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
  /** Elements with their attribute names, and comments, in order. */
  readonly parts: string[];
  /** The values of attributes that take an address. */
  readonly addresses: string[];
  /** The contents of scripts. */
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

/** Returns what a document would wrongly run or open. */
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

/** Renders every page, with a text in every place that a user can fill. */
async function pagesWith(text: string): Promise<Record<string, string>> {
  const instance = await createInstance({
    environment: {
      GATEHOUSE_GOOGLE_CLIENT_ID: 'id',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: 'secret',
      GATEHOUSE_OPENID_REGISTRATION: 'on',
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
    ['PUT', '/openid', { redirectUris: ['https://app.example/back'] }],
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
  const member = { cookie: `gatehouse=${(await instance.signIn('console', 'owner@example.com')).token}` };
  const agent = await instance.call('POST', '/oauth/register', {
    body: { client_name: text, redirect_uris: ['https://agent.example/back'] },
  });
  const asked = `response_type=code&code_challenge=${'c'.repeat(43)}&code_challenge_method=S256&state=${encoded}`;
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
    accountPage: await get(`/account?clientId=${clientId}&locale=${encoded}`),
    accountPartPage: await get(`/account/devices?clientId=${clientId}&locale=${encoded}`),
    'accountPartPage of nothing': await get(`/account/${encoded}?clientId=${clientId}`),
    'setupPage without a link': await get(`/setup?locale=${encoded}`),
    undoEmailChangePage: await get(`/undo-email-change?token=${encoded}&locale=${encoded}`),
    startProviderSignIn: await get(`/api/auth/google/start?clientId=${encoded}&returnTo=${encoded}`),
    'startProviderSignIn to elsewhere': await get(`/api/auth/google/start?clientId=${clientId}&returnTo=${encoded}`),
    finishProviderSignIn: await get(
      `/api/auth/google/callback?state=${encoded}&error=${encoded}&error_description=${encoded}&clientId=${encoded}`,
    ),
    consolePage: await get(`/console?locale=${encoded}`),
    consoleViewPage: await get(`/console/applications/${encoded}/users?q=${encoded}`),
    'consolePage of a member': await get(`/console?${encoded}`, member),
    'consoleViewPage of a member': await get(`/console/applications/${encoded}/users?q=${encoded}`, member),
    authorize: await get(
      `/oauth/authorize?client_id=${clientId}&redirect_uri=https://app.example/back&${asked}&login_hint=${encoded}&ui_locales=${encoded}`,
    ),
    'authorize of nobody': await get(`/oauth/authorize?client_id=${encoded}&redirect_uri=${encoded}`),
    'authorize of an agent': await get(
      `/oauth/authorize?client_id=${agent.json.client_id}&redirect_uri=https://agent.example/back&${asked}`,
      member,
    ),
    endSession: await get(`/oauth/end-session?client_id=${clientId}&state=${encoded}&ui_locales=${encoded}`),
    'endSession of nobody': await get(`/oauth/end-session?client_id=${encoded}&post_logout_redirect_uri=${encoded}`),
    docsPage: await get(`/docs?q=${encoded}`),
    docsGuidePage: await get('/docs/guides/verify?' + encoded),
    'docsGuidePage of nothing': await get(`/docs/guides/${encoded}`),
    'docsPicture of nothing': await get(`/docs/guides/images/${encoded}`),
    'no page': await get(`/${encoded}?${encoded}`),
  };
}

describe('a page', async () => {
  const plain = await pagesWith(PLAIN);

  test('is tested for every operation that answers with one', async () => {
    const { operations } = (await createInstance()).app;
    const pages = operations.filter(({ style, method }) => style === 'page' && method === 'GET').map(({ id }) => id);
    // Pages that show only the product's own content.
    const others = ['asset', 'homePage', 'docsReferencePage', 'docsSearchIndex', 'llmsText'];
    const seen = Object.keys(plain).map((name) => name.split(' ')[0]);
    expect(pages.filter((id) => !others.includes(id) && !seen.includes(id))).toEqual([]);
  });

  test.each(HOSTILE)('a page has the same parts with %s in every text', async (text) => {
    const hostile = await pagesWith(text);
    for (const [name, html] of Object.entries(hostile)) await expectSame(name, plain[name]!, html);
  });
});

describe('a mail', () => {
  test.each(HOSTILE)('a mail has the same parts with %s in every text', async (text) => {
    for (const [name, make] of Object.entries(LETTERS)) {
      const { html, subject } = make('en', filledWith(text));
      await expectSame(name, make('en', filledWith(PLAIN)).html, html);
      expect(subject).not.toMatch(/[\r\n]/);
    }
  });

  test('shows only https logos', async () => {
    const filling = filledWith(PLAIN);
    const withLogo = (logoUrl: string | null) => {
      const row = { ...filling.application, id: 'app_1', supportUrl: null, deletedAt: null, logoUrl };
      const application = applicationSender(row, 'https://auth.example.com');
      return LETTERS['signInCodeMail']!('en', { ...filling, application }).html;
    };
    for (const text of HOSTILE)
      for (const logoUrl of [text, `javascript:${text}`, `http://x.example/${text}`, 'data:image/svg+xml,<svg/>'])
        await expectSame(logoUrl, withLogo(null), withLogo(logoUrl));
    expect(withLogo('https://x.example/logo.png')).toContain('src="https://x.example/logo.png"');
  });
});

test('JSON answers are never sniffed as a page', async () => {
  const instance = await createInstance();
  const { id } = await instance.createApplication({ name: HOSTILE[0]! });
  const { headers } = await instance.call('GET', `/api/applications/${id}`, { token: instance.workspaceKey });
  expect(headers.get('content-type')).toStartWith('application/json');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});
