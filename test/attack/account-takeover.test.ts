/** Attack: whoever gets hold of a session for a while moves the account to a mailbox of their own. */
import { describe, expect, test } from 'bun:test';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
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
} from '../modules/account/account.ts';
import { type Scene, sceneOf } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const VICTIM = 'ada@example.com';
const ATTACKER = 'mallory@example.com';
const UNDO = '/undo-email-change';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const stolen = await instance.signIn(application.clientId, VICTIM);
  return { instance, application, stolen };
}

/** The account is moved, as by somebody who has read the code in the victim's mailbox too. */
async function moved(instance: Instance, stolen: Person, email = ATTACKER) {
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

/** A device that was let in and has not come for its key yet. */
async function letIn({ begin, decide }: Pick<Scene, 'begin' | 'decide'>, person: Person) {
  const codes = await begin();
  expect((await decide('approve', codes.user_code, person)).status).toBe(200);
  return codes;
}

const look = (instance: Instance, token: string) => instance.call('GET', `${UNDO}?token=${token}`);

const undo = (instance: Instance, token: string) =>
  instance.call('POST', UNDO, {
    body: `token=${token}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

const addressOf = ({ sqlite }: Instance, userId: string) =>
  (sqlite.query('SELECT email FROM users WHERE id = ?').get(userId) as { email: string }).email;

const aliases = ({ sqlite }: Instance) => sqlite.query('SELECT email FROM email_aliases').values().flat();

describe('a session alone', () => {
  test.each(['of an application', 'of the console'])('%s does not move the account, however fresh', async (where) => {
    const { instance, stolen } = await setUp();
    const session = where === 'of the console' ? await instance.signIn('console', 'owner@example.com') : stolen;
    const answer = await as(instance, session)('POST', '/email', { email: ATTACKER });
    expect(problemOf(answer)).toEqual([403, 'reauthentication_required']);
    expect(answer.json.message).toContain('/api/account/proof');
    expect(mailsTo(instance, ATTACKER)).toEqual([]);
    await prove(instance, session);
    expect((await as(instance, session)('POST', '/email', { email: ATTACKER })).status).toBe(200);
  });

  test('cannot use a proof twice: the next change needs a code to the new address', async () => {
    const { instance, stolen } = await setUp();
    await prove(instance, stolen);
    const call = as(instance, stolen);
    const asked = [];
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

  test('cannot confirm long after the proof', async () => {
    const { instance, stolen } = await setUp();
    await prove(instance, stolen);
    instance.clock.advance(9 * MINUTE);
    const { json } = await as(instance, stolen)('POST', '/email', { email: ATTACKER });
    instance.clock.advance(9 * MINUTE);
    const body = { challengeId: json.data.challengeId, code: instance.codeFor(ATTACKER) };
    expect((await as(instance, stolen)('POST', '/email/confirm', body)).status).toBe(200);
  });
});

describe('a change of address', () => {
  test('ends all other sessions, personal keys and devices that were let in but have not come yet', async () => {
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
    const waiting = await letIn(devices, rest[0]!);
    const isKeyAlive = async () => (await instance.call('GET', '/api/me/roles', { token: key.token })).status === 200;
    expect(await isKeyAlive()).toBe(true);
    await moved(instance, stolen, 'ada@new.example');
    expect(await isAlive(instance, stolen)).toBe(true);
    for (const session of rest) expect(await isAlive(instance, session)).toBe(false);
    expect(await isKeyAlive()).toBe(false);
    expect(await devices.outcome(waiting)).toBe('access_denied');
  });

  test('is told to the old address with a link that undoes it', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
    const [mail] = mailsTo(instance, VICTIM);
    expect(mail!.subject).toBe('The e-mail address of your account was changed');
    expect(mail!.text).not.toContain(ATTACKER);
    expect(undoToken(instance)).toMatch(/^egu_/);
  });
});

describe('the undo link', () => {
  test('shows a button, changes nothing by being looked at, and tells nothing of anybody', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
    const token = undoToken(instance);
    for (const _ of [1, 2]) {
      const page = await look(instance, token);
      expect(page.status).toBe(200);
      expect(page.text).toContain('<form method="post" action="/undo-email-change"');
      for (const told of [VICTIM, ATTACKER, stolen.userId]) expect(page.text).not.toContain(told);
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
      expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    }
    expect(addressOf(instance, stolen.userId)).toBe(ATTACKER);
  });

  test('puts the address back and ends every session, key and way in that came after the change', async () => {
    const { instance, application, stolen } = await setUp();
    await moved(instance, stolen);
    const { status, passkey } = await register(instance, stolen.token);
    expect(status).toBe(200);
    later(instance);
    const again = await instance.signIn(application.clientId, ATTACKER);
    expect(again.userId).toBe(stolen.userId);
    const devices = sceneOf(instance, application);
    const device = await devices.connect(again);
    const waiting = await letIn(devices, again);
    const done = await undo(instance, undoToken(instance));
    expect([done.status, done.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    for (const session of [stolen, again]) expect(await isAlive(instance, session)).toBe(false);
    expect((await instance.call('GET', '/api/me/roles', { token: device.token })).status).toBe(401);
    expect(await devices.outcome(waiting)).toBe('access_denied');
    expect(problemOf(await signInWith(instance, application.clientId, passkey))[1]).toBe('passkey_unknown');
    expect(aliases(instance)).toEqual([]);
    // The victim is back, and the attacker's mailbox is a stranger's again.
    later(instance);
    expect((await instance.signIn(application.clientId, VICTIM)).userId).toBe(stolen.userId);
    expect((await instance.signIn(application.clientId, ATTACKER)).userId).not.toBe(stolen.userId);
    expect(instance.auditKinds(application.id)).toContain('account.email_change_undone');
    for (const email of [VICTIM, ATTACKER])
      expect(mailsTo(instance, email).map(({ subject }) => subject)).toContain(
        'The change of your e-mail address was undone',
      );
  });

  test('leaves the ways in that were there before', async () => {
    const { instance, application, stolen } = await setUp();
    const { passkey } = await register(instance, stolen.token);
    instance.clock.advance(SECOND);
    await moved(instance, stolen);
    await undo(instance, undoToken(instance));
    expect((await signInWith(instance, application.clientId, passkey)).status).toBe(200);
  });

  test('is good once, for seven days, and for whoever has it alone', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
    const token = undoToken(instance);
    const made = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    for (const wrong of ['', 'nonsense', made, stolen.token, '%00', 'egu_'.padEnd(53, '0')])
      for (const answer of [await look(instance, wrong), await undo(instance, wrong)])
        expect([answer.status >= 400 && answer.status < 500, addressOf(instance, stolen.userId)]).toEqual([
          true,
          ATTACKER,
        ]);
    const odd = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const options of [{}, { body: '{"broken' }, { body: { token: 5 } }, { body: 'token=a&token=b', headers: odd }])
      expect((await instance.call('POST', UNDO, options)).status).toBe(400);
    instance.clock.advance(7 * DAY - 1);
    expect((await look(instance, token)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 20 }, () => undo(instance, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await look(instance, token)).status).toBe(404);
    await moved(instance, await instance.signIn((await instance.createApplication()).clientId, VICTIM));
    instance.clock.advance(7 * DAY);
    const late = undoToken(instance);
    expect((await look(instance, late)).status).toBe(404);
    expect((await undo(instance, late)).status).toBe(404);
    expect(addressOf(instance, stolen.userId)).toBe(ATTACKER);
  });

  test('wins over a chain of changes: the first address comes back, later links are void', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen, 'mallory@one.example');
    await moved(instance, stolen, 'mallory@two.example');
    const [first, second] = [undoToken(instance), undoToken(instance, 'mallory@one.example')];
    expect((await undo(instance, first)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    expect((await undo(instance, second)).status).toBe(404);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
    expect(aliases(instance)).toEqual([]);
  });

  test('wins also where the attacker has used theirs first', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen, 'mallory@one.example');
    await moved(instance, stolen, 'mallory@two.example');
    const [first, second] = [undoToken(instance), undoToken(instance, 'mallory@one.example')];
    expect((await undo(instance, second)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe('mallory@one.example');
    expect((await undo(instance, first)).status).toBe(200);
    expect(addressOf(instance, stolen.userId)).toBe(VICTIM);
  });

  test('takes no address from somebody who has founded an account with it meanwhile', async () => {
    const { instance, application, stolen } = await setUp();
    await given.person(instance, stolen.userId, { emailVerifiedAt: null });
    await moved(instance, stolen);
    const token = undoToken(instance);
    later(instance);
    const stranger = await instance.signIn(application.clientId, VICTIM);
    expect(stranger.userId).not.toBe(stolen.userId);
    expect((await undo(instance, token)).status).toBe(409);
    expect(addressOf(instance, stranger.userId)).toBe(VICTIM);
  });

  test('is void once the account is deleted', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
    const token = undoToken(instance);
    await deleteAccount(instance, stolen, ATTACKER);
    expect((await undo(instance, token)).status).toBe(404);
  });

  test('is kept as a hash, and stands in no log', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
    const token = undoToken(instance);
    await look(instance, token);
    await undo(instance, token);
    expect(instance.logLines.join('\n')).not.toContain(token.slice(4, 20));
    const row = instance.sqlite.query('SELECT * FROM email_changes').get() as { token_hash: Uint8Array };
    expect(row.token_hash).toHaveLength(32);
  });
});

describe('the environment’s owner', () => {
  test('never follows an alias: the start refuses, names setup-link, and makes nobody an owner', async () => {
    const { instance, stolen } = await setUp();
    await moved(instance, stolen);
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
