import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import type { Instance } from '../../support/instance.ts';
import {
  as,
  changeEmail,
  deleteAccount,
  later,
  mailsTo,
  type Person,
  problemOf,
  prove,
  setUp,
  proofForNewEmail,
} from './account.ts';

/** Requests a code to the new address, after a proof for that address with a code to the current one. */
async function askFor(instance: Instance, person: Person, email: string) {
  await prove(instance, person, proofForNewEmail(email));
  return as(instance, person)('POST', '/email', { email });
}

describe('a change of e-mail address', () => {
  test('takes effect with the code from the new mailbox, and notifies the old one and every application', async () => {
    const { instance, application, other, ada } = await setUp();
    const { status, json } = await changeEmail(instance, ada, 'ada@new.example');
    expect([status, json.data]).toEqual([200, { email: 'ada@new.example' }]);
    const { json: session } = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect(session.email).toBe('ada@new.example');
    expect(mailsTo(instance, 'ada@example.com')[0]!.subject).toBe('The e-mail address of your account was changed');
    for (const { id } of [application, other])
      expect(instance.events(id).at(-1)).toEqual({
        type: 'user.identity_changed',
        data: { userId: ada.userId, changed: ['email'] },
      });
    expect(instance.auditKinds(application.id).slice(-2)).toEqual([
      'account.email_change_requested',
      'account.email_changed',
    ]);
  });

  test('makes the new address the sign-in address, and the old one an alias that cannot register', async () => {
    const { instance, application, ada } = await setUp();
    await changeEmail(instance, ada, 'ada@new.example');
    later(instance);
    const signedIn = await instance.signIn(application.clientId, 'ada@new.example');
    expect(signedIn.userId).toBe(ada.userId);
    const refused = await instance.trySignIn(application.clientId, 'ada@example.com');
    expect(problemOf(refused)).toEqual([403, 'email_archived']);
  });

  test('can be reverted, since an alias stays available to its own person', async () => {
    const { instance, ada } = await setUp();
    await changeEmail(instance, ada, 'ada@new.example');
    expect((await changeEmail(instance, ada, 'ada@example.com')).status).toBe(200);
    const aliases = instance.sqlite.query('SELECT email FROM email_aliases').all();
    expect(aliases).toEqual([{ email: 'ada@new.example' }]);
  });

  test('keeps the person’s place on the waitlist of a private beta', async () => {
    const { instance, application, ada } = await setUp();
    await instance.call('POST', `/api/applications/${application.id}/beta-interests`, {
      token: instance.workspaceKey,
      body: { emails: ['ada@example.com'], status: 'approved' },
    });
    await instance.call('POST', `/api/applications/${application.id}/signin-gate`, {
      token: instance.workspaceKey,
      body: { gate: 'private_beta' },
    });
    await changeEmail(instance, ada, 'ada@new.example');
    later(instance);
    expect((await instance.signIn(application.clientId, 'ada@new.example')).userId).toBe(ada.userId);
  });

  test('needs a proof within the last ten minutes', async () => {
    const { instance, ada } = await setUp();
    instance.clock.advance(10 * MINUTE);
    await as(instance, ada)('POST', '/proof');
    const answer = await as(instance, ada)('POST', '/email', { email: 'ada@new.example' });
    expect(problemOf(answer)).toEqual([403, 'reauthentication_required']);
    expect(answer.json.message).toContain('/api/account/proof');
    expect(mailsTo(instance, 'ada@new.example')).toEqual([]);
  });

  test.each([
    ['an invalid address', 'nonsense'],
    ['the current address', 'Ada@Example.com'],
  ])('to %s is refused, and the error names the field', async (_, email) => {
    const { instance, ada } = await setUp();
    await prove(instance, ada, proofForNewEmail('ada@example.com'));
    const answer = await as(instance, ada)('POST', '/email', { email });
    expect([...problemOf(answer), answer.json.fields[0].path]).toEqual([400, 'invalid_request', 'email']);
    expect(answer.text).not.toContain(email);
  });

  test('to another person’s address gets the same answer, notifies its owner and sends no code', async () => {
    const { instance, application, ada } = await setUp();
    await instance.signIn(application.clientId, 'bea@example.com');
    const free = await askFor(instance, ada, 'free@example.com');
    const taken = await askFor(instance, ada, 'bea@example.com');
    expect([taken.status, Object.keys(taken.json.data)]).toEqual([free.status, Object.keys(free.json.data)]);
    const [mail] = mailsTo(instance, 'bea@example.com');
    expect([mail!.code, mail!.subject]).toEqual([null, 'Somebody asked to use your e-mail address']);
    expect(mail!.text).not.toMatch(/\d{6}/);
  });

  test('to an address that was taken before the confirmation is a conflict', async () => {
    const { instance, application, ada } = await setUp();
    const { json } = await askFor(instance, ada, 'new@example.com');
    const code = instance.codeFor('new@example.com');
    await instance.signIn(application.clientId, 'new@example.com');
    const answer = await as(instance, ada)('POST', '/email/confirm', { challengeId: json.data.challengeId, code });
    expect(problemOf(answer)).toEqual([409, 'conflict']);
    const { json: session } = await instance.call('POST', '/api/v1/session', { token: ada.token });
    expect(session.email).toBe('ada@example.com');
  });

  test('is confirmed once, with its own code, from the session that requested it', async () => {
    const { instance, application, ada, elsewhere } = await setUp();
    const { json } = await askFor(instance, ada, 'new@example.com');
    const { challengeId } = json.data;
    const code = instance.codeFor('new@example.com');
    const eve = await instance.signIn(application.clientId, 'eve@example.com');
    for (const stranger of [eve, elsewhere])
      expect(problemOf(await as(instance, stranger)('POST', '/email/confirm', { challengeId, code }))).toEqual([
        400,
        'code_invalid',
      ]);
    const proof = (await as(instance, ada)('POST', '/proof')).json.data;
    const other = instance.codeFor('ada@example.com');
    expect(
      problemOf(await as(instance, ada)('POST', '/email/confirm', { challengeId: proof.challengeId, code: other })),
    ).toEqual([400, 'code_invalid']);
    expect(problemOf(await as(instance, ada)('POST', '/proof/confirm', { challengeId, code }))).toEqual([
      400,
      'code_invalid',
    ]);
    expect((await as(instance, ada)('POST', '/email/confirm', { challengeId, code })).status).toBe(200);
    expect(problemOf(await as(instance, ada)('POST', '/email/confirm', { challengeId, code }))).toEqual([
      409,
      'code_consumed',
    ]);
  });

  test('happens once in fifty concurrent confirmations', async () => {
    const { instance, application, ada } = await setUp();
    const { json } = await askFor(instance, ada, 'new@example.com');
    const body = { challengeId: json.data.challengeId, code: instance.codeFor('new@example.com') };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => as(instance, ada)('POST', '/email/confirm', body)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(instance.events(application.id).filter(({ type }) => type === 'user.identity_changed')).toHaveLength(1);
  });

  test('sends at most five codes per session in fifteen minutes to one address', async () => {
    const { instance, ada } = await setUp();
    await prove(instance, ada, proofForNewEmail('new@example.com'));
    const ask = () => as(instance, ada)('POST', '/email', { email: 'new@example.com' });
    for (let number = 0; number < 5; number += 1) expect((await ask()).status).toBe(200);
    const answer = await ask();
    expect(problemOf(answer)).toEqual([429, 'rate_limited']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(mailsTo(instance, 'new@example.com')).toHaveLength(5);
  });

  test('to many addresses needs a proof for each, which is limited to five as well', async () => {
    const { instance, ada } = await setUp();
    for (let number = 0; number < 5; number += 1)
      expect((await askFor(instance, ada, `n${number}@example.com`)).status).toBe(200);
    const answer = await as(instance, ada)('POST', '/proof', proofForNewEmail('n5@example.com'));
    expect(problemOf(answer)).toEqual([429, 'rate_limited']);
    const refused = await as(instance, ada)('POST', '/email', { email: 'n5@example.com' });
    expect(problemOf(refused)).toEqual([403, 'reauthentication_required']);
    expect(mailsTo(instance, 'n5@example.com')).toEqual([]);
  });

  test('locks the challenge after five wrong codes', async () => {
    const { instance, ada } = await setUp();
    const { json } = await askFor(instance, ada, 'new@example.com');
    const { challengeId } = json.data;
    const right = instance.codeFor('new@example.com');
    const wrong = right === '000000' ? '000001' : '000000';
    for (let tries = 0; tries < 5; tries += 1)
      await as(instance, ada)('POST', '/email/confirm', { challengeId, code: wrong });
    expect(problemOf(await as(instance, ada)('POST', '/email/confirm', { challengeId, code: right }))).toEqual([
      400,
      'code_exhausted',
    ]);
  });

  test('invalidates codes that were sent to the old mailbox', async () => {
    const { instance, ada } = await setUp();
    const proof = (await as(instance, ada)('POST', '/proof')).json.data;
    const code = instance.codeFor('ada@example.com');
    await changeEmail(instance, ada, 'ada@new.example');
    const answer = { challengeId: proof.challengeId, code };
    expect(problemOf(await as(instance, ada)('POST', '/proof/confirm', answer))).toEqual([400, 'code_expired']);
  });

  test('sends at most five codes per person across several sessions', async () => {
    const { instance, application, ada } = await setUp();
    const sessions = [ada];
    while (sessions.length < 3) {
      instance.clock.advance(MINUTE);
      sessions.push(await instance.signIn(application.clientId, 'ada@example.com'));
    }
    let sent = 0;
    for (const [index, session] of sessions.entries()) {
      const email = `n${index}@example.com`;
      await prove(instance, session, proofForNewEmail(email));
      for (let number = 0; number < 5; number += 1)
        if ((await as(instance, session)('POST', '/email', { email })).status === 200) sent += 1;
    }
    expect(sent).toBe(5);
    // Refused requests write no audit record.
    const requests = instance.auditKinds(application.id).filter((kind) => kind === 'account.email_change_requested');
    expect(requests).toHaveLength(5);
  });
});

describe('the former address of a person', () => {
  test('cannot be invited to a workspace or become an owner through a setup link', async () => {
    const { instance, ada } = await setUp();
    await changeEmail(instance, ada, 'ada@new.example');
    const owner = await instance.signIn('console', 'owner@example.com');
    const invited = await instance.call('POST', '/api/workspace/members', {
      token: owner.token,
      body: { email: 'ada@example.com', role: 'owner' },
    });
    expect(problemOf(invited)).toEqual([403, 'email_archived']);
    const token = await instance.services.setup.createLink();
    const setup = await instance.call('POST', '/api/setup', { body: { token, email: 'ada@example.com' } });
    expect(problemOf(setup)).toEqual([403, 'email_archived']);
    // The refusal does not use up the setup link.
    expect((await instance.call('POST', '/api/setup', { body: { token, email: 'new@example.com' } })).status).toBe(200);
  });

  test('stops the next start while GATEHOUSE_OWNER_EMAIL still names it', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    await changeEmail(instance, owner, 'owner@new.example');
    expect(await instance.restart().catch(({ message }: Error) => message)).toContain('gatehouse setup-link');
    const restarted = await instance.restart({ GATEHOUSE_OWNER_EMAIL: 'owner@new.example' });
    const { json } = await restarted.call('GET', '/api/workspace/members', { token: owner.token });
    expect(json.data.items.map(({ email }: { email: string }) => email)).toEqual(['owner@new.example']);
    expect(restarted.sqlite.query("SELECT 1 FROM users WHERE email = 'owner@example.com'").get()).toBeNull();
  });
});

describe('a person who deleted their account', () => {
  test('can be invited, but cannot sign in, and does not become owner again at a restart', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const second = { email: 'second@example.com', role: 'owner' };
    await instance.call('POST', '/api/workspace/members', { token: owner.token, body: second });
    expect((await deleteAccount(instance, owner, 'owner@example.com')).status).toBe(200);
    const restarted = await instance.restart();
    later(restarted);
    const { token } = await restarted.signIn('console', 'second@example.com');
    const { json } = await restarted.call('GET', '/api/workspace/members', { token });
    expect(json.data.items.map(({ email }: { email: string }) => email)).toEqual(['second@example.com']);
    const body = { email: 'owner@example.com', role: 'member' };
    expect(problemOf(await restarted.call('POST', '/api/workspace/members', { token, body }))).toEqual([200, 'ok']);
    expect(problemOf(await restarted.trySignIn('console', 'owner@example.com'))).toEqual([403, 'user_deleted']);
    // The only owner left cannot delete their account before there is another owner.
    expect(problemOf(await as(restarted, { token })('POST', '/deletion'))).toEqual([409, 'invalid_state']);
  });
});
