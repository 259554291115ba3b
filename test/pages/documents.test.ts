import { describe, expect, test } from 'bun:test';
import { AppError, type AppErrorOptions, ERROR_CATALOGUE, type ErrorCode } from '@/core/error.ts';
import { type Hint, HINTS } from '@/core/error-hints.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import type { MessageKey } from '@/i18n/texts.ts';
import { accentStyle } from '@/pages/accent.ts';
import { assetUrl, findAsset } from '@/pages/assets.ts';
import { renderConsentPage } from '@/pages/authorize/page.tsx';
import { renderDeviceCodePage, renderDevicePage } from '@/pages/device/route.tsx';
import type { PageApplication } from '@/http/request-context.ts';
import { renderProblemPage } from '@/pages/problem/page.tsx';
import { renderSetupPage } from '@/pages/setup/route.tsx';
import type { SignInData } from '@/pages/sign-in/offer.ts';
import { renderSignInPage } from '@/pages/sign-in/route.tsx';
import { renderSignedOutPage, renderSignOutPage } from '@/pages/sign-out/page.tsx';
import { renderUndonePage, renderUndoPage } from '@/pages/undo/page.tsx';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
const HOSTILE = `"'></script><script>alert(1)</script><img src=x onerror=alert(1)>`;

const text = textsFor('en');

const noLinks = { terms: null, privacy: null, imprint: null };
const application = {
  id: 'app_1',
  name: 'Acme',
  clientId: 'acme',
  logoUrl: null,
  logoDarkUrl: null,
  iconUrl: null,
  accentColor: null,
  state: null,
  homeUrl: null,
  supportUrl: null,
  links: noLinks,
};
const acme: PageApplication = {
  id: 'app_1',
  logoDarkUrl: null,
  iconUrl: null,
  clientId: 'acme',
  name: 'Acme',
  logoUrl: null,
  accentColor: null,
  homeUrl: null,
  returnUrls: [],
  supportUrl: null,
  supportEmail: null,
  termsUrl: null,
  privacyUrl: null,
  imprintUrl: null,
  archivedAt: null,
  deletedAt: null,
};
const hostileApplication = {
  ...application,
  id: HOSTILE,
  name: HOSTILE,
  clientId: HOSTILE,
  logoUrl: `https://x.test/${HOSTILE}`,
  accentColor: HOSTILE,
  links: { terms: `https://x.test/${HOSTILE}`, privacy: null, imprint: null },
};
const startUrl = 'https://auth.test/api/auth/google/start?clientId=acme';
const everyMethod = { isCodeAllowed: true, passkeyHost: 'auth.test', provider: { name: 'Google', startUrl } };
const noMethod = { isCodeAllowed: false, passkeyHost: null, provider: null };
const hostileMethods = { ...everyMethod, provider: { name: HOSTILE, startUrl: `${startUrl}&x=${HOSTILE}` } };

const plainData: SignInData = {
  locale: 'en',
  application,
  methods: everyMethod,
  isPasskeyFirst: false,
  wrongTriesPerCode: 5,
  isMailOff: false,
  isDev: false,
};
const hostileData: SignInData = { ...plainData, application: hostileApplication, methods: hostileMethods };
const signInPage = (data: Partial<SignInData> = {}) =>
  renderSignInPage({
    ...plainData,
    returnTo: null,
    isTrial: false,
    authorization: null,
    email: null,
    accounts: [],
    ...data,
  });

const documents = {
  'sign-in': renderSignInPage({
    ...plainData,
    returnTo: 'https://acme.test/back',
    isTrial: false,
    authorization: null,
    email: null,
    accounts: [],
  }),
  'sign-in without e-mail': signInPage({ methods: { ...everyMethod, isCodeAllowed: false } }),
  'sign-in without any way': signInPage({ methods: noMethod }),
  'sign-in with hostile values': renderSignInPage({
    ...hostileData,
    returnTo: HOSTILE,
    isTrial: true,
    authorization: { continueAt: HOSTILE, deniedAt: HOSTILE },
    email: HOSTILE,
    accounts: [{ userId: HOSTILE, email: HOSTILE, isCurrent: false, isNewElsewhere: false }],
  }),
  'a device’s code': renderDeviceCodePage({ locale: 'en', wrongCode: null }),
  'a device’s code that is wrong': renderDeviceCodePage({ locale: 'en', wrongCode: HOSTILE }),
  device: renderDevicePage({ ...plainData, userCode: 'BCDF-GHJK' }),
  'device with hostile values': renderDevicePage({ ...hostileData, userCode: HOSTILE }),
  setup: renderSetupPage({ locale: 'en', token: HOSTILE, ownerEmail: null, hasOwner: false }),
  'setup that is done': renderSetupPage({ locale: 'en', token: null, ownerEmail: HOSTILE, hasOwner: true }),
  recovery: renderSetupPage({ locale: 'de', token: 't', ownerEmail: null, hasOwner: true }),
  'undo of a change of address': renderUndoPage({
    locale: 'en',
    application: { ...acme, name: HOSTILE, accentColor: HOSTILE, termsUrl: `https://x.test/${HOSTILE}` },
    action: '/undo-email-change',
    token: HOSTILE,
  }),
  'consent to a client with hostile values': renderConsentPage({
    locale: 'en',
    client: { application: acme, name: HOSTILE, kind: 'registered' },
    redirectUri: `https://x.test/${HOSTILE}`,
    grants: {
      actsAs: { userId: 'usr_1', email: HOSTILE, name: HOSTILE },
      roles: [HOSTILE],
      scopes: [],
      memberships: [],
      workspaces: [{ workspaceId: 'wsp_1', name: HOSTILE, role: 'owner' }],
    },
    query: HOSTILE,
    confirmation: HOSTILE,
    keyEndsAt: null,
  }),
  'a sign-out with hostile values': renderSignOutPage({
    locale: 'en',
    client: { application: { ...acme, name: HOSTILE, homeUrl: `https://x.test/${HOSTILE}` } },
    emails: [HOSTILE, 'ada@example.com'],
    query: HOSTILE,
    confirmation: HOSTILE,
  }),
  'a sign-out that is done': renderSignedOutPage({ locale: 'de', client: { application: acme } }),
  'an application that is archived': problemOf(new AppError('application_archived'), '/sign-in', 'req_1', {
    ...acme,
    accentColor: '#0a7',
    homeUrl: `https://x.test/${HOSTILE}`,
    supportEmail: 'help@x.test',
  }),
  'change of address undone': renderUndonePage({ locale: 'de', application: acme }),
  problem: problemOf(new AppError('not_found')),
  'problem with hostile values': problemOf(
    new AppError('invalid_state', { hint: 'only_owner', values: { workspace: HOSTILE } }),
    `/api/auth/google/start?${new URLSearchParams({ clientId: HOSTILE, locale: HOSTILE })}`,
    HOSTILE,
  ),
};

/** Renders the page that a browser gets for an error. */
function problemOf(
  error: AppError,
  address = '/nothing',
  requestId = 'req_1',
  application: PageApplication | null = null,
): string {
  return renderProblemPage(error, { request: new Request(`https://auth.test${address}`), requestId, application });
}

/** Returns what an HTML parser finds, unlike a pattern. */
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

  test('loads nothing from another host, and only existing assets', async () => {
    const { addresses } = await parse(document);
    // Links, such as the provider's start and our own pages, are not loaded.
    const own = addresses.filter(
      (address) =>
        address !== '' &&
        !address.startsWith('https://x.test/') &&
        !address.startsWith(startUrl) &&
        !address.startsWith('mailto:') &&
        accentStyle(address) === null &&
        !/^\/(?:$|device$|console$|sign-in\?|oauth\/authorize\?)/.test(address),
    );
    expect(own.length).toBeGreaterThan(1);
    for (const address of own) expect(findAsset(address)?.path).toBe(address);
  });

  test('is kept out of search engines and sends no referrer', () => {
    expect(document).toContain('<meta name="referrer" content="no-referrer"/>');
    expect(document).toContain('<meta name="robots" content="noindex, nofollow"/>');
    expect(document).toMatch(/<html lang="[a-z]{2}(?:-[A-Z]{2})?"(?: data-ready)?>/);
  });

  test('has unique ids', async () => {
    const { ids } = await parse(document);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('the sign-in page has the ids that browser tests use, and a label for each field', async () => {
  const { ids, labelled } = await parse(documents['sign-in']);
  const stable = ['title', 'lead', 'email', 'email-error', 'email-form', 'email-submit', 'message', 'note'];
  expect(ids).toEqual(expect.arrayContaining([...stable, 'passkey', 'provider', 'language']));
  // The address and the language.
  expect(labelled).toBe(2);
});

test('the sign-in page offers only methods that the application allows', async () => {
  const idsOf = async (methods: typeof everyMethod | typeof noMethod) => (await parse(signInPage({ methods }))).ids;
  const ids = ['email-form', 'divider', 'passkey', 'provider'];
  expect((await idsOf(everyMethod)).filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
  expect((await idsOf(noMethod)).filter((id) => ids.includes(id))).toEqual([]);
  const withoutCode = await idsOf({ ...everyMethod, isCodeAllowed: false });
  expect(withoutCode.filter((id) => ids.includes(id)).sort()).toEqual(['passkey', 'provider']);
});

test('the footer links to the application’s existing rules, without access to this page', async () => {
  const links = { terms: 'https://x.test/terms', privacy: 'https://x.test/privacy', imprint: null };
  const page = signInPage({ application: { ...application, links } });
  const found = [...page.matchAll(/<a href="([^"]*)" target="_blank" rel="noreferrer">([^<]*)<\/a>/g)];
  expect(found.map(([, href, words]) => [href, words])).toEqual([
    [links.terms, 'Terms'],
    [links.privacy, 'Privacy'],
  ]);
});

test('the device page shows the code, names nobody, and warns before the decision', () => {
  expect(documents.device).toContain('A device that shows <strong translate="no">BCDF-GHJK</strong>');
  expect(messagesOf(documents.device)['device.warning']).toStartWith('Only continue if you started this yourself');
});

test('the setup page has the ids that browser tests use', async () => {
  const { ids } = await parse(documents.setup);
  expect(ids).toEqual(expect.arrayContaining(['ask', 'email', 'email-error', 'setup-form', 'setup-submit', 'message']));
});

/** Returns the data of a page's script. */
function dataOf(page: string) {
  return JSON.parse(/<script type="application\/json" id="page-data">(.*)<\/script>/.exec(page)?.[1] ?? '');
}
const messagesOf = (page: string): Record<string, string> => dataOf(page).messages;

test('the scripts read their data from the page without loss', () => {
  const data = dataOf(documents['sign-in with hostile values']);
  expect(data).toMatchObject({
    locale: 'en',
    props: {
      ...hostileData,
      returnTo: HOSTILE,
      isTrial: true,
      email: HOSTILE,
      accounts: [{ userId: HOSTILE, email: HOSTILE, isCurrent: false, isNewElsewhere: false }],
    },
  });
  expect(Object.keys(data.messages)).toContain('signin.title');
  expect(data.messages['errors.code_invalid']).toBe(text('errors.code_invalid'));
});

test('an accent colour is used only if it is a hex colour', () => {
  const withAccent = (accentColor: string) => signInPage({ application: { ...application, accentColor } });
  const [, path] = /<link rel="stylesheet" href="(\/assets\/accent-[^"]*)"\/>/.exec(withAccent('#0a7'))!;
  expect(path).toBe('/assets/accent-00aa77.css');
  expect(accentStyle(path!)).toContain('--accent-on-light:#00aa77');
  expect(withAccent('red;}')).not.toContain('accent-');
  expect(accentStyle('/assets/accent-red;}.css')).toBeNull();
});

test('a logo is shown only from addresses that the image policy allows', () => {
  const withLogo = (logoUrl: string) => signInPage({ application: { ...application, logoUrl } });
  expect(withLogo('https://cdn.test/l.png')).toContain('src="https://cdn.test/l.png"');
  expect(withLogo('/cdn/l.webp')).toContain('src="/cdn/l.webp"');
  for (const refused of ['http://cdn.test/l.png', 'javascript:alert(1)', '//cdn.test/l.png', 'data:text/html,x']) {
    expect(withLogo(refused)).not.toContain('<img');
  }
});

test('the problem page needs a script for nothing but its language switch', async () => {
  const { scripts } = await parse(documents.problem);
  expect(scripts.map(({ src }) => src)).toEqual([assetUrl('language.js')]);
  expect(documents.problem).not.toContain(assetUrl('sign-in.js'));
});

describe('the problem page', () => {
  const read = (words: string) => words.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
  const leadOf = (page: string) => read(/<p class="lead">([^<]*)<\/p>/.exec(page)![1]!);
  const linkOf = (page: string) =>
    // An empty address means this page.
    /<a href(?:="([^"]*)")? class="button primary"><span>([^<]*)<\/span><\/a>/
      .exec(page)
      ?.slice(1)
      .map((part = '') => part);

  test('never shows an error’s message for programs, for any code and hint', () => {
    const sentences = [...CODES.map((code) => ERROR_CATALOGUE[code].message), ...Object.values(HINTS)];
    for (const code of CODES)
      for (const hint of [undefined, ...(Object.keys(HINTS) as Hint[])]) {
        const lead = leadOf(problemOf(new AppError(code, { hint } as AppErrorOptions)));
        expect(lead).toMatch(/^[A-Z].*\.$/);
        expect(sentences.filter((sentence) => lead.includes(sentence))).toEqual([]);
        expect(lead).not.toContain('{');
      }
  });

  test.each<[ErrorCode, Hint | undefined, MessageKey]>([
    ['not_found', undefined, 'errors.problem.not_found'],
    ['not_found', 'setup_link_spent', 'errors.setup_link_spent'],
    ['not_found', 'user_code_unknown', 'errors.problem.not_found'],
    ['invalid_request', 'return_url_unregistered', 'errors.return_url_unregistered'],
    ['application_archived', undefined, 'errors.application_archived'],
    ['method_not_allowed', undefined, 'errors.problem.other'],
    ['internal', undefined, 'errors.internal'],
    ['unavailable', 'disk_refuses_writes', 'errors.unavailable'],
  ])('shows %s (%s) in the words of its catalogue', (code, hint, key) => {
    expect(leadOf(problemOf(new AppError(code, { hint } as AppErrorOptions)))).toBe(text(key));
  });

  test('says that a setup link is invalid, and how to get a new one', () => {
    const page = problemOf(new AppError('not_found', { hint: 'setup_link_spent' }), '/setup?token=x');
    expect(page).toContain(`<h1>${text('signin.setup.spentTitle')}</h1>`);
    expect(leadOf(page)).toContain('gatehouse setup-link');
  });

  test('states the wait, and retries at the same address', () => {
    const page = problemOf(new AppError('rate_limited', { retryAfterSeconds: 30 }), '//evil.test/device');
    expect(leadOf(page)).toContain('30 seconds');
    expect(linkOf(page)).toEqual(['', text('errors.problem.tryAgain')]);
  });

  test('links to the other sign-in methods if one failed, else nowhere', () => {
    const start = '/api/auth/google/start?clientId=acme&returnTo=https%3A%2F%2Fevil.test';
    expect(linkOf(problemOf(new AppError('provider_failed'), start))).toEqual([
      '/sign-in?clientId=acme',
      text('signin.otherWay'),
    ]);
    expect(linkOf(problemOf(new AppError('provider_failed'), '/api/auth/google/callback'))).toBeUndefined();
    expect(linkOf(problemOf(new AppError('not_found'), '//evil.test/nothing'))).toBeUndefined();
  });

  /** Returns the links in their order. */
  const linksOf = (page: string) =>
    [...page.matchAll(/<a href="([^"]*)" class="button [a-z]+"><span>([^<]*)<\/span>/g)].map(([, ...link]) => link);
  const harbour: PageApplication = {
    ...acme,
    name: 'Harbour',
    accentColor: '#00aa77',
    homeUrl: 'https://harbour.test/start',
    supportEmail: 'a+b%c?d@harbour.test',
    termsUrl: 'https://harbour.test/terms',
  };
  const HELP = 'mailto:a%2Bb%25c%3Fd@harbour.test';

  test('has the application’s name, colour, links and language switch, and the status in its reference', () => {
    const page = problemOf(new AppError('invalid_request'), '/sign-in', 'req_1', harbour);
    expect(page).toContain('Harbour</span></div>');
    expect(page).toContain('/assets/accent-00aa77.css');
    expect(page).toContain('href="https://harbour.test/terms"');
    expect(page).toContain('id="language"');
    expect(page).toContain(text('errors.reference', { requestId: '400\u00a0·\u00a0req_1' }));
    expect(linksOf(page)).toEqual([
      ['https://harbour.test/start', text('signin.back', { app: 'Harbour' })],
      [HELP, text('signin.writeTo', { app: 'Harbour' })],
    ]);
  });

  test('offers help first to somebody whose undo link is spent, and prefers the support page to the address', () => {
    const spent = new AppError('not_found', { hint: 'undo_link_spent' });
    const supported = { ...harbour, supportUrl: 'https://harbour.test/help' };
    const page = problemOf(spent, '/undo-email-change?token=x', 'req_1', supported);
    expect(page).toContain(`<h1>${text('errors.problem.spentTitle')}</h1>`);
    expect(linksOf(page).map(([href]) => href)).toEqual(['https://harbour.test/help', 'https://harbour.test/start']);
  });

  test('of an archived application is the page that a live change draws, without a reference', () => {
    const page = problemOf(new AppError('application_archived'), '/sign-in', 'req_1', harbour);
    expect(page).toContain(text('signin.archivedTitle', { app: 'Harbour' }));
    expect(leadOf(page)).toBe(text('signin.archivedLead'));
    expect(page).not.toContain('req_1');
    expect(linksOf(page)).toHaveLength(2);
  });

  test('has no language switch where its address cannot be loaded again', () => {
    const request = new Request('https://auth.test/undo-email-change', { method: 'POST' });
    const error = new AppError('not_found', { hint: 'undo_link_spent' });
    expect(renderProblemPage(error, { request, requestId: 'req_1', application: harbour })).not.toContain(
      'id="language"',
    );
    expect(problemOf(new AppError('provider_failed'), '/api/auth/google/callback?code=x')).not.toContain(
      'id="language"',
    );
  });

  test('of the console keeps Gatehouse’s own mark', () => {
    const page = problemOf(new AppError('invalid_request'), '/sign-in', 'req_1', {
      ...acme,
      clientId: 'console',
      name: 'Console of the house',
    });
    expect(page).not.toContain('brand-name');
  });

  test('links to the application’s home for a bad link, and never to the link’s target', () => {
    const shop = { ...acme, name: 'Shop', returnUrls: ['https://shop.test/signed-in', 'https://other.test/'] };
    const page = problemOf(new AppError('invalid_request'), '/sign-in?returnTo=//evil.test', 'req_1', shop);
    expect(linkOf(page)).toEqual(['https://shop.test/', text('signin.back', { app: 'Shop' })]);
    expect(page).not.toContain('evil.test');
    const withHome = { ...shop, homeUrl: 'https://shop.test/start' };
    expect(linkOf(problemOf(new AppError('invalid_request'), '/sign-in', 'req_1', withHome))).toEqual([
      'https://shop.test/start',
      text('signin.back', { app: 'Shop' }),
    ]);
    const unknown = problemOf(new AppError('invalid_request'), '/sign-in?returnTo=//evil.test');
    expect(linkOf(unknown)).toBeUndefined();
    expect(unknown).not.toContain('evil.test');
  });
});
