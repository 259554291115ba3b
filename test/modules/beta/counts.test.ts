import { describe, expect, test } from 'bun:test';
import { createInstance } from '../../support/instance.ts';
import { betaOf, type Beta } from './beta.ts';

async function setUp(): Promise<Beta> {
  const instance = await createInstance();
  return betaOf(instance, await instance.createApplication());
}

const countsOf = async (beta: Beta) => (await beta.admin('GET', '/beta-interests/counts')).json.data;

const NONE = { pending: 0, approved: 0, notifyWhenPublic: 0, declined: 0, toldAtLaunch: 0 };

describe('the counts of a waitlist', () => {
  test('are zero without entries, and cover one application only', async () => {
    const beta = await setUp();
    const other = betaOf(beta.instance, await beta.instance.createApplication({ name: 'Other' }));
    await other.seed('ada@example.com', 'pending');
    expect(await countsOf(beta)).toEqual(NONE);
    expect(await countsOf(other)).toEqual({ ...NONE, pending: 1, toldAtLaunch: 1 });
  });

  test('give the entries per status and the number of people a launch would mail', async () => {
    const beta = await setUp();
    await beta.seed('ada@example.com', 'pending');
    await beta.seed('bea@example.com', 'pending');
    await beta.seed('cleo@example.com', 'approved');
    await beta.seed('dan@example.com', 'declined');
    await beta.seed('eve@example.com', 'notify_when_public');
    expect(await countsOf(beta)).toEqual({
      pending: 2,
      approved: 1,
      declined: 1,
      notifyWhenPublic: 1,
      toldAtLaunch: 3,
    });
  });

  test('include a decision over all pending entries at once, before the background task has reached them', async () => {
    const beta = await setUp();
    for (let at = 0; at < 300; at += 100)
      await beta.add(...Array.from({ length: 100 }, (_, index) => `person-${at + index}@example.com`));
    await beta.setPolicy('auto_accept');
    expect(await countsOf(beta)).toEqual({ ...NONE, approved: 300 });
  });

  test('count notified people out of `toldAtLaunch`', async () => {
    const beta = await setUp();
    await beta.setGate('private_beta');
    await beta.seed('ada@example.com', 'notify_when_public');
    await beta.setGate('public');
    await beta.instance.services.tasks.runOnce();
    expect(await countsOf(beta)).toEqual({ ...NONE, notifyWhenPublic: 1 });
  });

  test('need a credential and an application that exists', async () => {
    const beta = await setUp();
    const path = `/api/applications/${beta.application.id}/beta-interests/counts`;
    const unknown = `/api/applications/app_nothing/beta-interests/counts`;
    expect((await beta.instance.call('GET', path)).status).toBe(401);
    expect((await beta.instance.call('GET', unknown, { token: beta.instance.workspaceKey })).status).toBe(404);
  });
});
