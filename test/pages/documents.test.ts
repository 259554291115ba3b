import { describe, expect, test } from 'bun:test';
import { AppError, type AppErrorOptions, ERROR_CATALOGUE, type ErrorCode } from '@/core/error.ts';
import { type Hint, HINTS } from '@/core/error-hints.ts';
import { html } from '@/core/html.ts';
import { en } from '@/i18n/en.ts';
import { assetUrl, findAsset } from '@/pages/assets.ts';
import { renderDeviceCodePage, renderDevicePage } from '@/pages/device.ts';
import { renderProblemPage } from '@/pages/problem.ts';
import { renderSetupPage } from '@/pages/setup.ts';
import { renderSignInPage } from '@/pages/sign-in.ts';
import { renderUndonePage, renderUndoPage } from '@/pages/undo.ts';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
const HOSTILE = `"'></script><script>alert(1)</script><img src=x onerror=alert(1)>`;

const application = { name: 'Acme', clientId: 'acme', logoUrl: null, accentColor: null };
const hostileApplication = {
  name: HOSTILE,
  clientId: HOSTILE,
  logoUrl: `https://x.test/${HOSTILE}`,
  accentColor: HOSTILE,
};
const startUrl = 'https://auth.test/api/auth/google/start?clientId=acme';
const everyWay = { isCodeAllowed: true, passkeyHost: 'auth.test', provider: { name: 'Google', startUrl } };
const noWay = { isCodeAllowed: false, passkeyHost: null, provider: null };
const hostileWays = { ...everyWay, provider: { name: HOSTILE, startUrl: `${startUrl}&x=${HOSTILE}` } };
const documents = {
  'sign-in': renderSignInPage({ locale: 'en', application, ways: everyWay, returnTo: 'https://acme.test/back' }),
  'sign-in without e-mail': renderSignInPage({
    locale: 'en',
    application,
    ways: { ...everyWay, isCodeAllowed: false },
    returnTo: null,
  }),
  'sign-in without any way': renderSignInPage({ locale: 'en', application, ways: noWay, returnTo: null }),
  'sign-in with hostile values': renderSignInPage({
    locale: 'en',
    application: hostileApplication,
    ways: hostileWays,
    returnTo: HOSTILE,
    email: HOSTILE,
  }),
  'a device’s code': renderDeviceCodePage({ locale: 'en', wrongCode: null }),
  'a device’s code that is wrong': renderDeviceCodePage({ locale: 'en', wrongCode: HOSTILE }),
  device: renderDevicePage({ locale: 'en', userCode: 'BCDF-GHJK', application, ways: everyWay }),
  'device with hostile values': renderDevicePage({
    locale: 'en',
    userCode: HOSTILE,
    application: hostileApplication,
    ways: hostileWays,
  }),
  setup: renderSetupPage({ locale: 'en', token: HOSTILE, hasOwner: false }),
  recovery: renderSetupPage({ locale: 'de', token: 't', hasOwner: true }),
  'undo of a change of address': renderUndoPage({ locale: 'en', path: '/undo-email-change', token: HOSTILE }),
  'change of address undone': renderUndonePage('de'),
  problem: problemOf(new AppError('not_found')),
  'problem with hostile values': problemOf(
    new AppError('invalid_state', { hint: 'only_owner', values: { workspace: HOSTILE } }),
    `/api/auth/google/start?${new URLSearchParams({ clientId: HOSTILE, locale: HOSTILE })}`,
    HOSTILE,
  ),
};

/** What a browser is shown that asked for a page and got an error. */
function problemOf(error: AppError, address = '/nothing', requestId = 'req_1'): string {
  return renderProblemPage(error, { request: new Request(`https://auth.test${address}`), requestId });
}

/** What a parser finds, as opposed to what a pattern would. */
async function parse(document: string) {
  const scripts: { type: string | null; src: string | null }[] = [];
  const addresses: string[] = [];
  const attributes: string[] = [];
  const ids: string[] = [];
  let labelled = 0;
  await new HTMLRewriter()
    .on('*', {
      element(element) {
        for (const [name, value] of element.attributes) {
          attributes.push(name);
          if (name === 'src' || name === 'href') addresses.push(value);
          if (name === 'id') ids.push(value);
        }
        if (element.tagName === 'script') {
          scripts.push({ type: element.getAttribute('type'), src: element.getAttribute('src') });
        }
        if (element.tagName === 'style') attributes.push('style');
        if (element.tagName === 'label') labelled += 1;
      },
    })
    .transform(new Response(document))
    .text();
  return { scripts, addresses, attributes, ids, labelled };
}

describe.each(Object.entries(documents))('%s', (_name, document) => {
  test('has no inline script, style or event handler', async () => {
    const { scripts, attributes } = await parse(document);
    expect(scripts.filter(({ src, type }) => !src && type !== 'application/json')).toEqual([]);
    expect(attributes.filter((name) => name === 'style' || name.startsWith('on'))).toEqual([]);
  });

  test('loads nothing from another host, and only assets that exist', async () => {
    const { addresses } = await parse(document);
    // The provider's start is a link to follow, not something to load; so are our own pages.
    const own = addresses.filter(
      (address) =>
        !address.startsWith('https://x.test/') &&
        !address.startsWith(startUrl) &&
        !/^\/(?:$|device$|sign-in\?)/.test(address),
    );
    expect(own.length).toBeGreaterThan(1);
    for (const address of own) expect(findAsset(address)?.path).toBe(address);
  });

  test('is kept out of search engines and sends no referrer', () => {
    expect(document).toContain('<meta name="referrer" content="no-referrer">');
    expect(document).toContain('<meta name="robots" content="noindex, nofollow">');
    // What is said is English as yet, whatever was asked for.
    expect(document).toContain('<html lang="en"');
  });

  test('has every id once', async () => {
    const { ids } = await parse(document);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('the sign-in page has the ids that browser tests rely on, and a label for each field', async () => {
  const { ids, labelled } = await parse(documents['sign-in']);
  const stable = [
    'email',
    'email-form',
    'code',
    'code-form',
    'resend',
    'change-email',
    'message',
    'signed-in',
    'refused',
    'passkey',
    'provider',
    'offer',
  ];
  expect(ids).toEqual(expect.arrayContaining(stable));
  expect(labelled).toBe(2);
});

test('the sign-in page holds what the application allows, and nothing else', async () => {
  const idsOf = async (ways: typeof everyWay | typeof noWay) =>
    (await parse(renderSignInPage({ locale: 'en', application, ways, returnTo: null }))).ids;
  const ways = ['email-form', 'code-form', 'divider', 'passkey', 'provider'];
  expect((await idsOf(everyWay)).filter((id) => ways.includes(id)).sort()).toEqual([...ways].sort());
  expect((await idsOf(noWay)).filter((id) => ways.includes(id))).toEqual([]);
  const withoutCode = await idsOf({ ...everyWay, isCodeAllowed: false });
  expect(withoutCode.filter((id) => ways.includes(id)).sort()).toEqual(['passkey', 'provider']);
});

test('the device page shows the code, names nobody yet, and warns', () => {
  expect(documents.device).toContain('A device that shows <strong translate="no">BCDF-GHJK</strong>');
  expect(documents.device).toContain('Only continue if you started this yourself on your device.');
});

test('the setup page has the ids that browser tests rely on', async () => {
  const { ids } = await parse(documents.setup);
  expect(ids).toEqual(
    expect.arrayContaining(['email', 'setup-form', 'done', 'create-key', 'key', 'copy-key', 'message']),
  );
});

test('the scripts read their data from the page, without a loss', () => {
  const json = /<script type="application\/json" id="page-data">(.*)<\/script>/.exec(
    documents['sign-in with hostile values'],
  );
  const data = JSON.parse(json?.[1] ?? '');
  expect(data).toMatchObject({ locale: 'en', clientId: HOSTILE, appName: HOSTILE, returnTo: HOSTILE });
  expect(data.text.title).toBe('Sign in to {app}');
  expect(data.errors.code_invalid).toBeString();
});

test('an accent colour is passed on only when it is a hex colour', () => {
  const withAccent = (accentColor: string) =>
    renderSignInPage({ locale: 'en', application: { ...application, accentColor }, ways: noWay, returnTo: null });
  expect(withAccent('#0a7')).toContain('<html lang="en" data-accent="#0a7">');
  expect(withAccent('red;}')).toContain('<html lang="en">');
});

test('a logo is shown only from where the image policy allows it', () => {
  const withLogo = (logoUrl: string) =>
    renderSignInPage({ locale: 'en', application: { ...application, logoUrl }, ways: noWay, returnTo: null });
  expect(withLogo('https://cdn.test/l.png')).toContain('src="https://cdn.test/l.png"');
  expect(withLogo('/cdn/l.webp')).toContain('src="/cdn/l.webp"');
  for (const refused of ['http://cdn.test/l.png', 'javascript:alert(1)', '//cdn.test/l.png', 'data:text/html,x']) {
    expect(withLogo(refused)).not.toContain('<img');
  }
});

test('the problem page needs no script', async () => {
  const { scripts } = await parse(documents.problem);
  expect(scripts).toEqual([]);
  expect(documents.problem).not.toContain(assetUrl('sign-in.js'));
});

describe('the problem page', () => {
  const leadOf = (page: string) => /<p class="lead">([^<]*)<\/p>/.exec(page)![1];
  const linkOf = (page: string) => /<a class="primary" href="([^"]*)">([^<]*)<\/a>/.exec(page)?.slice(1);

  test('never says what an error says to programs, whatever the code and the hint', () => {
    const sentences = [...CODES.map((code) => ERROR_CATALOGUE[code].message), ...Object.values(HINTS)];
    for (const code of CODES)
      for (const hint of [undefined, ...(Object.keys(HINTS) as Hint[])]) {
        const lead = leadOf(problemOf(new AppError(code, { hint } as AppErrorOptions)))!;
        expect(lead).toMatch(/^[A-Z].*\.$/);
        expect(sentences.filter((sentence) => lead.includes(String(html`${sentence}`)))).toEqual([]);
        expect(lead).not.toContain('{');
      }
  });

  test.each([
    ['not_found', undefined, en.problems.not_found],
    ['not_found', 'setup_link_spent', en.setup.linkSpent],
    ['not_found', 'user_code_unknown', en.problems.not_found],
    ['invalid_request', 'return_url_unregistered', en.problems.return_url_unregistered],
    ['application_archived', undefined, en.errors.application_archived],
    ['method_not_allowed', undefined, en.problem.other],
    ['internal', undefined, en.errors.internal],
    ['unavailable', 'disk_refuses_writes', en.errors.unavailable],
  ] as const)('says %s (%s) in the words of its catalogue', (code, hint, text) => {
    expect(leadOf(problemOf(new AppError(code, { hint })))).toBe(String(html`${text}`));
  });

  test('says how long to wait, and tries again at the same address', () => {
    const page = problemOf(new AppError('rate_limited', { retryAfterSeconds: 30 }), '//evil.test/device');
    expect(leadOf(page)).toContain('30 seconds');
    expect(linkOf(page)).toEqual(['', en.problem.tryAgain]);
  });

  test('leads to the other ways to sign in where one of them failed, and else to the start', () => {
    const start = '/api/auth/google/start?clientId=acme&returnTo=https%3A%2F%2Fevil.test';
    expect(linkOf(problemOf(new AppError('provider_failed'), start))).toEqual([
      '/sign-in?clientId=acme',
      en.signin.otherWay,
    ]);
    expect(linkOf(problemOf(new AppError('provider_failed'), '/api/auth/google/callback'))?.[0]).toBe('/');
    expect(linkOf(problemOf(new AppError('not_found'), '//evil.test/nothing'))?.[0]).toBe('/');
  });

  test('leads nowhere from a link that is wrong', () => {
    expect(linkOf(problemOf(new AppError('invalid_request'), '/sign-in?returnTo=//evil.test'))).toBeUndefined();
  });
});
