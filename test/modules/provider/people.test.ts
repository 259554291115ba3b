/** Which account a sign-in through a provider opens, and when it is refused. */
import { describe, expect, test } from 'bun:test';

import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { fragmentOf } from './browser.ts';
import { createScene, personOf, RETURN_TO, type Scene, sceneOf, startProvider } from './scene.ts';
import type { ApplicationColumns } from '@/store/applications.ts';

const ADA = 'ada@example.com';

const only = <Row>({ instance }: Scene, sql: string, ...values: string[]) =>
  instance.sqlite.query(sql).get(...values) as Row;

async function expectError(scene: Scene, claims: Record<string, unknown>, code: string): Promise<void> {
  const before = scene.count('users');
  const landed = await scene.signIn(claims);
  expect([landed.status, landed.headers.get('location')]).toEqual([302, `${RETURN_TO}#error=${code}`]);
  expect(landed.headers.getSetCookie()).toEqual([]);
  expect(scene.count('users')).toBe(before);
  expect(scene.instance.auditKinds(scene.application.id).at(-1)).toBe('signin.refused');
}

describe('a new person', () => {
  test('gets an account with a verified address and the provider’s cleaned data', async () => {
    const scene = await createScene();
    const landed = await scene.signIn({
      email: ' Ada@EXAMPLE.com',
      given_name: ' Ada\u0000\n ',
      family_name: 'L'.repeat(150),
      name: 7,
      picture: 'http://id.example.com/plain.png',
    });
    const { userId } = await personOf(scene, landed);
    expect(only(scene, 'SELECT * FROM users WHERE id = ?', userId)).toMatchObject({
      email: ADA,
      email_verified_at: scene.instance.clock.now(),
      given_name: 'Ada',
      family_name: 'L'.repeat(100),
      full_name: null,
      provider_avatar_url: null,
    });
    expect(only(scene, 'SELECT user_id, issuer, subject, email FROM provider_identities')).toEqual({
      user_id: userId,
      issuer: scene.provider.issuer,
      subject: 'subject-1',
      email: ADA,
    } as never);
    // They joined without linking an existing account, so no mail is sent.
    expect(scene.instance.events(scene.application.id).map(({ type }) => type)).toEqual(['user.signed_in']);
    expect(scene.count('mails')).toBe(0);
  });

  test.each([
    ['said by the page', { locale: 'de-at', timezone: 'europe/vienna' }, 'fr-CH, fr;q=0.9', 'de-AT', 'Europe/Vienna'],
    ['asked for by the browser', { timezone: 'Asia/Tokyo' }, 'en;q=0.4, ja-JP', 'ja-JP', 'Asia/Tokyo'],
    ['none', { locale: '!!', timezone: 'Mars/Base' }, '*', 'en', 'UTC'],
  ])('keeps the language and time zone of the start of the flow, %s', async (_, query, language, locale, timezone) => {
    const scene = await createScene();
    const { browser, application, provider, instance } = scene;
    const start = new URLSearchParams({ clientId: application.clientId, returnTo: RETURN_TO, ...query });
    const headers = { 'accept-language': language };
    const started = await browser.visit(`/api/auth/google/start?${start}`, { headers });
    const landed = await scene.comeBack(await provider.agree(started.headers.get('location')!));
    const { json } = await instance.call('POST', '/api/v1/session', fragmentOf(landed));
    expect([json.locale, json.timezone]).toEqual([locale, timezone]);
  });

  test.each([
    ['false', false],
    ['the text "true"', 'true'],
    ['the number 1', 1],
    ['left out', undefined],
    ['null', null],
  ])('a person with email_verified %s is refused, and nothing is stored', async (_, verified) => {
    await expectError(await createScene(), { email_verified: verified }, 'email_unverified');
  });

  test.each([
    ['none', undefined],
    ['no address', 'ada'],
    ['a list', [ADA]],
    ['a key’s', 'key_1@api-key.invalid'],
  ])('a person with the e-mail %s is refused', async (_, email) => {
    await expectError(await createScene(), { email }, 'email_unverified');
  });

  test('is refused by a closed gate and leaves only the record of the refusal', async () => {
    const scene = await createScene();
    for (const [state, code] of [
      [{ signinGate: 'closed' }, 'gate_closed'],
      [{ signinGate: 'private_beta' }, 'waitlist'],
    ] as const) {
      await given.application(scene.instance, scene.application.id, state);
      await expectError(scene, { given_name: 'Ada' }, code);
    }
    expect([scene.count('provider_identities'), scene.count('users')]).toEqual([0, scene.count('users')]);
  });

  test('is refused by a draft, whose maker reads which calls open it', async () => {
    const scene = await createScene();
    const { id } = scene.application;
    await given.application(scene.instance, id, { stage: 'draft' });
    const { error, error_description: words, ...others } = fragmentOf(await scene.signIn({ given_name: 'Ada' }));
    expect([error, others]).toEqual(['gate_closed', {}]);
    expect(words).toContain(`POST /api/applications/${id}/publish, then POST its /go-live`);
  });

  test('a person with another’s former address is refused as archived', async () => {
    const scene = await createScene();
    const { userId } = await scene.instance.signIn(scene.application.clientId, 'new@example.com');
    await given.alias(scene.instance, ADA, userId);
    await expectError(scene, {}, 'email_archived');
    expect(scene.count('provider_identities')).toBe(0);
  });
});

describe('a person with a known address', () => {
  test('is linked and notified if both sides have verified it', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const other = await instance.createApplication({ name: 'Other' });
    const { userId } = await instance.signIn(application.clientId, ADA);
    await instance.signIn(other.clientId, ADA);
    await given.person(instance, userId, { givenName: 'Augusta' });
    const before = instance.events(application.id).length;
    const landed = await scene.signIn({ given_name: 'Ada', picture: 'https://id.example.com/ada.png' });
    expect((await personOf(scene, landed)).userId).toBe(userId);
    expect(only(scene, 'SELECT given_name, full_name, provider_avatar_url FROM users WHERE id = ?', userId)).toEqual({
      given_name: 'Augusta',
      full_name: null,
      provider_avatar_url: 'https://id.example.com/ada.png',
    } as never);
    const changed = { type: 'user.identity_changed', data: { userId, changed: ['provider'] } };
    expect(instance.events(application.id).slice(before)).toEqual([
      {
        type: 'user.signed_in',
        data: { userId, sessionId: expect.any(String), method: 'provider', email: 'ada@example.com', isNewUser: false },
      },
      changed,
    ]);
    expect(instance.events(other.id).at(-1)).toEqual(changed);
    expect(instance.auditKinds(application.id).slice(-2)).toEqual(['signin.succeeded', 'provider.linked']);
    const mail = only<{ recipient: string; subject: string; text: string }>(
      scene,
      'SELECT recipient, subject, text FROM mails ORDER BY rowid DESC LIMIT 1',
    );
    expect([mail.recipient, mail.subject]).toEqual([ADA, 'A sign-in provider was connected to your account']);
    // Later sign-ins send no mail.
    const mails = scene.count('mails');
    await scene.signIn();
    expect(scene.count('mails')).toBe(mails);
  });

  test('a person who never proved the address keeps their account: the instance’s provider proves it', async () => {
    const scene = await createScene();
    const { userId, token } = await scene.instance.signIn(scene.application.clientId, ADA);
    await given.person(scene.instance, userId, { emailVerifiedAt: null });
    expect((await personOf(scene, await scene.signIn())).userId).toBe(userId);
    expect((await scene.instance.call('POST', '/api/v1/session', { token })).status).toBe(401);
  });

  test('is not linked if the provider has not verified it, since anybody could have typed it there', async () => {
    const scene = await createScene();
    await scene.instance.signIn(scene.application.clientId, ADA);
    await expectError(scene, { email_verified: false }, 'email_unverified');
    expect([scene.count('provider_identities'), scene.count('sessions')]).toEqual([0, 1]);
  });
});

describe('a known subject', () => {
  test('stays the same person when its address changes, even to another person’s', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn());
    const bea = await scene.instance.signIn(scene.application.clientId, 'bea@example.com');
    for (const claims of [
      { email: 'bea@example.com' },
      { email: 'lovelace@example.com', email_verified: false },
      { email: undefined, email_verified: undefined },
    ])
      expect(await personOf(scene, await scene.signIn(claims))).toEqual({ userId, email: ADA });
    expect(userId).not.toBe(bea.userId);
    expect(only(scene, 'SELECT email FROM provider_identities')).toEqual({ email: 'lovelace@example.com' } as never);
  });

  test('is another person at another issuer', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn());
    const other = await otherIssuer(scene);
    const second = await personOf(other, await other.signIn({ email: 'bea@example.com' }));
    expect(second.userId).not.toBe(userId);
    expect(scene.count('provider_identities')).toBe(2);
  });

  test('updates the picture and the time of last use, and nothing else', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn({ picture: 'https://id.example.com/1.png' }));
    scene.instance.clock.advance(1000);
    const pictures = ['https://id.example.com/2.png', 'javascript:alert(1)', `https://x.example/${'a'.repeat(2000)}`];
    for (const picture of pictures) await scene.signIn({ picture, given_name: 'Mallory' });
    expect(only(scene, 'SELECT given_name, provider_avatar_url FROM users WHERE id = ?', userId)).toEqual({
      given_name: null,
      provider_avatar_url: 'https://id.example.com/2.png',
    } as never);
    const { now } = scene.instance.clock;
    expect(only(scene, 'SELECT last_used_at FROM provider_identities')).toEqual({ last_used_at: now() } as never);
  });

  test.each([
    ['banned', 'membership_blocked'],
    ['paused', 'membership_blocked'],
    ['deleted', 'user_deleted'],
  ] as const)('a subject of a %s person is refused as %s', async (status, code) => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn());
    await given.member(scene.instance, scene.application.id, userId, { status });
    const { users: _, ...before } = dumpTables(scene.instance);
    await expectError(scene, { picture: 'https://id.example.com/2.png' }, code);
    const { users: __, ...after } = dumpTables(scene.instance);
    for (const table of ['sessions', 'provider_identities', 'application_users', 'events'])
      expect(after[table]).toEqual(before[table]!);
  });

  test('restores a person who had left', async () => {
    const scene = await createScene();
    const { userId } = await personOf(scene, await scene.signIn());
    await given.member(scene.instance, scene.application.id, userId, { status: 'left' });
    expect((await personOf(scene, await scene.signIn())).userId).toBe(userId);
  });

  test('is refused if the application was archived or disabled providers during the flow', async () => {
    const scene = await createScene();
    await scene.signIn();
    for (const [state, code] of [
      [{ signinMethods: ['otp'] }, 'forbidden'],
      [{ archivedAt: 1 }, 'application_archived'],
    ] as [ApplicationColumns, string][]) {
      const query = await scene.begin();
      await given.application(scene.instance, scene.application.id, state);
      expect(fragmentOf(await scene.comeBack(query))).toEqual({ error: code });
      await given.application(scene.instance, scene.application.id, { signinMethods: ['provider'] });
    }
  });
});

/** The same shop with a provider of its own alongside the instance's. */
async function otherIssuer(scene: Scene): Promise<Scene> {
  const provider = await startProvider(() => scene.instance.clock.now());
  const answer = await scene.instance.call('PUT', `/api/applications/${scene.application.id}/identity-provider`, {
    token: scene.instance.workspaceKey,
    body: { issuer: provider.issuer, clientId: 'gatehouse', clientSecret: 'secret' },
  });
  expect(answer.status).toBe(200);
  return sceneOf(scene.instance, scene.application, provider);
}

describe('an issuer configured by one of several tenants', () => {
  test('cannot claim another tenant’s person, and keeps working for its own', async () => {
    const scene = await createScene();
    const { instance } = scene;
    const own = await otherIssuer(scene);
    const { userId } = await personOf(own, await own.signIn({ sub: 'early', email: 'early@example.com' }));
    const tenant = await given.tenant(instance);
    await instance.signIn(tenant.application.clientId, ADA);
    await expectError(own, { sub: 'mallory', email: ADA }, 'link_required');
    expect((await personOf(own, await own.signIn({ sub: 'early' }))).userId).toBe(userId);
    const late = await personOf(own, await own.signIn({ sub: 'late', email: 'late@example.com' }));
    expect(late.email).toBe('late@example.com');
  });

  test('does not affect people of the instance’s own issuer', async () => {
    const scene = await createScene();
    await given.tenant(scene.instance);
    expect(fragmentOf(await scene.signIn())['token']).toStartWith('est_');
  });
});
