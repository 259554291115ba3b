/** Invitations of users who have never signed in: mailed once an hour, and only to people who could sign in. */
import { describe, expect, test } from 'bun:test';
import { HOUR, isoTime } from '../../../src/core/clock.ts';
import { betaOf } from '../beta/beta.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { lastAudit, managing, people, tables, watch } from './management.ts';

const ADA = 'ada@example.com';

async function setUp(environment: Record<string, string> = {}) {
  const instance = await createInstance({ environment });
  const application = await instance.createApplication({ name: 'Harbour' });
  const manage = managing(instance, application);
  const invite = (userId: string, body?: object) => manage('POST', `/users/${userId}/invitation`, body && { body });
  return { instance, application, manage, invite };
}

interface Mail {
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
}

const mailsOf = ({ sqlite }: Instance) =>
  sqlite.query('SELECT recipient, subject, text FROM mails ORDER BY rowid').all() as Mail[];

describe('an invitation', () => {
  test('names the application and leads to the sign-in page with the address, on the record and without an event', async () => {
    const { instance, application, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    const seen = watch(instance, application);
    const answer = await invite(ada);
    expect([answer.status, answer.json.data]).toEqual([200, { sent: true, resendAt: isoTime(hourAfter(START)) }]);
    const [mail, ...others] = mailsOf(instance);
    expect(others).toEqual([]);
    expect([mail!.recipient, mail!.subject]).toEqual([ADA, 'You are invited to Harbour']);
    const [link = ''] = /https?:\S+\/sign-in\?\S+/.exec(mail!.text) ?? [];
    const { searchParams } = new URL(link);
    expect([searchParams.get('clientId'), searchParams.get('email')]).toEqual([application.clientId, ADA]);
    expect([seen.events(), seen.kinds()]).toEqual([[], ['user.invited']]);
    expect(JSON.parse(String(lastAudit(instance, 'user.invited')['detail']))).toEqual({ locale: 'en' });
    expect((await instance.signIn(application.clientId, ADA)).userId).toBe(ada);
  });

  test('is in the language asked for, else in that of the import, with the application’s line of that language', async () => {
    const { instance, manage, invite } = await setUp();
    const users = [{ email: ADA, profile: { locale: 'de-AT' } }];
    const { json } = await manage('POST', '/users/bulk', { body: { users } });
    const { userId } = json.data.results[0];
    for (const [locale, line] of Object.entries({ de: 'Willkommen an Bord.', fr: 'Bienvenue à bord.' }))
      await manage('PUT', '/mail-lines', { body: { mail: 'invitation', locale, line } });
    await invite(userId);
    instance.clock.advance(HOUR);
    await invite(userId, { locale: 'fr' });
    const [german, french] = mailsOf(instance);
    expect(german!.subject).toBe('Sie sind zu Harbour eingeladen');
    expect(german!.text).toContain('Willkommen an Bord.');
    expect(french!.subject).toBe('Harbour vous invite');
    expect(french!.text).toContain('Bienvenue à bord.');
  });

  test('is mailed once an hour, however often and however many at once ask for it', async () => {
    const { instance, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    const answers = await Promise.all([invite(ada), invite(ada), invite(ada)]);
    expect(answers.filter(({ json }) => json.data.sent)).toHaveLength(1);
    expect(new Set(answers.map(({ json }) => json.data.resendAt))).toEqual(new Set([isoTime(hourAfter(START))]));
    const rows = await tables(instance);
    expect((await invite(ada)).json.data.sent).toBe(false);
    expect(await tables(instance)).toEqual(rows);
    instance.clock.advance(HOUR);
    expect((await invite(ada)).json.data.sent).toBe(true);
    expect(mailsOf(instance)).toHaveLength(2);
  });

  test('counts towards the mails of the workspace, and is refused when they are spent', async () => {
    const { instance, manage, invite } = await setUp({ GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '1' });
    const [ada = '', bob = ''] = await people(manage, ADA, 'bob@example.com');
    expect((await invite(ada)).json.data.sent).toBe(true);
    const rows = await tables(instance);
    const refused = await invite(bob);
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await tables(instance)).toEqual(rows);
    instance.clock.advance(HOUR);
    expect((await invite(bob)).json.data.sent).toBe(true);
  });
});

describe('nobody is invited', () => {
  test.each(['ban', 'pause', 'delete'])('whom a status keeps out: %s', async (action) => {
    const { instance, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    await manage('POST', `/users/${ada}/${action}`);
    await expectRefused(instance, () => invite(ada), /Not possible for a user who is \w+: invite/);
  });

  test('who has signed in already', async () => {
    const { instance, application, invite } = await setUp();
    const { userId } = await instance.signIn(application.clientId, ADA);
    await expectRefused(instance, () => invite(userId), /signed in before/);
  });

  test('to a draft', async () => {
    const { instance, application, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    await given.application(instance, application.id, { stage: 'draft' });
    await expectRefused(instance, () => invite(ada), /publish it first/);
  });

  test('whose address is not on the allowlist of a private beta, until it is', async () => {
    const { instance, application, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    const beta = betaOf(instance, application);
    await beta.setGate('private_beta');
    await expectRefused(instance, () => invite(ada), /allowlist/);
    await beta.add(ADA);
    expect((await invite(ada)).json.data).toMatchObject({ sent: true });
  });

  test('who is the principal of a key', async () => {
    const { instance, application, manage, invite } = await setUp();
    await instance.createKey(application.id);
    const [{ userId }] = (await manage('GET', '/api-keys')).json.data.items;
    await expectRefused(instance, () => invite(userId), /principal of an API key/);
  });

  test('in a language that is none', async () => {
    const { instance, manage, invite } = await setUp();
    const [ada = ''] = await people(manage, ADA);
    const rows = await tables(instance);
    const refused = await invite(ada, { locale: 'not a language' });
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_request']);
    expect(refused.text).toContain('locale');
    expect(await tables(instance)).toEqual(rows);
  });
});

const hourAfter = (time: number) => time - (time % HOUR) + HOUR;

async function expectRefused(
  instance: Instance,
  invite: () => Promise<{ status: number; json: { error: string; message: string } }>,
  message: RegExp,
): Promise<void> {
  const rows = await tables(instance);
  const { status, json } = await invite();
  expect([status, json.error]).toEqual([409, 'invalid_state']);
  expect(json.message).toMatch(message);
  expect(await tables(instance)).toEqual(rows);
}
