/** The state of a request for access, told only to a person who proved its address. */
import { describe, expect, test } from 'bun:test';
import { DAY, isoTime, MINUTE } from '@/core/clock.ts';
import { CONSOLE_CLIENT_ID } from '@/core/console.ts';
import { START } from '../../support/instance.ts';
import { type Beta, betaOf, setUpBeta } from './beta.ts';

const EMAIL = 'ada@example.com';

/** Enters a right code. @returns the body of the refusal. */
async function refused({ instance, application }: Beta, email = EMAIL) {
  instance.clock.advance(MINUTE);
  const { status, json } = await instance.trySignIn(application.clientId, email);
  expect(status).toBe(403);
  return json;
}

const ask = ({ instance, application }: Beta, body: object) =>
  instance.call('POST', `/api/applications/${application.id}/public/access-state`, { body });

describe('a refused sign-in by code', () => {
  test('says that nobody asked for access with the address', async () => {
    const beta = await setUpBeta();
    expect(await refused(beta)).toMatchObject({
      error: 'waitlist',
      interest: { status: 'none', since: null, ticket: expect.any(String) },
    });
  });

  test.each([
    ['pending', 'pending'],
    ['notify_when_public', 'notify'],
    ['declined', 'pending'],
  ])('says of an entry that is %s: %s, and since when', async (stored, told) => {
    const beta = await setUpBeta();
    await beta.seed(EMAIL, stored);
    const { interest } = await refused(beta);
    expect(interest).toMatchObject({ status: told, since: isoTime(START) });
  });

  test('says that a request was declined only where the person was mailed', async () => {
    const beta = await setUpBeta();
    const { id } = await beta.seed(EMAIL, 'pending');
    await beta.admin('POST', `/beta-interests/${id}/decline`, { soft: true });
    expect((await refused(beta)).interest.status).toBe('declined');
  });

  test('says it at once after a decision on all requests', async () => {
    const beta = await setUpBeta();
    await beta.seed(EMAIL, 'pending');
    const { interest } = await refused(beta);
    await beta.setPolicy('auto_accept');
    const answer = await ask(beta, { email: EMAIL, ticket: interest.ticket });
    expect(answer.json.data).toEqual({ status: 'approved', since: isoTime(START) });
  });

  test('says it at a closed gate as well, and before a draft', async () => {
    const beta = await setUpBeta({ gate: 'closed' });
    await beta.ask(EMAIL, 'notify');
    expect(await refused(beta)).toMatchObject({ error: 'gate_closed', interest: { status: 'notify' } });
    const made = { token: beta.instance.workspaceKey, body: { name: 'Sketch' } };
    const draft = betaOf(beta.instance, (await beta.instance.call('POST', '/api/applications', made)).json.data);
    expect(await refused(draft)).toMatchObject({ error: 'gate_closed', interest: { status: 'none' } });
  });

  test('says nothing of it after a wrong code, or in the console', async () => {
    const { instance, application } = await setUpBeta();
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: EMAIL, clientId: application.clientId },
    });
    const code = instance.codeFor(EMAIL) === '000000' ? '000001' : '000000';
    const body = { challengeId: sent.json.data.challengeId, code };
    const wrong = await instance.call('POST', '/api/v1/auth/otp/verify', { body });
    expect(wrong.json.error).toBe('code_invalid');
    expect(wrong.json.interest).toBeUndefined();
    instance.clock.advance(MINUTE);
    const console = await instance.trySignIn(CONSOLE_CLIENT_ID, EMAIL);
    expect(console.json.error).toBe('gate_closed');
    expect(console.json.interest).toBeUndefined();
  });
});

describe('the ticket of a refused sign-in', () => {
  test('follows the request live: made, approved, removed', async () => {
    const beta = await setUpBeta();
    const { ticket } = (await refused(beta)).interest;
    const status = async () => (await ask(beta, { email: 'Ada@Example.com', ticket })).json.data.status;
    expect(await status()).toBe('none');
    await beta.ask(EMAIL);
    expect(await status()).toBe('pending');
    const { id } = (await beta.rows())[EMAIL]!;
    await beta.admin('POST', `/beta-interests/${id}/approve`);
    expect(await status()).toBe('approved');
    await beta.admin('DELETE', `/beta-interests/${id}`);
    expect(await status()).toBe('none');
  });

  test('ends after a day', async () => {
    const beta = await setUpBeta();
    const { ticket } = (await refused(beta)).interest;
    beta.instance.clock.advance(DAY - 1);
    expect((await ask(beta, { email: EMAIL, ticket })).status).toBe(200);
    beta.instance.clock.advance(1);
    const over = await ask(beta, { email: EMAIL, ticket });
    expect([over.status, over.json.error]).toEqual([400, 'code_expired']);
  });

  test('says nothing of another address or application, and one that was changed says nothing', async () => {
    const beta = await setUpBeta();
    const other = betaOf(beta.instance, await beta.instance.createApplication());
    await beta.seed('bea@example.com', 'approved');
    const { ticket } = (await refused(beta)).interest;
    const refusal = { success: false, error: 'code_expired' };
    const changed = ticket.replace(/^./, (first: string) => (first === 'z' ? 'y' : 'z'));
    for (const [where, email, given] of [
      [beta, 'bea@example.com', ticket],
      [beta, 'nobody@example.com', ticket],
      [other, EMAIL, ticket],
      [beta, EMAIL, changed],
      [beta, EMAIL, ''],
    ] as const)
      expect((await ask(where, { email, ticket: given })).json).toMatchObject(refusal);
  });

  test('is no credential: it signs nobody in and changes nothing', async () => {
    const beta = await setUpBeta();
    const { instance, application, rows } = beta;
    const { ticket } = (await refused(beta)).interest;
    for (const [method, path] of [
      ['POST', '/api/v1/session'],
      ['GET', `/api/applications/${application.id}/beta-interests`],
      ['GET', '/api/account/export'],
    ] as const)
      expect((await instance.call(method, path, { token: ticket })).status).toBe(401);
    expect(await rows()).toEqual({});
  });
});

test('the public request answers alike whether or not the address is known, and gives no ticket', async () => {
  const beta = await setUpBeta();
  await beta.seed('bea@example.com', 'approved');
  const [known, unknown] = [await beta.ask('bea@example.com'), await beta.ask('new@example.com')];
  expect(known.json).toEqual(unknown.json);
  expect(known.json).toEqual({ success: true, data: { received: true } });
});
