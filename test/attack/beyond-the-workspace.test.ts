/** Attack: a tenant uses the session that it was handed to read or change the person's data at another tenant. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { as, type Person, problemOf, prove } from '../modules/account/account.ts';
import { sceneOf } from '../modules/devices/scene.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';

const ADDRESSES = '/profile/addresses';
const ENTITIES = '/profile/entities';
const HOME = { kind: 'billing', recipient: 'Ada', line1: '12 Home Street', city: 'London', country: 'GB' };
const WORK = { ...HOME, line1: '1 Work Road' };
const COMPANY = { legalName: 'Lovelace Ltd', country: 'GB' };

/** A person who is a customer of two tenants, and of two applications of the first. */
async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const sister = await instance.createApplication({ name: 'Sister' });
  const tenant = await given.tenant(instance);
  const sessions: Person[] = [];
  for (const { clientId } of [application, sister, tenant.application]) {
    sessions.push(await instance.signIn(clientId, 'ada@example.com'));
    instance.clock.advance(MINUTE);
  }
  const [here, beside, there] = sessions as [Person, Person, Person];
  return { instance, application, sister, tenant, here, beside, there };
}

const itemsOf = async (instance: Instance, person: Person, path: string) =>
  (await as(instance, person)('GET', path)).json.data.items as { id: string; isDefault: boolean }[];

const idsOf = async (instance: Instance, person: Person, path: string) =>
  (await itemsOf(instance, person, path)).map(({ id }) => id);

describe.each([
  ['addresses', ADDRESSES, HOME, { line1: 'Evil Street' }],
  ['legal entities', ENTITIES, COMPANY, { legalName: 'Evil Ltd' }],
] as const)('%s', (_, path, input, patch) => {
  test('are hidden from another tenant but visible to another application of the same workspace', async () => {
    const { instance, here, beside, there } = await setUp();
    const { id } = (await as(instance, here)('POST', path, input)).json.data;
    expect(await idsOf(instance, beside, path)).toEqual([id]);
    expect(await idsOf(instance, there, path)).toEqual([]);
    const before = dumpTables(instance);
    for (const answer of [
      await as(instance, there)('PATCH', path, { id, ...patch }),
      await as(instance, there)('DELETE', path, { id }),
      await as(instance, there)('DELETE', `${path}?id=${id}`),
    ]) {
      expect(problemOf(answer)).toEqual([403, 'reauthentication_required']);
      expect(answer.json.message).toContain('/api/account/proof');
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('are opened for ten minutes, in one session, by a code from the person’s mailbox', async () => {
    const { instance, here, there } = await setUp();
    const { id } = (await as(instance, here)('POST', path, input)).json.data;
    await prove(instance, there, { purpose: 'profile' });
    expect(await idsOf(instance, there, path)).toEqual([id]);
    expect((await as(instance, there)('PATCH', path, { id, ...patch })).status).toBe(200);
    instance.clock.advance(10 * MINUTE);
    expect(await idsOf(instance, there, path)).toEqual([]);
    expect(problemOf(await as(instance, there)('DELETE', path, { id }))[0]).toBe(403);
    // A proof given to one tenant opens nothing to the other.
    const own = (await as(instance, there)('POST', path, input)).json.data.id;
    expect(await idsOf(instance, here, path)).toEqual([id]);
    expect(await idsOf(instance, there, path)).toEqual([own]);
  });

  test('are all visible in the console; entries made in the console are visible to no tenant', async () => {
    const { instance, tenant } = await setUp();
    const there = await instance.signIn(tenant.application.clientId, 'owner@example.com');
    instance.clock.advance(MINUTE);
    const owner = await instance.signIn('console', 'owner@example.com');
    const ofTenant = (await as(instance, there)('POST', path, input)).json.data.id;
    const ofConsole = (await as(instance, owner)('POST', path, input)).json.data.id;
    expect(await idsOf(instance, owner, path)).toEqual([ofTenant, ofConsole]);
    expect(await idsOf(instance, there, path)).toEqual([ofTenant]);
    expect((await as(instance, owner)('PATCH', path, { id: ofTenant, ...patch })).status).toBe(200);
  });

  test('are limited per tenant, so that entries at one do not use up the limit of another', async () => {
    const { instance, here, there } = await setUp();
    let status = 200;
    while (status === 200) ({ status } = await as(instance, there)('POST', path, input));
    expect(status).toBe(409);
    expect((await as(instance, here)('POST', path, input)).status).toBe(200);
  });
});

describe('the default of a kind', () => {
  test('is independent per tenant', async () => {
    const { instance, here, there } = await setUp();
    const home = (await as(instance, here)('POST', ADDRESSES, HOME)).json.data;
    const work = (await as(instance, there)('POST', ADDRESSES, WORK)).json.data;
    expect([home.isDefault, work.isDefault]).toEqual([true, true]);
    const second = (await as(instance, there)('POST', ADDRESSES, { ...WORK, isDefault: true })).json.data;
    expect(await itemsOf(instance, here, ADDRESSES)).toEqual([
      expect.objectContaining({ id: home.id, isDefault: true }),
    ]);
    await as(instance, there)('DELETE', ADDRESSES, { id: second.id });
    expect(await itemsOf(instance, there, ADDRESSES)).toEqual([
      expect.objectContaining({ id: work.id, isDefault: true }),
    ]);
    expect(await itemsOf(instance, here, ADDRESSES)).toEqual([
      expect.objectContaining({ id: home.id, isDefault: true }),
    ]);
  });
});

describe('an address stored at another tenant', () => {
  test('cannot be used for a legal entity and is refused like one that does not exist', async () => {
    const { instance, here, there } = await setUp();
    const { id } = (await as(instance, here)('POST', ADDRESSES, HOME)).json.data;
    const answers = [];
    for (const addressId of [id, 'adr_01h455vb4pex5vsknk084sn02q'])
      answers.push(await as(instance, there)('POST', ENTITIES, { ...COMPANY, addressId }));
    expect(answers.map(({ status, json }) => [status, json.fields])).toEqual([
      [400, answers[1]!.json.fields],
      [400, answers[1]!.json.fields],
    ]);
    await prove(instance, there, { purpose: 'profile' });
    expect((await as(instance, there)('POST', ENTITIES, { ...COMPANY, addressId: id })).status).toBe(200);
  });
});

describe.each(['roles', 'scopes', 'memberships'] as const)('/api/me/%s', (kind) => {
  test('hides another tenant’s application, as if it did not exist', async () => {
    const { instance, sister, tenant, here, there } = await setUp();
    const ask = (person: Pick<Person, 'token'>, id: string) =>
      instance.call('GET', `/api/me/${kind}?applicationId=${id}`, { token: person.token });
    const nothing = await ask(there, 'app_01h455vb4pex5vsknk084sn02q');
    for (const [person, id] of [
      [here, tenant.application.id],
      [there, sister.id],
    ] as const) {
      const { status, json } = await ask(person, id);
      expect([status, { ...json, requestId: '' }]).toEqual([404, { ...nothing.json, requestId: '' }]);
    }
    expect((await ask(here, sister.id)).status).toBe(200);
  });

  test('gives a connected device no more than the session', async () => {
    const { instance, application, sister, tenant, here } = await setUp();
    const key = await sceneOf(instance, application).connect(here);
    const status = async (id: string) =>
      (await instance.call('GET', `/api/me/${kind}?applicationId=${id}`, { token: key.token })).status;
    expect([await status(application.id), await status(sister.id), await status(tenant.application.id)]).toEqual([
      200, 200, 404,
    ]);
  });

  test('lists every application of the person for the console', async () => {
    const { instance, tenant } = await setUp();
    await instance.signIn(tenant.application.clientId, 'owner@example.com');
    instance.clock.advance(MINUTE);
    const { token } = await instance.signIn('console', 'owner@example.com');
    const answer = await instance.call('GET', `/api/me/${kind}?applicationId=${tenant.application.id}`, { token });
    expect(answer.status).toBe(200);
  });
});

describe('an identity that is valid everywhere', () => {
  test('cannot be removed with a tenant’s session alone, however fresh', async () => {
    const { instance, there } = await setUp();
    const id = await given.identity(instance, there.userId);
    const remove = () => as(instance, there)('DELETE', `/providers/${id}`);
    const refused = await remove();
    expect(problemOf(refused)).toEqual([403, 'reauthentication_required']);
    expect(refused.json.message).toContain('/api/account/proof');
    await prove(instance, there, { purpose: 'provider_removal', target: id });
    expect((await remove()).status).toBe(200);
  });

  test('needs a proof to be removed even if only that tenant knows the person', async () => {
    const instance = await createInstance();
    const tenant = await given.tenant(instance);
    const there = await instance.signIn(tenant.application.clientId, 'bea@example.com');
    const id = await given.identity(instance, there.userId);
    expect(problemOf(await as(instance, there)('DELETE', `/providers/${id}`))).toEqual([
      403,
      'reauthentication_required',
    ]);
  });

  test('can be removed from the console', async () => {
    const { instance } = await setUp();
    const owner = await instance.signIn('console', 'owner@example.com');
    const id = await given.identity(instance, owner.userId);
    expect((await as(instance, owner)('DELETE', `/providers/${id}`)).status).toBe(200);
  });
});
