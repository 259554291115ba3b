/** Operations on the whole account need more than a fresh session of one tenant. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { as, problemOf, prove, proofForNewEmail } from './account.ts';

/** Signs in a person who is a customer of two tenants. */
async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const tenant = await given.tenant(instance);
  const here = await instance.signIn(application.clientId, 'ada@example.com');
  instance.clock.advance(MINUTE);
  const there = await instance.signIn(tenant.application.clientId, 'ada@example.com');
  return { instance, application, tenant, here, there };
}

describe('a session of one of several tenants', () => {
  test.each([
    ['POST', '/email', { email: 'mallory@example.com' }, proofForNewEmail('mallory@example.com')],
    ['POST', '/deletion', undefined, { purpose: 'account_deletion' }],
    ['GET', '/export', undefined, { purpose: 'account_export' }],
  ] as const)('%s %s needs a mailed code, even right after the sign-in', async (method, path, body, proof) => {
    const { instance, there } = await setUp();
    const refused = await as(instance, there)(method, path, body);
    expect(problemOf(refused)).toEqual([403, 'reauthentication_required']);
    expect(refused.json.message).toContain('/api/account/proof');
    await prove(instance, there, proof);
    expect((await as(instance, there)(method, path, body)).status).toBe(200);
    instance.clock.advance(10 * MINUTE);
    expect(problemOf(await as(instance, there)(method, path, body))).toEqual([403, 'reauthentication_required']);
  });

  test('neither sees nor ends sessions, memberships and devices of another tenant', async () => {
    const { instance, application, here, there } = await setUp();
    const { items } = (await as(instance, there)('GET', '/sessions')).json.data;
    expect(items).toHaveLength(1);
    const own = (await as(instance, here)('GET', '/sessions')).json.data.items;
    expect(problemOf(await as(instance, there)('DELETE', `/sessions/${own[0].id}`))).toEqual([404, 'not_found']);
    expect((await as(instance, there)('DELETE', '/sessions')).json.data).toEqual({ revoked: 0, devices: 0 });
    const account = await as(instance, there)('GET', '');
    expect(account.text).not.toContain(application.id);
    for (const action of ['inactivate', 'reactivate', 'leave'])
      expect(problemOf(await as(instance, there)('POST', `/${action}`, { applicationId: application.id }))).toEqual([
        404,
        'not_found',
      ]);
    expect((await instance.call('POST', '/api/v1/session', { token: here.token })).status).toBe(200);
  });
});

test('a session of the console may act on the whole account', async () => {
  const { instance, tenant } = await setUp();
  await instance.signIn(tenant.application.clientId, 'owner@example.com');
  instance.clock.advance(MINUTE);
  const owner = await instance.signIn('console', 'owner@example.com');
  expect((await as(instance, owner)('GET', '/sessions')).json.data.items).toHaveLength(2);
  expect((await as(instance, owner)('GET', '/export')).status).toBe(200);
});

describe('a proof', () => {
  test('is needed once the address is on the waitlist of another tenant', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    await instance.call('POST', `/api/applications/${application.id}/beta-interests`, {
      token: instance.workspaceKey,
      body: { emails: ['ada@example.com'], status: 'approved' },
    });
    const tenant = await given.tenant(instance);
    const there = await instance.signIn(tenant.application.clientId, 'ada@example.com');
    const answer = await as(instance, there)('GET', '/export');
    expect(problemOf(answer)).toEqual([403, 'reauthentication_required']);
  });

  test.each([
    [{}, 'read and change everything in your account, such as its e-mail address'],
    [proofForNewEmail('Ada@New.example'), 'move your account to another e-mail address: ada@new.example'],
    [{ purpose: 'account_deletion' }, 'delete your account'],
    [{ purpose: 'account_export' }, 'read everything that is held about you'],
    [{ purpose: 'provider_removal', target: 'idn_1' }, 'disconnect a sign-in provider'],
    [{ purpose: 'profile' }, 'addresses and legal entities'],
  ])('%o names in its mail the operation it allows', async (proof, said) => {
    const { instance, there } = await setUp();
    expect((await as(instance, there)('POST', '/proof', proof)).status).toBe(200);
    const mail = instance.sqlite.query('SELECT text FROM mails ORDER BY rowid DESC').get() as { text: string };
    expect(mail.text.replace(/\s+/g, ' ')).toContain(said);
  });

  test.each([
    [{ purpose: 'everything' }, 'purpose'],
    [{ purpose: 'email_change' }, 'target'],
    [{ purpose: 'email_change', target: 'nonsense' }, 'target'],
    [{ purpose: 'provider_removal' }, 'target'],
    [{ purpose: 'account_deletion', target: 'mallory@example.com' }, 'target'],
    [{ target: 'mallory@example.com' }, 'target'],
  ])('%o is refused with the field', async (proof, field) => {
    const { instance, there } = await setUp();
    const { status, json } = await as(instance, there)('POST', '/proof', proof);
    expect([status, json.fields?.[0]?.path]).toEqual([400, field]);
  });
});
