import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE } from '@/core/clock.ts';
import type { ApplicationColumns } from '@/store/applications.ts';
import type { MembershipStatus } from '@/store/members.ts';
import { type Claims, usePasskey } from '../../support/authenticator.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { problemOf, register, signInOptions, signInWith } from './passkeys.ts';

async function setUp(input: Record<string, unknown> = {}) {
  const instance = await createInstance();
  const application = await instance.createApplication(input);
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  const { passkey, json } = await register(instance, ada.token);
  return { instance, application, ada, passkey, passkeyId: json.data.id as string };
}

describe('options for a sign-in', () => {
  test('name no person, so that anyone can answer, and require user verification', async () => {
    const { instance, application } = await setUp();
    const { json } = await signInOptions(instance, application.clientId);
    expect(json.data.options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(json.data.options.allowCredentials ?? []).toEqual([]);
    expect(Date.parse(json.data.expiresAt)).toBe(instance.clock.now() + 5 * MINUTE);
  });

  test('are refused for an unknown, draft or archived application, and one without passkeys', async () => {
    const { instance, application } = await setUp();
    expect(problemOf(await signInOptions(instance, 'cli_unknown'))).toEqual([404, 'not_found']);
    const { clientId } = await instance.createApplication({ signinMethods: ['otp'] });
    expect(problemOf(await signInOptions(instance, clientId))).toEqual([403, 'forbidden']);
    await given.application(instance, application.id, { archivedAt: 1 });
    expect(problemOf(await signInOptions(instance, application.clientId))).toEqual([403, 'application_archived']);
  });

  test('are limited per client address', async () => {
    const { instance, application } = await setUp();
    for (let asked = 0; asked < 300; asked += 1) await signInOptions(instance, application.clientId);
    const answer = await signInOptions(instance, application.clientId);
    expect(problemOf(answer)).toEqual([429, 'rate_limited']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    instance.peer = '203.0.113.8';
    expect((await signInOptions(instance, application.clientId)).status).toBe(200);
  });
});

describe('a passkey', () => {
  test('signs its owner in, and the event names the method', async () => {
    const { instance, application, ada, passkey, passkeyId } = await setUp();
    instance.clock.advance(DAY);
    const { status, json } = await signInWith(instance, application.clientId, passkey);
    expect([status, json.data.userId, json.data.applicationId]).toEqual([200, ada.userId, application.id]);
    const { json: session } = await instance.call('POST', '/api/v1/session', { token: json.data.token });
    expect([session.ok, session.email]).toEqual([true, 'ada@example.com']);
    expect(instance.events(application.id).at(-1)).toEqual({
      type: 'user.signed_in',
      data: {
        userId: ada.userId,
        sessionId: expect.any(String),
        method: 'passkey',
        email: 'ada@example.com',
        isNewUser: false,
      },
    });
    const { json: list } = await instance.call('GET', '/api/account/passkeys', { token: json.data.token });
    expect(list.data.items).toMatchObject([
      { id: passkeyId, lastUsedAt: new Date(instance.clock.now()).toISOString() },
    ]);
  });

  test('opens every application of its workspace, none of another, and joins like any first sign-in', async () => {
    const { instance, ada, passkey } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const { json } = await signInWith(instance, other.clientId, passkey);
    expect([json.data.userId, json.data.applicationId]).toEqual([ada.userId, other.id]);
    const foreign = await given.tenant(instance);
    const refused = await signInWith(instance, foreign.application.clientId, passkey);
    expect(problemOf(refused)).toEqual([400, 'passkey_invalid']);
  });

  test('sets the console’s cookie only for a sign-in to the console', async () => {
    const { instance, application, passkey: mine } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const { passkey } = await register(instance, owner.token);
    const toConsole = await signInWith(instance, 'console', passkey);
    expect(toConsole.headers.get('set-cookie')).toContain('HttpOnly');
    const toShop = await signInWith(instance, application.clientId, mine);
    expect(toShop.headers.get('set-cookie')).toBeNull();
  });

  const WRONG: [string, Claims][] = [
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin that only begins like ours', { origin: 'http://localhost:80800' }],
    ['a foreign relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an answer of another type', { type: 'webauthn.create' }],
    ['no user verification', { isUserVerified: false }],
    ['no user presence', { isUserPresent: false }],
    ['no user handle', { userHandle: null }],
    ['another user’s handle', { userHandle: Buffer.from('usr_01kat1h5ppe3bv2d9g3wq5r1xm').toString('base64url') }],
  ];

  test.each(WRONG)('an assertion with %s is refused, and the refusal is recorded', async (_, claims) => {
    const { instance, application, passkey } = await setUp();
    const answer = await signInWith(instance, application.clientId, passkey, claims);
    expect(problemOf(answer)).toEqual([400, 'passkey_invalid']);
    expect(answer.json).not.toHaveProperty('data');
    expect(instance.auditKinds(application.id).at(-1)).toBe('signin.refused');
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
  });

  test('signed with another key is refused', async () => {
    const { instance, application, passkey } = await setUp();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const { passkey: hers } = await register(instance, eve.token);
    const forged = { ...hers, credentialId: passkey.credentialId, userHandle: passkey.userHandle };
    expect(problemOf(await signInWith(instance, application.clientId, forged))).toEqual([400, 'passkey_invalid']);
  });

  test('a passkey of one person with the user handle of another is refused', async () => {
    const { instance, application, passkey } = await setUp();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const { passkey: hers } = await register(instance, eve.token);
    const swapped = { ...hers, userHandle: passkey.userHandle };
    expect(problemOf(await signInWith(instance, application.clientId, swapped))).toEqual([400, 'passkey_invalid']);
  });

  test('an unknown passkey gets its own error, so that the browser can remove it', async () => {
    const { instance, application, passkey } = await setUp();
    const unknown = { ...passkey, credentialId: new Uint8Array(32).fill(7) };
    expect(problemOf(await signInWith(instance, application.clientId, unknown))).toEqual([400, 'passkey_unknown']);
  });
});

describe('the counter of an authenticator', () => {
  async function counting() {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    const { passkey } = await register(instance, ada.token, { claims: { counter: 5 } });
    return {
      instance,
      application,
      signIn: (claims?: Claims) => signInWith(instance, application.clientId, passkey, claims),
    };
  }

  test('must grow: an equal or smaller count indicates a copied authenticator', async () => {
    const { signIn } = await counting();
    expect((await signIn({ counter: 6 })).status).toBe(200);
    for (const counter of [6, 5, 1, 0]) {
      const answer = await signIn({ counter });
      expect([counter, ...problemOf(answer)]).toEqual([counter, 400, 'passkey_invalid']);
      expect(answer.json.message).toContain('copied');
    }
    expect((await signIn({ counter: 7 })).status).toBe(200);
  });

  test('may stay zero if the authenticator does not count', async () => {
    const { instance, application, passkey } = await setUp();
    for (let time = 0; time < 2; time += 1)
      expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
  });

  test('lets in one of two concurrent answers with the same count', async () => {
    const { instance, application } = await counting();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const { passkey } = await register(instance, eve.token, { claims: { counter: 1 } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => signInWith(instance, application.clientId, passkey, { counter: 2 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a challenge', () => {
  test('accepts exactly one of fifty concurrent answers', async () => {
    const { instance, application, passkey } = await setUp();
    const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
    const credential = usePasskey(passkey, options);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        instance.call('POST', '/api/v1/auth/passkey/verify', { body: { challengeId, credential } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.json.error === 'code_consumed')).toHaveLength(49);
  });

  test('expires after five minutes', async () => {
    const { instance, application, passkey } = await setUp();
    const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
    instance.clock.advance(5 * MINUTE);
    const body = { challengeId, credential: usePasskey(passkey, options) };
    const answer = await instance.call('POST', '/api/v1/auth/passkey/verify', { body });
    expect(problemOf(answer)).toEqual([400, 'code_expired']);
  });

  test('has one purpose: no other short-lived secret replaces it, and it replaces no other', async () => {
    const { instance, application, ada, passkey } = await setUp();
    const registration = (await instance.call('POST', '/api/account/passkeys/options', { token: ada.token })).json.data;
    instance.clock.advance(MINUTE);
    const otp = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: 'ada@example.com', clientId: application.clientId },
    });
    const code = instance.codeFor('ada@example.com');
    const signIn = (await signInOptions(instance, application.clientId)).json.data;
    for (const challengeId of [registration.challengeId, otp.json.data.challengeId]) {
      const credential = usePasskey(passkey, registration.options);
      const answer = await instance.call('POST', '/api/v1/auth/passkey/verify', { body: { challengeId, credential } });
      expect(problemOf(answer)).toEqual([400, 'code_expired']);
    }
    for (const challengeId of [registration.challengeId, signIn.challengeId]) {
      const answer = await instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });
      expect(problemOf(answer)).toEqual([400, 'code_invalid']);
    }
  });

  test('a challenge of one application signs in to that one only', async () => {
    const { instance, application, passkey } = await setUp();
    await instance.createApplication({ name: 'Other' });
    const { json } = await signInWith(instance, application.clientId, passkey);
    expect(json.data.applicationId).toBe(application.id);
  });
});

describe('a verified passkey', () => {
  type Scene = Awaited<ReturnType<typeof setUp>>;
  const member =
    (status: MembershipStatus) =>
    ({ instance, application, ada }: Scene) =>
      given.member(instance, application.id, ada.userId, { status });
  const application =
    (columns: ApplicationColumns) =>
    ({ instance, application: { id } }: Scene) =>
      given.application(instance, id, columns);

  test.each([
    ['a banned member', member('banned'), 'membership_blocked'],
    ['a paused member', member('paused'), 'membership_blocked'],
    ['a member deleted there', member('deleted'), 'user_deleted'],
    [
      'a deleted user',
      ({ instance, ada }: Scene) => given.person(instance, ada.userId, { deletedAt: 1 }),
      'user_deleted',
    ],
    ['an application gone private', application({ signinGate: 'private_beta' }), 'waitlist'],
    ['an application that went back to draft', application({ stage: 'draft' }), 'gate_closed'],
    ['an application archived meanwhile', application({ archivedAt: 1 }), 'application_archived'],
    ['an application that switched passkeys off', application({ signinMethods: ['otp'] }), 'forbidden'],
  ])('signs nobody in: %s', async (_, change, refusal) => {
    const scene = await setUp();
    const { instance, application, passkey } = scene;
    const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
    await change(scene);
    const body = { challengeId, credential: usePasskey(passkey, options) };
    const answer = await instance.call('POST', '/api/v1/auth/passkey/verify', { body });
    expect(problemOf(answer)).toEqual([403, refusal]);
    expect(instance.auditKinds(application.id).at(-1)).toBe('signin.refused');
  });

  test('does not open a closed application for a non-member', async () => {
    const { instance, passkey } = await setUp();
    const closed = await instance.createApplication({ name: 'Closed' });
    await given.application(instance, closed.id, { signinGate: 'closed' });
    expect(problemOf(await signInWith(instance, closed.clientId, passkey))).toEqual([403, 'gate_closed']);
  });

  test('brings back a member who had left', async () => {
    const { instance, application, ada, passkey } = await setUp();
    await instance.call('POST', '/api/account/leave', { token: ada.token });
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
    expect(instance.events(application.id).slice(-2)).toMatchObject([
      { type: 'user.reactivated', data: { userId: ada.userId } },
      { type: 'user.signed_in' },
    ]);
  });
});

test('nothing of a ceremony reaches the log', async () => {
  const { instance, application, passkey } = await setUp();
  const { challengeId, options } = (await signInOptions(instance, application.clientId)).json.data;
  const credential = usePasskey(passkey, options);
  const { json } = await instance.call('POST', '/api/v1/auth/passkey/verify', { body: { challengeId, credential } });
  const log = instance.logLines.join('');
  for (const secret of [json.data.token, credential.id, credential.response.signature, options.challenge])
    expect(log).not.toContain(secret);
});
