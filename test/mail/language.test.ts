/** Each mail is in its reader's language: their own, else the request's, else English. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { LOCALES, localeToWriteIn } from '@/core/locale.ts';
import { UNDO_PATH } from '@/core/undo-path.ts';
import { textsFor } from '@/i18n/catalogue.ts';
import { findUserByEmail, updateUser } from '@/store/people.ts';
import { OWNER } from '../modules/lifecycle/scene.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ADA = 'ada@example.com';
const NEW = 'ada@new.example';

async function speak(instance: Instance, email: string, locale: string | null): Promise<void> {
  await instance.db.write(SYSTEM_ACTOR, async (unit) => {
    const { id } = (await findUserByEmail(unit, email))!;
    await updateUser(unit, id, { locale });
  });
}

/** The language of the newest mail to an address, by its lang attribute and its text. */
function languageOf({ sqlite }: Instance, email: string, contains: Parameters<ReturnType<typeof textsFor>>[0]): string {
  const mail = sqlite.query('SELECT text, html FROM mails WHERE recipient = ? ORDER BY rowid DESC').get(email) as {
    text: string;
    html: string;
  };
  const [, lang = ''] = /<html lang="([^"]*)"/.exec(mail.html) ?? [];
  const locale = LOCALES.find((known) => known === lang)!;
  expect([lang, mail.text.includes(textsFor(locale)(contains, { app: 'Shop', workspace: 'Workspace' }))]).toEqual([
    lang,
    true,
  ]);
  return lang;
}

/** The locale of the texts for a language: English if it has no catalogue. */
const inWordsOf = (locale: (typeof LOCALES)[number]) => textsFor(locale).locale;

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication({ name: 'Shop' });
  const { clientId } = application;
  const askCode = (body: object) =>
    instance.call('POST', '/api/v1/auth/otp/send', { body: { email: ADA, clientId, ...body } });
  const admin = (path: string, body: unknown) => instance.call('POST', path, { token: instance.workspaceKey, body });
  return { instance, application, clientId, askCode, admin };
}

describe('the language of a mail', () => {
  test.each([
    ['fr', 'de', 'fr'],
    ['fr-CA', null, 'fr'],
    [null, 'de', 'de'],
    [null, 'de-AT', 'de'],
    ['pt-AO', 'de', 'pt-PT'],
    ['ja', 'de', 'de'],
    ['ja', null, 'en'],
    [null, null, 'en'],
    ['', 'x'.repeat(1_000), 'en'],
    ['\r\nBcc: eve@evil.example', null, 'en'],
  ] as const)('a reader with %j and a request in %j gets %s', (own, requested, expected) => {
    expect(localeToWriteIn(own, requested)).toBe(expected);
  });
});

describe('a sign-in code', () => {
  test('is in the language of the page for a new person', async () => {
    const { instance, askCode } = await setUp();
    await askCode({ locale: 'de-AT' });
    expect(languageOf(instance, ADA, 'email.codeIntro')).toBe(inWordsOf('de'));
  });

  test('is in English if nothing is known of the reader', async () => {
    const { instance, askCode } = await setUp();
    await askCode({});
    expect(languageOf(instance, ADA, 'email.codeIntro')).toBe('en');
  });

  test('is in the person’s own language, not the page’s', async () => {
    const { instance, clientId, askCode } = await setUp();
    await instance.signIn(clientId, ADA);
    await speak(instance, ADA, 'de');
    await askCode({ locale: 'en' });
    expect(languageOf(instance, ADA, 'email.codeIntro')).toBe(inWordsOf('de'));
  });
});

describe('a mail of the waitlist', () => {
  test.each([
    ['approval', 'betaApproved', (id: string) => [`/beta-interests/${id}/approve`, { notify: true }]],
    ['decline', 'betaDeclined', (id: string) => [`/beta-interests/${id}/decline`, { soft: true }]],
    ['decision on all', 'betaApproved', () => ['/beta-policy', { policy: 'auto_accept', notify: true }]],
    ['opening', 'betaLaunched', () => ['/signin-gate', { gate: 'public' }]],
  ] as const)('about the %s is in the language of the page that the request came from', async (_, mail, call) => {
    const { instance, application, admin } = await setUp();
    const path = `/api/applications/${application.id}`;
    await admin(`${path}/signin-gate`, { gate: 'private_beta' });
    const body = { kind: 'request', email: ADA, locale: 'de' };
    await instance.call('POST', `${path}/public/access-interest`, { body, headers: { 'accept-language': 'fr' } });
    const { id } = instance.sqlite.query('SELECT id FROM beta_interests').get() as { id: string };
    const [rest, decision] = call(id);
    expect((await admin(path + rest, decision)).status).toBe(200);
    await instance.services.scheduler.runAll();
    expect(languageOf(instance, ADA, `email.${mail}.title`)).toBe(inWordsOf('de'));
  });
});

describe('the reader’s own language', () => {
  async function setUpAda() {
    const world = await setUp();
    const { instance, clientId } = world;
    const { token } = await instance.signIn(clientId, ADA);
    await speak(instance, ADA, 'de');
    const account = (path: string, body: unknown) => instance.call('POST', `/api/account${path}`, { token, body });
    return { ...world, account };
  }

  test('is used in a code for another proof', async () => {
    const { instance, account } = await setUpAda();
    expect((await account('/proof', {})).status).toBe(200);
    expect(languageOf(instance, ADA, 'email.codeNotYou')).toBe(inWordsOf('de'));
  });

  test('is used in each mail of a change of address, to either address', async () => {
    const { instance, account } = await setUpAda();
    const proof = await account('/proof', { purpose: 'email_change', target: NEW });
    await account('/proof/confirm', { challengeId: proof.json.data.challengeId, code: instance.codeFor(ADA) });
    const asked = await account('/email', { email: NEW });
    expect(languageOf(instance, NEW, 'email.emailChange.ignore')).toBe(inWordsOf('de'));
    const given = { challengeId: asked.json.data.challengeId, code: instance.codeFor(NEW) };
    expect((await account('/email/confirm', given)).status).toBe(200);
    expect(languageOf(instance, ADA, 'email.emailChanged.title')).toBe(inWordsOf('de'));
    const { text } = instance.sqlite
      .query('SELECT text FROM mails WHERE recipient = ? ORDER BY rowid DESC')
      .get(ADA) as { text: string };
    const token = /token=(\S+)/.exec(text)![1]!;
    await instance.call('POST', UNDO_PATH, { body: { token } });
    expect(languageOf(instance, ADA, 'email.emailUndone.back')).toBe(inWordsOf('de'));
    expect(languageOf(instance, NEW, 'email.emailUndone.gone')).toBe(inWordsOf('de'));
  });

  test('is used in a notice that another account requests their address', async () => {
    const { instance, clientId } = await setUpAda();
    const { token } = await instance.signIn(clientId, 'eve@example.com');
    await speak(instance, 'eve@example.com', 'en');
    const eve = (path: string, body: unknown) => instance.call('POST', `/api/account${path}`, { token, body });
    const proof = await eve('/proof', { purpose: 'email_change', target: ADA });
    const code = instance.codeFor('eve@example.com');
    await eve('/proof/confirm', { challengeId: proof.json.data.challengeId, code });
    await eve('/email', { email: ADA });
    expect(languageOf(instance, ADA, 'email.addressTaken.title')).toBe(inWordsOf('de'));
  });

  test('is used in an invitation', async () => {
    const { instance, admin } = await setUpAda();
    for (const email of [ADA, 'new@example.com']) await admin('/api/workspace/members', { email, role: 'member' });
    expect(languageOf(instance, ADA, 'email.invitation.member')).toBe(inWordsOf('de'));
    expect(languageOf(instance, 'new@example.com', 'email.invitation.member')).toBe('en');
  });

  test('is used in the decisions on many waitlist entries', async () => {
    const { instance, application, admin } = await setUpAda();
    const emails = [ADA, 'new@example.com'];
    await admin(`/api/applications/${application.id}/beta-interests`, { emails, status: 'pending' });
    await admin(`/api/applications/${application.id}/beta-policy`, { policy: 'auto_accept', notify: true });
    await instance.services.scheduler.runAll();
    expect(languageOf(instance, ADA, 'email.betaApproved.title')).toBe(inWordsOf('de'));
    expect(languageOf(instance, 'new@example.com', 'email.betaApproved.title')).toBe('en');
  });

  test('is used in a code for the owner of an application', async () => {
    const { instance, application, admin } = await setUpAda();
    await speak(instance, OWNER, 'de');
    const sent = await admin(`/api/applications/${application.id}/lifecycle/send`, { kind: 'archive' });
    expect(sent.status).toBe(200);
    expect(languageOf(instance, OWNER, 'email.archive.effect')).toBe(inWordsOf('de'));
  });
});
