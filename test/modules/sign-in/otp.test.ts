import { describe, expect, test } from 'bun:test';
import { MINUTE, SECOND } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { type Answer, createInstance, type Instance } from '../../support/instance.ts';
import { betaOf } from '../beta/beta.ts';

const send = (instance: Instance, body: unknown) => instance.call('POST', '/api/v1/auth/otp/send', { body });
const verify = (instance: Instance, challengeId: string, code: string) =>
  instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });

/** Codes are six digits, so two are equal by chance. Repeats until the newest code differs. */
async function sendAnother(instance: Instance, body: Record<string, unknown>, code: string): Promise<Answer> {
  const sent = await send(instance, body);
  if (instance.codeFor(String(body['email'])) !== code) return sent;
  instance.clock.advance(30 * SECOND);
  return sendAnother(instance, body, code);
}

const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

async function setUp(options?: Parameters<typeof createInstance>[0]) {
  const instance = await createInstance(options);
  return { instance, application: await instance.createApplication() };
}

describe('a sign-in by code', () => {
  test('gives a session, a user with the default role, audit records and exactly one event', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    const sent = await send(instance, { email: '  Ada@Example.COM ', clientId });
    expect(sent.status).toBe(200);
    expect(Object.keys(sent.json.data).sort()).toEqual(['challengeId', 'expiresAt', 'resendAfter', 'sent']);
    expect(sent.json.data.sent).toBe(true);
    const signedIn = await verify(instance, sent.json.data.challengeId, instance.codeFor('ada@example.com'));
    expect(signedIn.status).toBe(200);
    const { token, userId, applicationId } = signedIn.json.data;
    expect(applicationId).toBe(application.id);
    const session = await instance.call('POST', '/api/v1/session', { token });
    expect(session.json).toMatchObject({ ok: true, userId, email: 'ada@example.com', roles: ['user'] });
    expect(instance.events(application.id)).toEqual([
      {
        type: 'user.signed_in',
        data: { userId, sessionId: expect.any(String), method: 'otp', email: 'ada@example.com', isNewUser: true },
      },
    ]);
    expect(instance.auditKinds(application.id).slice(-2)).toEqual(['signin.code_sent', 'signin.succeeded']);
  });

  test('answers the same for a known and an unknown address', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    await instance.signIn(clientId, 'known@example.com');
    instance.clock.advance(MINUTE);
    const known = await send(instance, { email: 'known@example.com', clientId });
    const unknown = await send(instance, { email: 'unknown@example.com', clientId });
    const shape = ({ json, status }: typeof known) => ({
      status,
      expiresAt: json.data.expiresAt,
      resendAfter: json.data.resendAfter,
      keys: Object.keys(json.data),
    });
    expect(shape(known)).toEqual(shape(unknown));
  });

  test('accepts a code typed with spaces or hyphens', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    const code = instance.codeFor('ada@example.com');
    const answer = await verify(instance, sent.json.data.challengeId, ` ${code.slice(0, 3)}-${code.slice(3)} `);
    expect(answer.status).toBe(200);
  });

  test('keeps the code out of the challenge rows and the log', async () => {
    const { instance, application } = await setUp();
    await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    const code = instance.codeFor('ada@example.com');
    const rows = instance.sqlite.query('SELECT * FROM code_challenges').all();
    expect(JSON.stringify(rows)).not.toContain(code);
    expect(instance.logLines.join('')).not.toContain(code);
    expect(instance.logLines.join('')).not.toContain('ada@example.com');
  });
});

describe('a code', () => {
  test('works once; its second use is code_consumed', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    const code = instance.codeFor('ada@example.com');
    expect((await verify(instance, sent.json.data.challengeId, code)).status).toBe(200);
    const again = await verify(instance, sent.json.data.challengeId, code);
    expect([again.status, again.json.error]).toEqual([409, 'code_consumed']);
  });

  test('expires after ten minutes', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    instance.clock.advance(10 * MINUTE);
    const late = await verify(instance, sent.json.data.challengeId, instance.codeFor('ada@example.com'));
    expect([late.status, late.json.error]).toEqual([400, 'code_expired']);
  });

  test('is exhausted after five wrong tries, even for the right code', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    const code = instance.codeFor('ada@example.com');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const answer = await verify(instance, sent.json.data.challengeId, wrong(code));
      expect([answer.status, answer.json.error]).toEqual([400, 'code_invalid']);
    }
    const answer = await verify(instance, sent.json.data.challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([400, 'code_exhausted']);
  });

  test('a code of an earlier mail still works after a resend, with either challenge', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    const email = 'ada@example.com';
    await send(instance, { email, clientId });
    const early = instance.codeFor(email);
    instance.clock.advance(30 * SECOND);
    const second = await send(instance, { email, clientId });
    expect((await verify(instance, second.json.data.challengeId, early)).status).toBe(200);
  });

  test('is invalid once three newer ones exist', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    const email = 'ada@example.com';
    const first = await send(instance, { email, clientId });
    const firstCode = instance.codeFor(email);
    for (let resend = 0; resend < 3; resend += 1) {
      instance.clock.advance(30 * SECOND);
      await send(instance, { email, clientId });
    }
    const answer = await verify(instance, first.json.data.challengeId, firstCode);
    expect([answer.status, answer.json.error]).toEqual([400, 'code_expired']);
  });

  test('a code of one application is refused for another', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const email = 'ada@example.com';
    await send(instance, { email, clientId: application.clientId });
    const code = instance.codeFor(email);
    const sent = await sendAnother(instance, { email, clientId: other.clientId }, code);
    const answer = await verify(instance, sent.json.data.challengeId, code);
    expect([answer.status, answer.json.error]).toEqual([400, 'code_invalid']);
  });

  test('gives exactly one session to fifty concurrent tries', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    const code = instance.codeFor('ada@example.com');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => verify(instance, sent.json.data.challengeId, code)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error === 'code_consumed')).toHaveLength(49);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 1 });
  });
});

describe('the limits of codes', () => {
  test('return the active code’s challenge within thirty seconds, without another mail', async () => {
    const { instance, application } = await setUp();
    const body = { email: 'ada@example.com', clientId: application.clientId };
    const first = await send(instance, body);
    instance.clock.advance(10 * SECOND);
    const again = await send(instance, body);
    expect([again.status, again.json.data]).toEqual([200, { ...first.json.data, sent: false }]);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM mails').get()).toEqual({ n: 1 });
  });

  test.each(['used', 'used up by wrong tries'])('do not delay a new code after one that was %s', async (how) => {
    const { instance, application } = await setUp();
    const body = { email: 'ada@example.com', clientId: application.clientId };
    const { challengeId } = (await send(instance, body)).json.data;
    const code = instance.codeFor(body.email);
    if (how === 'used') expect((await verify(instance, challengeId, code)).status).toBe(200);
    else for (let tries = 0; tries < 5; tries += 1) await verify(instance, challengeId, wrong(code));
    instance.clock.advance(SECOND);
    expect((await send(instance, body)).status).toBe(200);
    // The new code starts the wait again and counts like any other.
    expect((await send(instance, body)).json.data.sent).toBe(false);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM mails').get()).toEqual({ n: 2 });
  });

  test('allow one e-mail address five codes in fifteen minutes, over all applications', async () => {
    const { instance, application } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    for (let sent = 0; sent < 5; sent += 1) {
      const { clientId } = sent % 2 ? application : other;
      expect((await send(instance, { email: 'ada@example.com', clientId })).status).toBe(200);
      instance.clock.advance(30 * SECOND);
    }
    const answer = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, String(15 * 60 - 150)]);
    instance.clock.advance(15 * MINUTE - 150 * SECOND);
    expect((await send(instance, { email: 'ada@example.com', clientId: application.clientId })).status).toBe(200);
  });

  test('allow one client address twenty codes, across a restart', async () => {
    const { instance, application } = await setUp();
    const { clientId } = application;
    for (let sent = 0; sent < 20; sent += 1)
      expect((await send(instance, { email: `person${sent}@example.com`, clientId })).status).toBe(200);
    expect((await send(instance, { email: 'late@example.com', clientId })).status).toBe(429);
    const restarted = await instance.restart();
    expect((await send(restarted, { email: 'late@example.com', clientId })).status).toBe(429);
    restarted.peer = '203.0.113.8';
    expect((await send(restarted, { email: 'late@example.com', clientId })).status).toBe(200);
  });

  test('lock an e-mail address for an hour after twenty wrong codes in a day, from any clients', async () => {
    const { instance, application } = await setUp({ environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100' } });
    const { clientId } = application;
    const email = 'ada@example.com';
    for (let round = 0; round < 4; round += 1) {
      instance.peer = `203.0.113.${round + 1}`;
      const sent = await send(instance, { email, clientId });
      for (let attempt = 0; attempt < 5; attempt += 1)
        await verify(instance, sent.json.data.challengeId, wrong(instance.codeFor(email)));
      instance.clock.advance(MINUTE);
    }
    const paused = await send(instance, { email, clientId });
    expect([paused.status, paused.headers.get('retry-after')]).toEqual([429, String(59 * 60)]);
    expect((await send(instance, { email: 'grace@example.com', clientId })).status).toBe(200);
    instance.clock.advance(59 * MINUTE);
    expect((await send(instance, { email, clientId })).status).toBe(200);
  });
});

describe('admission', () => {
  test('an unknown clientId is answered 404', async () => {
    const answer = await send(await createInstance(), { email: 'ada@example.com', clientId: 'cli_nothing' });
    expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
  });

  test('a draft application admits only workspace members', async () => {
    const { instance, application } = await setUp();
    await given.application(instance, application.id, { stage: 'draft' });
    const stranger = await instance.trySignIn(application.clientId, 'ada@example.com');
    expect([stranger.status, stranger.json.error]).toEqual([403, 'gate_closed']);
    const [opening] = /POST \S+/.exec(stranger.json.message) ?? [];
    expect(opening).toBe(`POST /api/applications/${application.id}/publish,`);
    expect(stranger.json.message).toContain('/go-live');
    expect((await instance.trySignIn(application.clientId, 'owner@example.com')).status).toBe(200);
  });

  test('an archived application admits nobody, even with a code sent before', async () => {
    const { instance, application } = await setUp();
    const sent = await send(instance, { email: 'ada@example.com', clientId: application.clientId });
    await given.application(instance, application.id, { archivedAt: 1 });
    const answer = await verify(instance, sent.json.data.challengeId, instance.codeFor('ada@example.com'));
    expect([answer.status, answer.json.error]).toEqual([403, 'application_archived']);
    const later = await send(instance, { email: 'bob@example.com', clientId: application.clientId });
    expect([later.status, later.json.error]).toEqual([403, 'application_archived']);
  });

  test('a closed gate admits only members and creates no user for others', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'member@example.com');
    await given.application(instance, application.id, { signinGate: 'closed' });
    const stranger = await instance.trySignIn(application.clientId, 'ada@example.com');
    expect([stranger.status, stranger.json.error]).toEqual([403, 'gate_closed']);
    expect(instance.sqlite.query("SELECT count(*) AS n FROM users WHERE email = 'ada@example.com'").get()).toEqual({
      n: 0,
    });
    instance.clock.advance(MINUTE);
    expect((await instance.trySignIn(application.clientId, 'member@example.com')).status).toBe(200);
  });

  test('a private beta admits approved people and workspace members; others see the waitlist', async () => {
    const { instance, application } = await setUp();
    const beta = betaOf(instance, application);
    await beta.setGate('private_beta');
    await beta.seed('ada@example.com', 'approved');
    expect((await instance.trySignIn(application.clientId, 'ada@example.com')).status).toBe(200);
    expect((await instance.trySignIn(application.clientId, 'owner@example.com')).status).toBe(200);
    const other = await instance.trySignIn(application.clientId, 'bob@example.com');
    expect([other.status, other.json.error]).toEqual([403, 'waitlist']);
  });

  test('a deleted member and an archived address are refused, with a record', async () => {
    const { instance, application } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'gone@example.com');
    await given.member(instance, application.id, userId, { status: 'deleted' });
    instance.clock.advance(MINUTE);
    const gone = await instance.trySignIn(application.clientId, 'gone@example.com');
    expect([gone.status, gone.json.error]).toEqual([403, 'user_deleted']);
    await given.alias(instance, 'old@example.com', userId);
    const alias = await instance.trySignIn(application.clientId, 'old@example.com');
    expect([alias.status, alias.json.error]).toEqual([403, 'email_archived']);
    expect(instance.auditKinds(application.id).filter((kind) => kind === 'signin.refused')).toHaveLength(2);
  });

  test('a banned member is refused; one who left returns with an event', async () => {
    const { instance, application } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    await given.member(instance, application.id, userId, { status: 'banned' });
    instance.clock.advance(MINUTE);
    const banned = await instance.trySignIn(application.clientId, 'ada@example.com');
    expect([banned.status, banned.json.error]).toEqual([403, 'membership_blocked']);
    await given.member(instance, application.id, userId, { status: 'left' });
    instance.clock.advance(MINUTE);
    expect((await instance.trySignIn(application.clientId, 'ada@example.com')).status).toBe(200);
    expect(instance.events(application.id).map(({ type }) => type)).toEqual([
      'user.signed_in',
      'user.reactivated',
      'user.signed_in',
    ]);
  });

  test('the console admits only workspace members', async () => {
    const instance = await createInstance();
    const stranger = await instance.trySignIn('console', 'ada@example.com');
    expect([stranger.status, stranger.json.error]).toEqual([403, 'gate_closed']);
    const owner = await instance.trySignIn('console', 'owner@example.com');
    expect(owner.status).toBe(200);
    expect(owner.headers.get('set-cookie')).toMatch(/^gatehouse=est_.*HttpOnly.*SameSite=Lax/i);
  });
});

describe('bad input', () => {
  test.each([
    [{ email: 'no-address' }, 'email'],
    [{ email: 5 }, 'email'],
    [{}, 'email'],
    [{ email: 'ada@example.com', colour: 'red' }, 'colour'],
    [{ email: 'ada@example.com', clientId: '' }, 'clientId'],
  ])('otp/send names the invalid field: %j', async (body, path) => {
    const { instance } = await setUp();
    const answer = await send(instance, body);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    expect(answer.json.fields[0].path).toBe(path);
    expect(answer.text).not.toContain('no-address');
  });

  test.each([
    [{ challengeId: 'chl_x', code: '12345' }, 'code'],
    [{ challengeId: 'chl_x', code: 'abcdef' }, 'code'],
    [{ code: '123456' }, 'challengeId'],
  ])('otp/verify names the invalid field: %j', async (body, path) => {
    const answer = await (await createInstance()).call('POST', '/api/v1/auth/otp/verify', { body });
    expect([answer.status, answer.json.fields[0].path]).toEqual([400, path]);
  });

  test('an unknown challenge is an invalid code', async () => {
    const answer = await verify(await createInstance(), 'chl_01h455vb4pex5vsknk084sn02q', '123456');
    expect([answer.status, answer.json.error]).toEqual([400, 'code_invalid']);
  });
});
