import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { createInstance, START } from '../../support/instance.ts';
import { type Beta, betaOf, setUpBeta, signIn } from './beta.ts';
import { auditsOf, databaseOf, mailsOf } from './records.ts';

const EMAIL = 'ada@example.com';

const launchMails = ({ instance }: Beta) =>
  mailsOf(instance)
    .filter(({ subject }) => subject === 'Now open: Shop')
    .map(({ to }) => to);

const runJobs = ({ instance }: Beta) => instance.services.scheduler.runAll();

describe('opening to the public', () => {
  test('notifies all waiting people once, and no others', async () => {
    const beta = await setUpBeta();
    const { instance, application } = beta;
    for (const status of ['pending', 'notify_when_public', 'approved', 'declined'])
      await beta.seed(`${status}@example.com`, status);
    const before = await beta.rows();
    const audits = auditsOf(instance).length;
    instance.clock.advance(MINUTE);

    const answer = await beta.setGate('public');
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({
      id: application.id,
      signinGate: 'public',
      updatedAt: isoTime(START + MINUTE),
    });
    const after = await beta.rows();
    for (const waiting of ['pending@example.com', 'notify_when_public@example.com'])
      expect(after[waiting]).toMatchObject({ status: 'notify_when_public', notifiedAt: isoTime(START + MINUTE) });
    for (const decided of ['approved@example.com', 'declined@example.com'])
      expect(after[decided]).toEqual(before[decided]!);
    expect(
      mailsOf(instance)
        .map(({ to, subject }) => [to, subject])
        .sort(),
    ).toEqual([
      ['notify_when_public@example.com', 'Now open: Shop'],
      ['pending@example.com', 'Now open: Shop'],
    ]);
    expect(mailsOf(instance)[0]!.text).toContain('You asked to hear when it opens');
    expect(auditsOf(instance, audits)).toMatchObject([
      {
        kind: 'application.gate_changed',
        applicationId: application.id,
        workspaceId: instance.workspaceId,
        detail: { from: 'private_beta', to: 'public' },
      },
    ]);
    expect(instance.events(application.id)).toEqual([]);
  });

  test.each(['private_beta', 'closed'])(
    'from %s again notifies only people who joined the waitlist since',
    async (gate) => {
      const beta = await setUpBeta({ gate });
      await beta.ask('early@example.com');
      await beta.setGate('public');
      const notified = (await beta.rows())['early@example.com']!;
      for (let round = 0; round < 3; round += 1) {
        beta.instance.clock.advance(MINUTE);
        await beta.setGate(gate);
        await beta.setGate('public');
        await beta.setGate('public');
        await runJobs(beta);
      }
      expect(launchMails(beta)).toEqual(['early@example.com']);
      expect((await beta.rows())['early@example.com']).toEqual(notified);

      await beta.setGate(gate);
      await beta.ask('late@example.com', 'notify');
      await beta.ask('early@example.com');
      beta.instance.clock.advance(MINUTE);
      await beta.setGate('public');
      await runJobs(beta);
      expect(launchMails(beta)).toEqual(['early@example.com', 'late@example.com']);
      expect((await beta.rows())['early@example.com']).toMatchObject({
        status: 'notify_when_public',
        notifiedAt: notified.notifiedAt,
      });
    },
  );

  test('notifies each person once when ten calls open it at once', async () => {
    const beta = await setUpBeta();
    for (const name of ['a', 'b', 'c']) await beta.ask(`${name}@example.com`);
    await Promise.all(Array.from({ length: 10 }, () => beta.setGate('public')));
    await runJobs(beta);
    expect(launchMails(beta).sort()).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
  });

  test('notifies 1,200 people exactly once through the job, even across a restart', async () => {
    const beta = await setUpBeta({ environment: { GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '10000' } });
    const emails = Array.from({ length: 1200 }, (_, index) => `person${index}@example.com`);
    for (let from = 0; from < 1200; from += 400) await beta.add(...emails.slice(from, from + 400));
    await beta.setGate('public');
    expect(new Set(Object.values(await beta.statuses()))).toEqual(new Set(['notify_when_public']));
    await runJobs(beta);
    const restarted = betaOf(await beta.instance.restart(), beta.application);
    for (let turn = 0; turn < 4; turn += 1) await runJobs(restarted);
    expect(launchMails(restarted).sort()).toEqual(emails.sort());
    expect(Object.values(await restarted.rows()).every(({ notifiedAt }) => notifiedAt !== null)).toBe(true);
  });

  test('stops notifying when the gate closes before all are notified, and resumes when it opens', async () => {
    const beta = await setUpBeta({ environment: { GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '10000' } });
    const emails = Array.from({ length: 1100 }, (_, index) => `person${index}@example.com`);
    for (let from = 0; from < 1100; from += 500) await beta.add(...emails.slice(from, from + 500));
    await beta.setGate('public');
    const first = launchMails(beta).length;
    expect(first).toBeLessThan(1100);
    await beta.setGate('private_beta');
    await runJobs(beta);
    expect(launchMails(beta)).toHaveLength(first);
    await beta.setGate('public');
    for (let turn = 0; turn < 4; turn += 1) await runJobs(beta);
    expect(launchMails(beta).sort()).toEqual(emails.sort());
  });

  test('sends no mail to the waitlist of another application', async () => {
    const instance = await createInstance();
    const [mine, theirs] = [
      await instance.createApplication(),
      await instance.createApplication({ name: 'Other' }),
    ].map((application) => betaOf(instance, application)) as [Beta, Beta];
    for (const beta of [mine, theirs]) {
      await beta.setGate('private_beta');
      await beta.ask(EMAIL);
    }
    await mine.setGate('public');
    await runJobs(mine);
    expect(mailsOf(instance).map(({ subject }) => subject)).toEqual(['Now open: Shop']);
    expect((await theirs.rows())[EMAIL]).toMatchObject({ status: 'pending', notifiedAt: null });
  });
});

describe('an application that is open already', () => {
  test('sends no launch mail to a new waitlist entry', async () => {
    const beta = await setUpBeta({ gate: 'public' });
    await beta.ask(EMAIL, 'notify');
    await runJobs(beta);
    expect(mailsOf(beta.instance)).toEqual([]);
    expect((await beta.rows())[EMAIL]).toMatchObject({ status: 'notify_when_public', notifiedAt: null });
  });

  test('notifies softly declined people of the decline, and sends no launch mail', async () => {
    const beta = await setUpBeta({ gate: 'public' });
    await beta.ask(EMAIL);
    await beta.setPolicy('auto_decline');
    await runJobs(beta);
    expect(mailsOf(beta.instance).map(({ subject }) => subject)).toEqual(['Your request for Shop has to wait']);
  });
});

describe('the sign-in gate', () => {
  const users = ({ instance }: Beta, email: string) =>
    instance.sqlite.query('SELECT count(*) AS n FROM users WHERE email = ?').get(email);

  test('applies from the next sign-in on, and creates no user for a person it refuses', async () => {
    const beta = await setUpBeta({ gate: 'public' });
    expect(await signIn(beta, 'member@example.com')).toBe('in');

    await beta.setGate('closed');
    expect(await signIn(beta, 'member@example.com')).toBe('in');
    expect(await signIn(beta, EMAIL)).toBe('gate_closed');

    await beta.setGate('private_beta');
    expect(await signIn(beta, EMAIL)).toBe('waitlist');
    expect(await signIn(beta, 'member@example.com')).toBe('waitlist');
    expect(await signIn(beta, 'owner@example.com')).toBe('in');
    expect(users(beta, EMAIL)).toEqual({ n: 0 });

    await beta.setGate('public');
    expect(await signIn(beta, EMAIL)).toBe('in');
  });

  test('is checked when the code is verified, not when it is sent', async () => {
    const beta = await setUpBeta({ gate: 'public' });
    const { instance, application } = beta;
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: EMAIL, clientId: application.clientId },
    });
    await beta.setGate('private_beta');
    const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code: instance.codeFor(EMAIL) },
    });
    expect([answer.status, answer.json.error]).toEqual([403, 'waitlist']);
    expect(users(beta, EMAIL)).toEqual({ n: 0 });
    expect(instance.events(application.id)).toEqual([]);
  });

  test('of a private beta follows the waitlist from one sign-in to the next', async () => {
    const beta = await setUpBeta();
    for (const status of ['pending', 'notify_when_public', 'declined']) {
      await beta.seed(`${status}@example.com`, status);
      expect([status, await signIn(beta, `${status}@example.com`)]).toEqual([status, 'waitlist']);
    }
    const row = (await beta.rows())['pending@example.com']!;
    await beta.admin('POST', `/beta-interests/${row.id}/approve`);
    expect(await signIn(beta, 'pending@example.com')).toBe('in');
    await beta.admin('DELETE', `/beta-interests/${row.id}`);
    expect(await signIn(beta, 'pending@example.com')).toBe('waitlist');
    await beta.setPolicy('auto_accept');
    await beta.ask(EMAIL);
    expect(await signIn(beta, EMAIL)).toBe('in');
  });

  test('leaves existing sessions alone', async () => {
    const beta = await setUpBeta({ gate: 'public' });
    const { token } = await beta.instance.signIn(beta.application.clientId, EMAIL);
    for (const gate of ['private_beta', 'closed']) {
      await beta.setGate(gate);
      expect((await beta.instance.call('POST', '/api/v1/session', { token })).json.ok).toBe(true);
    }
  });

  test.each([
    [{}, 'gate'],
    [{ gate: 'open' }, 'gate'],
    [{ gate: 'public', notify: true }, 'notify'],
  ])('refuses %j and does not change', async (body, path) => {
    const beta = await setUpBeta();
    await beta.ask(EMAIL);
    const before = await databaseOf(beta.instance);
    const answer = await beta.admin('POST', '/signin-gate', body);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });
});
