import { describe, expect, test } from 'bun:test';
import { MINUTE, SECOND } from '@/core/clock.ts';
import { createPasskey, type Claims } from '../../support/authenticator.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import { problemOf, register, registrationOptions, signInWith } from './passkeys.ts';

async function setUp(environment?: Record<string, string>) {
  const instance = await createInstance(environment ? { environment } : {});
  const application = await instance.createApplication();
  const ada = await instance.signIn(application.clientId, 'ada@example.com');
  return { instance, application, ada };
}

describe('options for a new passkey', () => {
  test('request a discoverable credential with user verification, for this host, without a secret of the person', async () => {
    const { instance, ada } = await setUp();
    const { json } = await registrationOptions(instance, ada.token);
    const { options, challengeId, expiresAt } = json.data;
    expect(challengeId).toStartWith('chl_');
    expect(Date.parse(expiresAt)).toBe(instance.clock.now() + 5 * MINUTE);
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      user: {
        id: Buffer.from(ada.userId + instance.workspaceId).toString('base64url'),
        name: 'ada@example.com',
        displayName: 'ada@example.com (Shop)',
      },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      excludeCredentials: [],
    });
    expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32);
  });

  test('exclude authenticators that already have one', async () => {
    const { instance, ada } = await setUp();
    const { passkey } = await register(instance, ada.token);
    const { json } = await registrationOptions(instance, ada.token);
    expect(json.data.options.excludeCredentials).toEqual([
      {
        id: Buffer.from(passkey.credentialId).toString('base64url'),
        type: 'public-key',
        transports: ['internal', 'hybrid'],
      },
    ]);
  });

  test('need a session of the last ten minutes, or a fresh proof', async () => {
    const { instance, ada } = await setUp();
    instance.clock.advance(10 * MINUTE);
    expect(problemOf(await registrationOptions(instance, ada.token))).toEqual([403, 'reauthentication_required']);
    const { json } = await instance.call('POST', '/api/account/proof', { token: ada.token });
    const body = { challengeId: json.data.challengeId, code: instance.codeFor('ada@example.com') };
    const proved = await instance.call('POST', '/api/account/proof/confirm', { token: ada.token, body });
    expect(Date.parse(proved.json.data.freshUntil)).toBe(instance.clock.now() + 10 * MINUTE);
    expect((await registrationOptions(instance, ada.token)).status).toBe(200);
    instance.clock.advance(10 * MINUTE);
    expect(problemOf(await registrationOptions(instance, ada.token))).toEqual([403, 'reauthentication_required']);
  });

  test('are refused if the server’s base URL has an IP address, and the error names the setting', async () => {
    const { instance, ada } = await setUp({ GATEHOUSE_BASE_URL: 'http://192.0.2.1:8080' });
    const answer = await registrationOptions(instance, ada.token);
    expect(problemOf(answer)).toEqual([409, 'invalid_state']);
    expect(answer.json.message).toContain('GATEHOUSE_BASE_URL');
  });

  test('options for a loopback address use localhost', async () => {
    const { instance, ada } = await setUp({ GATEHOUSE_BASE_URL: 'http://127.0.0.1:8080' });
    const { json } = await registrationOptions(instance, ada.token);
    expect(json.data.options.rp.id).toBe('localhost');
  });
});

describe('a new passkey', () => {
  test('is stored, named after its provider, and reported to the person and their applications', async () => {
    const { instance, application, ada } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    instance.clock.advance(MINUTE);
    const elsewhere = await instance.signIn(other.clientId, 'ada@example.com');
    const { status, json } = await register(instance, elsewhere.token, {
      claims: { aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd' },
    });
    expect([status, json.data]).toEqual([
      200,
      {
        id: expect.stringMatching(/^psk_/),
        name: 'Apple Passwords',
        isBackedUp: false,
        createdAt: new Date(instance.clock.now()).toISOString(),
        lastUsedAt: null,
      },
    ]);
    const event = { type: 'user.identity_changed', data: { userId: ada.userId, changed: ['passkey'] } };
    expect(instance.events(application.id).at(-1)).toEqual(event);
    expect(instance.events(other.id).at(-1)).toEqual(event);
    expect(instance.auditKinds(other.id).at(-1)).toBe('passkey.added');
    const mail = instance.sqlite.query('SELECT recipient, subject, text FROM mails ORDER BY rowid DESC').get();
    expect(mail).toMatchObject({ recipient: 'ada@example.com', subject: 'A passkey was added to your account' });
    const { json: list } = await instance.call('GET', '/api/account/passkeys', { token: ada.token });
    expect(list.data.items).toEqual([json.data]);
  });

  test('has no name until somebody or its provider gives one, and its mail says so in the reader’s language', async () => {
    const { instance, ada } = await setUp();
    instance.sqlite.query("UPDATE users SET locale = 'fr' WHERE id = ?").run(ada.userId);
    const { json } = await register(instance, ada.token);
    expect(json.data.name).toBeNull();
    const { text } = instance.sqlite.query('SELECT text FROM mails ORDER BY id DESC').get() as { text: string };
    expect(text).toContain('Elle permet désormais de se connecter.');
    expect(text).toMatch(/http:\/\/localhost:8080\/account\/sign-in\?clientId=/);
    expect(text).not.toContain('Passkey');
  });

  test('can be named and renamed', async () => {
    const { instance, ada } = await setUp();
    const { json } = await register(instance, ada.token, { name: '  My key ' });
    expect(json.data.name).toBe('My key');
    const path = `/api/account/passkeys/${json.data.id}`;
    const renamed = await instance.call('PATCH', path, { token: ada.token, body: { name: 'Work laptop' } });
    expect([renamed.status, renamed.json.data.name]).toEqual([200, 'Work laptop']);
    const empty = await instance.call('PATCH', path, { token: ada.token, body: { name: ' ' } });
    expect([...problemOf(empty), empty.json.fields[0].path]).toEqual([400, 'invalid_request', 'name']);
  });

  const WRONG: [string, Claims][] = [
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['an origin with another port', { origin: 'http://localhost:8081' }],
    ['a foreign relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an answer of another type', { type: 'webauthn.get' }],
    ['no user verification', { isUserVerified: false }],
    ['no user presence', { isUserPresent: false }],
    ['an attestation with certificates', { format: 'packed', statement: new Map([['x5c', []]]) }],
    ['an attestation nobody asked for', { format: 'fido-u2f' }],
    ['an id beyond 1,023 bytes', { credentialId: new Uint8Array(1024).fill(1) }],
  ];

  test.each(WRONG)('a passkey with %s is refused and not stored', async (_, claims) => {
    const { instance, ada } = await setUp();
    const answer = await register(instance, ada.token, { claims });
    expect(answer.status).toBe(400);
    expect(['passkey_invalid', 'invalid_request']).toContain(answer.json.error);
    expect(dumpTables(instance)['passkeys']).toEqual([]);
  });

  test('may have an id of 1,023 bytes', async () => {
    const { instance, application, ada } = await setUp();
    const claims = { credentialId: crypto.getRandomValues(new Uint8Array(1023)) };
    const { status, passkey } = await register(instance, ada.token, { claims });
    expect(status).toBe(200);
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
  });

  test('is refused if its id is already known, for any person', async () => {
    const { instance, application, ada } = await setUp();
    const { passkey } = await register(instance, ada.token);
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    for (const { token } of [ada, eve]) {
      const answer = await register(instance, token, { claims: { credentialId: passkey.credentialId } });
      expect(problemOf(answer)).toEqual([409, 'conflict']);
    }
    const signedIn = await signInWith(instance, application.clientId, passkey);
    expect(signedIn.json.data.userId).toBe(ada.userId);
  });

  test('is accepted once per challenge, only from the requesting session, within five minutes', async () => {
    const { instance, application, ada } = await setUp();
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const ask = async () => (await registrationOptions(instance, ada.token)).json.data;
    const add = (token: string, challengeId: string, options: Parameters<typeof createPasskey>[0]) =>
      instance.call('POST', '/api/account/passkeys', {
        token,
        body: { challengeId, credential: createPasskey(options).credential },
      });
    const first = await ask();
    expect(problemOf(await add(eve.token, first.challengeId, first.options))).toEqual([400, 'code_expired']);
    expect(problemOf(await add(ada.token, first.challengeId, first.options))).toEqual([200, 'ok']);
    expect(problemOf(await add(ada.token, first.challengeId, first.options))).toEqual([409, 'code_consumed']);
    const late = await ask();
    instance.clock.advance(5 * MINUTE);
    expect(problemOf(await add(ada.token, late.challengeId, late.options))).toEqual([400, 'code_expired']);
    const spoilt = await ask();
    const wrong = await instance.call('POST', '/api/account/passkeys', {
      token: ada.token,
      body: {
        challengeId: spoilt.challengeId,
        credential: createPasskey(spoilt.options, { origin: 'https://evil.example' }).credential,
      },
    });
    expect(problemOf(wrong)).toEqual([400, 'passkey_invalid']);
    expect(problemOf(await add(ada.token, spoilt.challengeId, spoilt.options))).toEqual([409, 'code_consumed']);
  });

  test('is not stored if the person was signed out during its verification', async () => {
    const { instance, ada } = await setUp();
    const { challengeId, options } = (await registrationOptions(instance, ada.token)).json.data;
    // Verification begins once the challenge is consumed; a trigger signs the person out in between.
    instance.sqlite.run(
      'CREATE TRIGGER sign_out AFTER UPDATE ON passkey_challenges BEGIN UPDATE sessions SET revoked_at = 1; END',
    );
    const answer = await instance.call('POST', '/api/account/passkeys', {
      token: ada.token,
      body: { challengeId, credential: createPasskey(options).credential },
    });
    expect(problemOf(answer)).toEqual([401, 'unauthenticated']);
    expect(dumpTables(instance)['passkeys']).toEqual([]);
  });

  test('is refused beyond fifty with advice', async () => {
    const { instance, ada } = await setUp();
    await register(instance, ada.token);
    await given.passkeys(instance, ada.userId, { count: 49, workspaceId: instance.workspaceId });
    const answer = await registrationOptions(instance, ada.token);
    expect(problemOf(answer)).toEqual([409, 'invalid_state']);
    expect(answer.json.message).toContain('50');
  });

  const MALFORMED: [string, unknown, string][] = [
    ['no credential', { challengeId: 'chl_1' }, 'credential'],
    ['a credential of another type', { challengeId: 'chl_1', credential: { type: 'password' } }, 'credential'],
    ['an unknown field', { challengeId: 'chl_1', credential: {}, userId: 'usr_1' }, 'userId'],
  ];

  test.each(MALFORMED)('a passkey with %s is refused with the field', async (_, body, field) => {
    const { instance, ada } = await setUp();
    const answer = await instance.call('POST', '/api/account/passkeys', { token: ada.token, body });
    expect(problemOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.json.fields.map(({ path }: { path: string }) => path.split('.')[0])).toContain(field);
  });
});

describe('another person’s passkey', () => {
  test('is not found: it can be neither renamed nor removed', async () => {
    const { instance, application, ada } = await setUp();
    const { json } = await register(instance, ada.token);
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    const path = `/api/account/passkeys/${json.data.id}`;
    const before = dumpTables(instance);
    expect(problemOf(await instance.call('PATCH', path, { token: eve.token, body: { name: 'Mine' } }))).toEqual([
      404,
      'not_found',
    ]);
    expect(problemOf(await instance.call('DELETE', path, { token: eve.token }))).toEqual([404, 'not_found']);
    expect((await instance.call('GET', '/api/account/passkeys', { token: eve.token })).json.data.items).toEqual([]);
    expect(dumpTables(instance)).toEqual(before);
  });
});

describe('removing a passkey', () => {
  test('ends it at once and is reported', async () => {
    const { instance, application, ada } = await setUp();
    const { json, passkey } = await register(instance, ada.token);
    const path = `/api/account/passkeys/${json.data.id}`;
    const removed = await instance.call('DELETE', path, { token: ada.token });
    expect(removed.json.data).toEqual({ id: json.data.id, sessionsEnded: 0 });
    expect(problemOf(await signInWith(instance, application.clientId, passkey))).toEqual([400, 'passkey_unknown']);
    expect(instance.auditKinds(application.id)).toContain('passkey.removed');
    expect(instance.events(application.id).at(-1)).toEqual({
      type: 'user.identity_changed',
      data: { userId: ada.userId, changed: ['passkey'] },
    });
    expect(problemOf(await instance.call('DELETE', path, { token: ada.token }))).toEqual([404, 'not_found']);
  });

  test('needs a fresh session', async () => {
    const { instance, ada } = await setUp();
    const { json } = await register(instance, ada.token);
    instance.clock.advance(10 * MINUTE + SECOND);
    const path = `/api/account/passkeys/${json.data.id}`;
    expect(problemOf(await instance.call('DELETE', path, { token: ada.token }))).toEqual([
      403,
      'reauthentication_required',
    ]);
  });

  test('is refused for the last sign-in method of an application, unless it is forced', async () => {
    const { instance, application, ada } = await setUp();
    const { json } = await register(instance, ada.token);
    await instance.call('PATCH', `/api/applications/${application.id}`, {
      token: instance.workspaceKey,
      body: { signinMethods: ['passkey'] },
    });
    const path = `/api/account/passkeys/${json.data.id}`;
    const refused = await instance.call('DELETE', path, { token: ada.token });
    expect(problemOf(refused)).toEqual([409, 'invalid_state']);
    expect(refused.json.message).toContain('Shop');
    const second = await register(instance, ada.token);
    expect((await instance.call('DELETE', path, { token: ada.token })).status).toBe(200);
    const last = `/api/account/passkeys/${second.json.data.id}`;
    expect(problemOf(await instance.call('DELETE', last, { token: ada.token }))).toEqual([409, 'invalid_state']);
    expect((await instance.call('DELETE', `${last}?force=true`, { token: ada.token })).status).toBe(200);
  });
});
