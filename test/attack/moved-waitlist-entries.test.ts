/** Attack: a member of one workspace moves their address and takes over a place on another's private beta. */
import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { as, changeEmail, later, mailsTo, type Person, problemOf } from '../modules/account/account.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

const [OLD, NEW] = ['beta@example.com', 'new@example.org'];

interface Beta {
  readonly application: Application;
  readonly token: string;
}

/** A person of the instance's own workspace who is approved in another's private beta. */
async function setUp() {
  const instance = await createInstance();
  const shop = await instance.createApplication();
  const other = await given.tenant(instance, 'Tenant one');
  const beta: Beta = { application: other.application, token: other.workspaceKey };
  await list(instance, beta, OLD, 'approved');
  await close(instance, beta);
  const person: Person = await instance.signIn(shop.clientId, OLD);
  return { instance, shop, beta, person };
}

const manage = (instance: Instance, { application, token }: Beta, method: string, path: string, body?: object) =>
  instance.call(method, `/api/applications/${application.id}${path}`, { token, body });

async function list(instance: Instance, beta: Beta, email: string, status: string): Promise<string> {
  const { json } = await manage(instance, beta, 'POST', '/beta-interests', { emails: [email], status });
  return json.data.items[0].id;
}

const close = (instance: Instance, beta: Beta) =>
  manage(instance, beta, 'POST', '/signin-gate', { gate: 'private_beta' });

/** `address: status` of each entry on the waitlist. */
async function listed(instance: Instance, beta: Beta): Promise<Record<string, string>> {
  const { json } = await manage(instance, beta, 'GET', '/beta-interests');
  return Object.fromEntries(json.data.items.map(({ email, status }: any) => [email, status]));
}

async function enter(instance: Instance, { application }: Beta, email: string): Promise<Answer> {
  later(instance);
  return instance.trySignIn(application.clientId, email);
}

async function undo(instance: Instance, email: string): Promise<void> {
  const [, token] = /undo-email-change\?token=(\S+)/.exec(mailsTo(instance, email)[0]!.text)!;
  const { status } = await instance.call('POST', '/undo-email-change', {
    body: `token=${token}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(status).toBe(200);
}

describe('the owner of a workspace without a mail server', () => {
  test.each(['approved', 'pending', 'declined'])(
    'reads no mail of their member who is %s on another workspace’s waitlist',
    async (status) => {
      const instance = await createInstance();
      const shop = await instance.createApplication();
      const other = await given.tenant(instance, 'Tenant one');
      const owner = await instance.signIn('console', 'owner@example.com');
      const read = async () => {
        await instance.services.mail.runOnce();
        const query = { token: owner.token };
        const { items } = (await instance.call('GET', `/api/workspace/outbox?q=${OLD}`, query)).json.data;
        return (await instance.call('GET', `/api/workspace/outbox/${items[0].id}`, query)).json.data;
      };
      await instance.signIn(shop.clientId, OLD);
      expect((await read()).code).toBe(instance.codeFor(OLD));
      const beta = { application: other.application, token: other.workspaceKey };
      const interestId = await list(instance, beta, OLD, status === 'declined' ? 'pending' : status);
      if (status === 'declined') await manage(instance, beta, 'POST', `/beta-interests/${interestId}/decline`);
      expect(await read()).toMatchObject({ isReadable: false, subject: null, text: null, html: null, code: null });
    },
  );

  test('reads no mail of a person who is on another waitlist with a former address', async () => {
    const { instance, shop, person } = await setUp();
    await changeEmail(instance, person, NEW);
    await enter(instance, { application: shop, token: '' }, NEW);
    await instance.services.mail.runOnce();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const { items } = (await instance.call('GET', `/api/workspace/outbox?q=${NEW}`, { token })).json.data;
    expect(items.length).toBeGreaterThan(0);
    for (const { isReadable } of items) expect(isReadable).toBe(false);
  });
});

describe('a place in a private beta', () => {
  test('stays at its old address while the new one is proved only in another workspace', async () => {
    const { instance, shop, beta, person } = await setUp();
    expect((await changeEmail(instance, person, NEW)).status).toBe(200);
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'approved' });
    later(instance);
    await instance.signIn(shop.clientId, NEW);
    await as(instance, person)('GET', '/overview');
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'approved' });
    expect(instance.auditKinds(beta.application.id)).not.toContain('beta.moved');
    // The old address alone gives no access either: an account that takes it is a different person.
    expect(problemOf(await enter(instance, beta, OLD))).toEqual([403, 'email_archived']);
  });

  test('moves at the first code that the new address enters there, and the move is recorded', async () => {
    const { instance, beta, person } = await setUp();
    await changeEmail(instance, person, NEW);
    const entered = await enter(instance, beta, NEW);
    expect([entered.status, entered.json.data.userId]).toEqual([200, person.userId]);
    expect(await listed(instance, beta)).toEqual({ [NEW]: 'approved' });
    const { json } = await manage(instance, beta, 'GET', '/activity/list?family=beta.moved');
    expect(json.data.items).toMatchObject([{ kind: 'beta.moved', email: OLD }]);
    expect((await enter(instance, beta, NEW)).status).toBe(200);
    expect(instance.auditKinds(beta.application.id).filter((kind) => kind === 'beta.moved')).toHaveLength(1);
  });

  test('moves from an address two changes back, in all applications of the workspace', async () => {
    const { instance, beta, person } = await setUp();
    const { json } = await instance.call('POST', '/api/applications', { token: beta.token, body: { name: 'Second' } });
    const second = { application: json.data as Application, token: beta.token };
    await list(instance, second, OLD, 'pending');
    await changeEmail(instance, person, 'between@example.org');
    later(instance);
    await changeEmail(instance, person, NEW);
    expect((await enter(instance, beta, NEW)).status).toBe(200);
    expect([await listed(instance, beta), await listed(instance, second)]).toEqual([
      { [NEW]: 'approved' },
      { [NEW]: 'pending' },
    ]);
  });

  test('moves at once in the workspace of the session that proved the address', async () => {
    const { instance, shop, person } = await setUp();
    const own = { application: shop, token: instance.workspaceKey };
    await list(instance, own, OLD, 'approved');
    await changeEmail(instance, person, NEW);
    expect(await listed(instance, own)).toEqual({ [NEW]: 'approved' });
  });

  test('moves at once in the workspaces of a member who changes their address in the console', async () => {
    const { instance, shop, beta } = await setUp();
    const own = { application: shop, token: instance.workspaceKey };
    for (const one of [own, beta]) await list(instance, one, 'owner@example.com', 'approved');
    const owner = await instance.signIn('console', 'owner@example.com');
    expect((await changeEmail(instance, owner, NEW)).status).toBe(200);
    expect(await listed(instance, own)).toEqual({ [NEW]: 'approved' });
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'approved', 'owner@example.com': 'approved' });
  });

  test('replaces an undecided request, and never a decision', async () => {
    for (const [status, after] of [
      ['pending', { [NEW]: 'approved' }],
      ['approved', { [OLD]: 'approved', [NEW]: 'approved' }],
      ['declined', { [OLD]: 'approved', [NEW]: 'declined' }],
    ] as const) {
      const { instance, beta, person } = await setUp();
      const interestId = await list(instance, beta, NEW, status === 'declined' ? 'pending' : status);
      if (status === 'declined') await manage(instance, beta, 'POST', `/beta-interests/${interestId}/decline`);
      await changeEmail(instance, person, NEW);
      for (let turn = 0; turn < 2; turn += 1)
        expect((await enter(instance, beta, NEW)).status).toBe(status === 'declined' ? 403 : 200);
      expect(await listed(instance, beta)).toEqual(after);
    }
  });
});

describe('the undo of a change of address', () => {
  test('moves every place back, in every workspace, and leaves the thief none', async () => {
    const { instance, shop, beta, person } = await setUp();
    const own = { application: shop, token: instance.workspaceKey };
    await list(instance, own, OLD, 'approved');
    await changeEmail(instance, person, NEW);
    expect((await enter(instance, beta, NEW)).status).toBe(200);
    await undo(instance, OLD);
    for (const one of [own, beta]) expect(await listed(instance, one)).toEqual({ [OLD]: 'approved' });
    expect(problemOf(await enter(instance, beta, NEW))).toEqual([403, 'waitlist']);
    expect((await enter(instance, beta, OLD)).json.data.userId).toBe(person.userId);
  });

  test('does not move places that the new address had before', async () => {
    const { instance, beta, person } = await setUp();
    const third = await given.tenant(instance, 'Tenant three');
    const elsewhere = { application: third.application, token: third.workspaceKey };
    await list(instance, elsewhere, NEW, 'approved');
    await changeEmail(instance, person, NEW);
    await undo(instance, OLD);
    expect(await listed(instance, elsewhere)).toEqual({ [NEW]: 'approved' });
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'approved' });
  });

  test('moves a place back through a chain of changes, to its address at each', async () => {
    const { instance, beta, person } = await setUp();
    await changeEmail(instance, person, 'between@example.org');
    expect((await enter(instance, beta, 'between@example.org')).status).toBe(200);
    instance.clock.advance(DAY);
    const signedIn = await instance.signIn((await instance.createApplication()).clientId, 'between@example.org');
    await changeEmail(instance, signedIn, NEW);
    expect((await enter(instance, beta, NEW)).status).toBe(200);
    await undo(instance, 'between@example.org');
    expect(await listed(instance, beta)).toEqual({ 'between@example.org': 'approved' });
    await undo(instance, OLD);
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'approved' });
  });

  test('drops the moved place if the workspace has listed the first address again', async () => {
    const { instance, beta, person } = await setUp();
    await changeEmail(instance, person, NEW);
    await enter(instance, beta, NEW);
    await list(instance, beta, OLD, 'pending');
    await undo(instance, OLD);
    expect(await listed(instance, beta)).toEqual({ [OLD]: 'pending' });
  });
});
