/** Proofs: each is valid only for the action it was requested for. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { as, problemOf, type Proof, prove, proofForNewEmail } from '../modules/account/account.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';

const ADA = 'ada@example.com';
const ONE = 'one@new.example';
const TWO = 'two@new.example';
const HOME = { kind: 'billing', recipient: 'Ada', line1: '1 Long Lane', city: 'London', country: 'GB' };

/** A customer of two tenants who has given one of them an address; two identities are valid everywhere. */
async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const tenant = await given.tenant(instance);
  const here = await instance.signIn(application.clientId, ADA);
  expect((await as(instance, here)('POST', '/profile/addresses', HOME)).status).toBeLessThan(300);
  const identities = [await given.identity(instance, here.userId), await given.identity(instance, here.userId, '2')];
  instance.clock.advance(MINUTE);
  const there = await instance.signIn(tenant.application.clientId, ADA);
  const call = as(instance, there);
  const refusedOr = ({ status, json }: Answer) => (json?.error === 'reauthentication_required' ? 'refused' : status);
  const proofs: Record<string, Proof> = {
    everything: {},
    'address one': proofForNewEmail(ONE),
    'address two': proofForNewEmail(TWO),
    deletion: { purpose: 'account_deletion' },
    export: { purpose: 'account_export' },
    'identity one': { purpose: 'provider_removal', target: identities[0]! },
    'identity two': { purpose: 'provider_removal', target: identities[1]! },
    profile: { purpose: 'profile' },
  };
  const things: Record<string, () => Promise<unknown>> = {
    'address one': async () => refusedOr(await call('POST', '/email', { email: ONE })),
    'address two': async () => refusedOr(await call('POST', '/email', { email: TWO })),
    deletion: async () => refusedOr(await call('POST', '/deletion')),
    export: async () => refusedOr(await call('GET', '/export')),
    'identity one': async () => refusedOr(await call('DELETE', `/providers/${identities[0]}`)),
    'identity two': async () => refusedOr(await call('DELETE', `/providers/${identities[1]}`)),
    profile: async () => ((await call('GET', '/profile/addresses')).json.data.items.length === 1 ? 200 : 'refused'),
  };
  return { instance, there, call, proofs, things };
}

const NAMES = [
  'everything',
  'address one',
  'address two',
  'deletion',
  'export',
  'identity one',
  'identity two',
  'profile',
];

describe('a code', () => {
  test.each([...NAMES, 'nothing'])('a code for %s confirms that action and no other', async (name) => {
    const { instance, there, proofs, things } = await setUp();
    if (name !== 'nothing') await prove(instance, there, proofs[name]);
    for (const [thing, attempt] of Object.entries(things)) {
      const expected = thing === name || name === 'everything' ? 200 : 'refused';
      const before = expected === 'refused' ? dumpTables(instance) : null;
      expect([name, thing, await attempt()]).toEqual([name, thing, expected]);
      if (before) expect(dumpTables(instance)).toEqual(before);
    }
    instance.clock.advance(10 * MINUTE);
    const again = things[name];
    if (again) expect([400, 404, 'refused']).toContain((await again()) as number | string);
  });

  test.each(NAMES)('a code for %s refreshes a stale session only if that is its purpose', async (name) => {
    const { instance, there, call, proofs } = await setUp();
    instance.clock.advance(11 * MINUTE);
    await prove(instance, there, proofs[name]);
    const options = await call('POST', '/passkeys/options');
    expect([name, options.status]).toEqual([name, name === 'everything' ? 200 : 403]);
  });
});

test('a proof ends with the change it was for, and with the address it was sent to', async () => {
  const { instance, there, call } = await setUp();
  await prove(instance, there, { purpose: 'account_export' });
  await prove(instance, there, proofForNewEmail(ONE));
  await prove(instance, there, proofForNewEmail(TWO));
  const { challengeId } = (await call('POST', '/email', { email: ONE })).json.data;
  const body = { challengeId, code: instance.codeFor(ONE) };
  expect((await call('POST', '/email/confirm', body)).status).toBe(200);
  expect(problemOf(await call('POST', '/email', { email: TWO }))).toEqual([403, 'reauthentication_required']);
  expect(problemOf(await call('GET', '/export'))).toEqual([403, 'reauthentication_required']);
});

test('a proof dated in the future by a clock that went back is invalid', async () => {
  const { instance, there, call } = await setUp();
  await prove(instance, there, { purpose: 'account_export' });
  instance.sqlite.run("UPDATE code_challenges SET consumed_at = consumed_at + 86400000 WHERE purpose = 'proof'");
  expect(problemOf(await call('GET', '/export'))).toEqual([403, 'reauthentication_required']);
});
