/** Attack: a thief with a stolen session moves the account to a mailbox of their own. */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { StartupError } from '@/core/startup-error.ts';
import {
  as,
  changeEmail,
  deleteAccount,
  later,
  mailsTo,
  type Person,
  problemOf,
  prove,
  proofForNewEmail,
} from '../modules/account/account.ts';
import { type Scene, sceneOf } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const VICTIM = 'ada@example.com';
const ATTACKER = 'mallory@example.com';
const UNDO = '/undo-email-change';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' };

async function setUp(environment: Record<string, string> = {}) {
  const instance = await createInstance({ environment });
  const application = await instance.createApplication();
  const stolen = await instance.signIn(application.clientId, VICTIM);
  return { instance, application, stolen };
}

/** Moves the account, with a code that the thief has read in the victim's mailbox. */
async function moveAccount(instance: Instance, stolen: Person, email = ATTACKER) {
  expect((await changeEmail(instance, stolen, email)).status).toBe(200);
}

const isAlive = async (instance: Instance, { token }: Pick<Person, 'token'>) =>
  (await instance.call('POST', '/api/v1/session', { token })).status === 200;

/** The secret of the undo link in the newest mail to an address. */
function undoToken(instance: Instance, email = VICTIM): string {
  const link = /http:\/\/localhost:8080\/undo-email-change\?token=(\S+)/.exec(mailsTo(instance, email)[0]!.text);
  if (!link) throw new Error(`no undo link for ${email}`);
  return link[1]!;
}

/** Approves a device that has not collected its key yet. */
async function approveDevice({ begin, decide }: Pick<Scene, 'begin' | 'decide'>, person: Person) {
  const codes = await begin();
  expect((await decide('approve', codes.user_code, person)).status).toBe(200);
  return codes;
}

const openUndoPage = (instance: Instance, token: string) => instance.call('GET', `${UNDO}?token=${token}`);

const undo = (instance: Instance, token: string) =>
  instance.call('POST', UNDO, {
    body: `token=${token}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

const addressOf = ({ sqlite }: Instance, userId: string) =>
  (sqlite.query('SELECT email FROM users WHERE id = ?').get(userId) as { email: string }).email;

const aliases = ({ sqlite }: Instance) => sqlite.query('SELECT email FROM email_aliases').values().flat();

describe('a stolen session', () => {
  test.each(['of an application', 'of the console'])(
    '%s does not move the account without a proof, even if it is fresh',
    async (where) => {
      const { instance, stolen } = await setUp();
      const session = where === 'of the console' ? await instance.signIn('console', 'owner@example.com') : stolen;
      const answer = await as(instance, session)('POST', '/email', { email: ATTACKER });
      expect(problemOf(answer)).toEqual([403, 'reauthentication_required']);
      expect(answer.json.message).toContain('/api/account/proof');
      expect(mailsTo(instance, ATTACKER)).toEqual([]);
      await prove(instance, session, proofForNewEmail(ATTACKER));
      expect((await as(instance, session)('POST', '/email', { email: ATTACKER })).status).toBe(200);
    },
  );

  test('cannot use a proof twice: a second change needs a new proof', async () => {
    const { instance, stolen } = await setUp();
    const call = as(instance, stolen);
    const asked = [];
    for (const email of ['ada@new.example', ATTACKER]) await prove(instance, stolen, proofForNewEmail(email));
    for (const email of ['ada@new.example', ATTACKER])
      asked.push({
        challengeId: (await call('POST', '/email', { email })).json.data.challengeId,
        code: instance.codeFor(email),
      });
    expect((await call('POST', '/email/confirm', asked[0])).status).toBe(200);
    expect(problemOf(await call('POST', '/email/confirm', asked[1]))).toEqual([403, 'reauthentication_required']);
    expect(problemOf(await call('POST', '/email', { email: ATTACKER }))).toEqual([403, 'reauthentication_required']);
    expect(addressOf(instance, stolen.userId)).toBe('ada@new.example');
  });

  test('cannot confirm a change long after the proof', async () => {
    const { instance, stolen } = await setUp();
    await prove(instance, stolen, proofForNewEmail(ATTACKER));
    instance.clock.advance(9 * MINUTE);
    const { json } = await as(instance, stolen)('POST', '/email', { email: ATTACKER });
    instance.clock.advance(9 * MINUTE);
    const body = { challengeId: json.data.challengeId, code: instance.codeFor(ATTACKER) };
    expect((await as(instance, stolen)('POST', '/email/confirm', body)).status).toBe(200);
  });
});

describe('a change of address', () => {
  test('ends all other sessions, personal keys, and devices that were approved but have no key yet', async () => {
    const { instance, application, stolen } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const tenant = await given.tenant(instance);
    instance.clock.advance(MINUTE);
    const rest = [];
    for (const { clientId } of [application, other, tenant.application]) {
      instance.clock.advance(MINUTE);
      rest.push(await instance.signIn(clientId, VICTIM));
    }
    const devices = sceneOf(instance, application);
    const key = await devices.connect(rest[0]!);
    const waiting = await approveDevice(devices, rest[0]!);
    const isKeyAlive = async () => (await instance.call('GET', '/api/me/roles', { token: key.token })).status === 200;
    expect(await isKeyAlive()).toBe(true);
    await moveAccount(instance, stolen, 'ada@new.example');
    expect(await isAlive(instance, stolen)).toBe(true);
    for (const session of rest) expect(await isAlive(instance, session)).toBe(false);
    expect(await isKeyAlive()).toBe(false);
    expect(await devices.outcome(waiting)).toBe('access_denied');
  });

  test('is reported to the old address with an undo link', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const [mail] = mailsTo(instance, VICTIM);
    expect(mail!.subject).toBe('The e-mail address of your account was changed');
    expect(mail!.text).not.toContain(ATTACKER);
    expect(undoToken(instance)).toMatch(/^egu_/);
  });
});

describe('the undo link', () => {
  test('shows a button, changes nothing on GET, and reveals nobody’s identity', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const token = undoToken(instance);
    for (const _ of [1, 2]) {
      const page = await openUndoPage(instance, token);
      expect(page.status).toBe(200);
      expect(page.text).toContain('<form method="post" action="/undo-email-change"');
      for (const told of [VICTIM, ATTACKER, stolen.userId]) expect(page.text).not.toContain(told);
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    }
    expect(addressOf(instance, stolen.userId)).toBe(ATTACKER);
  });

  test('restores the address and ends every session, key and sign-in method added after the change', async () => {
    const { instance, application, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const { status, passkey } = await register(instance, stolen.token);
    expect(status).toBe(200);
    later(instance);
    const again = await instance.signIn(application.clientId, ATTACKER);
    expect(again.userId).toBe(stolen.userId);
    const devices = sceneOf(instance, application);
    const device = await devices.connect(again);
    const waiting = await approveDevice(devices, again);
    const done = await undo(instance, undoToken(instance));
    expect([done.status, done.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    for (const session of [stolen, again]) expect(await isAlive(instance, session)).toBe(false);
    expect((await instance.call('GET', '/api/me/roles', { token: device.token })).status).toBe(401);
    expect(await devices.outcome(waiting)).toBe('access_denied');
    expect(problemOf(await signInWith(instance, application.clientId, passkey))[1]).toBe('passkey_unknown');
    expect(aliases(instance)).toEqual([]);
    // The victim has the account again, and the attacker's mailbox gets an account of its own.
    later(instance);
    expect((await instance.signIn(application.clientId, VICTIM)).userId).toBe(stolen.userId);
    expect((await instance.signIn(application.clientId, ATTACKER)).userId).not.toBe(stolen.userId);
    expect(instance.auditKinds(application.id)).toContain('account.email_change_undone');
    for (const email of [VICTIM, ATTACKER])
      expect(mailsTo(instance, email).map(({ subject }) => subject)).toContain(
        'The change of your e-mail address was undone',
      );
  });

  test('keeps the sign-in methods that existed before the change', async () => {
    const { instance, application, stolen: own } = await setUp();
    const { passkey } = await register(instance, own.token);
    const identityId = await given.identity(instance, own.userId);
    instance.clock.advance(DAY + SECOND);
    const stolen = await instance.signIn(application.clientId, VICTIM);
    await moveAccount(instance, stolen);
    await undo(instance, undoToken(instance));
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
    expect(instance.sqlite.query('SELECT id FROM provider_identities').values().flat()).toEqual([identityId]);
  });

  test('removes sign-in methods added by the session that changed the address, however old they are', async () => {
    const { instance, application, stolen } = await setUp();
    const { passkey } = await register(instance, stolen.token);
    instance.clock.advance(3 * DAY);
    await moveAccount(instance, stolen);
    await undo(instance, undoToken(instance));
    expect(problemOf(await signInWith(instance, application.clientId, passkey))[1]).toBe('passkey_unknown');
  });

  test('removes sign-in methods that any session added within the previous day', async () => {
    const { instance, application, stolen } = await setUp();
    const { passkey } = await register(instance, stolen.token);
    await given.identity(instance, stolen.userId);
    instance.clock.advance(HOUR);
    const second = await instance.signIn(application.clientId, VICTIM);
    await moveAccount(instance, second);
    await undo(instance, undoToken(instance));
    expect(problemOf(await signInWith(instance, application.clientId, passkey))[1]).toBe('passkey_unknown');
    expect(instance.sqlite.query('SELECT id FROM provider_identities').values()).toEqual([]);
  });

  test('forgets known browsers, so that none keeps its own lockout budget', async () => {
    const { instance, application, stolen } = await setUp({ GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1' });
    const { clientId } = application;
    const knownAs = async (email: string) => {
      later(instance);
      const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
      const { challengeId } = sent.json.data;
      const body = { challengeId, code: instance.codeFor(email) };
      const { headers } = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers: OWN_PAGE });
      return headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)[0]!;
    };
    const pauseAndAsk = async (email: string, cookie: string) => {
      later(instance);
      const { json } = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
      const code = instance.codeFor(email) === '000000' ? '000001' : '000000';
      const body = { challengeId: json.data.challengeId, code };
      expect((await instance.call('POST', '/api/v1/auth/otp/verify', { body })).status).toBe(400);
      const headers = { ...OWN_PAGE, cookie };
      instance.clock.advance(MINUTE);
      return (await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId }, headers })).status;
    };
    const before = await knownAs(VICTIM);
    await moveAccount(instance, stolen);
    const during = await knownAs(ATTACKER);
    instance.clock.advance(MINUTE);
    await undo(instance, undoToken(instance));
    expect(await pauseAndAsk(VICTIM, `${before}~${during.split('=')[1]}`)).toBe(429);
    instance.clock.advance(2 * DAY);
    const after = await knownAs(VICTIM);
    expect(await pauseAndAsk(VICTIM, after)).toBe(200);
  });

  test('works once, for seven days, and only with the exact token', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const token = undoToken(instance);
    const made = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    for (const wrong of ['', 'nonsense', made, stolen.token, '%00', 'egu_'.padEnd(53, '0')])
      for (const answer of [await openUndoPage(instance, wrong), await undo(instance, wrong)])
        expect([answer.status >= 400 && answer.status < 500, addressOf(instance, stolen.userId)]).toEqual([
          true,
          ATTACKER,
        ]);
    const odd = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const options of [{}, { body: '{"broken' }, { body: { token: 5 } }, { body: 'token=a&token=b', headers: odd }])
      expect((await instance.call('POST', UNDO, options)).status).toBe(400);
    instance.clock.advance(7 * DAY - 1);
    expect((await openUndoPage(instance, token)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 20 }, () => undo(instance, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await openUndoPage(instance, token)).status).toBe(404);
    await moveAccount(instance, await instance.signIn((await instance.createApplication()).clientId, VICTIM));
    instance.clock.advance(7 * DAY);
    const late = undoToken(instance);
    expect((await openUndoPage(instance, late)).status).toBe(404);
    expect((await undo(instance, late)).status).toBe(404);
    expect(addressOf(instance, stolen.userId)).toBe(ATTACKER);
  });

  test('restores the first address after a chain of changes and voids later links', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen, 'mallory@one.example');
    await moveAccount(instance, stolen, 'mallory@two.example');
    const [first, second] = [undoToken(instance), undoToken(instance, 'mallory@one.example')];
    expect((await undo(instance, first)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    expect((await undo(instance, second)).status).toBe(404);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    expect(aliases(instance)).toEqual([]);
  });

  test('restores the first address even if the attacker has already undone the second change', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen, 'mallory@one.example');
    await moveAccount(instance, stolen, 'mallory@two.example');
    const [first, second] = [undoToken(instance), undoToken(instance, 'mallory@one.example')];
    expect((await undo(instance, second)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe('mallory@one.example');
    expect((await undo(instance, first)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
  });

  test('keeps the old address reserved: nobody can create an account with it before the undo', async () => {
    const { instance, application, stolen } = await setUp();
    await given.person(instance, stolen.userId, { emailVerifiedAt: null });
    await moveAccount(instance, stolen);
    const token = undoToken(instance);
    later(instance);
    expect(problemOf(await instance.trySignIn(application.clientId, VICTIM))).toEqual([403, 'email_archived']);
    expect((await undo(instance, token)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
  });

  test('blocks deletion of the account until the link expires, and the refusal names that time', async () => {
    const { instance, application, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const until = new Date(instance.clock.now() + 7 * DAY).toISOString();
    const refused = await as(instance, stolen)('POST', '/deletion');
    expect(problemOf(refused)).toEqual([409, 'invalid_state']);
    expect(refused.json.message).toContain(until);
    instance.clock.advance(7 * DAY - 1);
    const almost = await instance.signIn(application.clientId, ATTACKER);
    expect(problemOf(await as(instance, almost)('POST', '/deletion'))).toEqual([409, 'invalid_state']);
    instance.clock.advance(1);
    expect((await deleteAccount(instance, almost, ATTACKER)).status).toBe(200);
  });

  test('blocks even a deletion whose code was requested before the change', async () => {
    const { instance, stolen } = await setUp();
    const call = as(instance, stolen);
    const { challengeId } = (await call('POST', '/deletion')).json.data;
    const body = { challengeId, code: instance.codeFor(VICTIM) };
    await moveAccount(instance, stolen);
    // Revives the code, which the change has invalidated.
    instance.sqlite.run('UPDATE code_challenges SET dropped_at = NULL');
    expect(problemOf(await call('DELETE', '', body))).toEqual([409, 'invalid_state']);
    expect((await undo(instance, undoToken(instance))).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
  });

  test('allows deletion again once it was used', async () => {
    const { instance, application, stolen } = await setUp();
    await moveAccount(instance, stolen);
    await undo(instance, undoToken(instance));
    later(instance);
    const own = await instance.signIn(application.clientId, VICTIM);
    expect((await deleteAccount(instance, own, VICTIM)).status).toBe(200);
  });

  test('is stored as a hash and appears in no log', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const token = undoToken(instance);
    await openUndoPage(instance, token);
    await undo(instance, token);
    expect(instance.logLines.join('\n')).not.toContain(token.slice(4, 20));
    const row = instance.sqlite.query('SELECT * FROM email_changes').get() as { token_hash: Uint8Array };
    expect(row.token_hash).toHaveLength(32);
  });
});

describe('the configured owner', () => {
  test('is never matched by an alias: the start fails, names setup-link, and makes nobody an owner', async () => {
    const { instance, stolen } = await setUp();
    await moveAccount(instance, stolen);
    const seats = () => instance.sqlite.query('SELECT user_id, role FROM workspace_members').values();
    const before = seats();
    const start = instance.restart({ GATEHOUSE_OWNER_EMAIL: VICTIM });
    expect(await start.catch((error: unknown) => error)).toBeInstanceOf(StartupError);
    const { message } = (await start.catch((error: unknown) => error)) as StartupError;
    expect(message).toContain('gatehouse setup-link');
    expect(message).not.toContain(ATTACKER);
    expect(seats()).toEqual(before);
  });
});
