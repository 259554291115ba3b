import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '@/core/clock.ts';
import { START } from '../../support/instance.ts';
import { type Call, createPeople, INVALID, LONG, NOT_FOUND, refused, SILENCE, toldOnce, watch } from './people.ts';

const PATH = '/profile/entities';
const ADDRESSES = '/profile/addresses';
const ADDRESS = { kind: 'billing', recipient: 'Ada', line1: '1 Square', city: 'London', country: 'GB' };
const PLAIN = { legalName: 'Engines Ltd', country: 'GB' };
const OPTIONAL = { tradeName: null, registrationNumber: null, taxId: null, addressId: null };

const addressOf = async (call: Call): Promise<string> => (await call('POST', ADDRESSES, ADDRESS)).json.data.id;
const add = async (call: Call, input: object = {}) => (await call('POST', PATH, { ...PLAIN, ...input })).json.data;
const list = async (call: Call) => (await call('GET', PATH)).json.data.items;

describe('the legal entities', () => {
  test('are empty at first; an entity is answered as it is listed, oldest first', async () => {
    const { asAda } = await createPeople();
    expect((await asAda('GET', PATH)).json).toEqual({ success: true, data: { items: [], nextCursor: null } });
    const whole = {
      legalName: 'Engines Ltd',
      tradeName: 'Engines',
      registrationNumber: 'HRB 12345 B',
      taxId: 'GB 123 4567 89',
      country: 'GB',
      addressId: await addressOf(asAda),
    };
    const { status, json } = await asAda('POST', PATH, whole);
    const times = { createdAt: isoTime(START), updatedAt: isoTime(START) };
    expect([status, json.data]).toEqual([200, { id: expect.stringMatching(/^ent_[0-9a-z]{26}$/), ...whole, ...times }]);
    const plain = await add(asAda, { country: 'gb' });
    expect(plain).toEqual({ id: plain.id, ...PLAIN, ...OPTIONAL, ...times });
    expect(await list(asAda)).toEqual([json.data, plain]);
  });

  test('keep the fields that a change omits; null and blank clear', async () => {
    const { instance, asAda } = await createPeople();
    const addressId = await addressOf(asAda);
    const before = await add(asAda, { tradeName: 'E', registrationNumber: '1', taxId: '2', addressId });
    instance.clock.advance(MINUTE);
    const patch = async (body: object) => (await asAda('PATCH', PATH, { id: before.id, ...body })).json.data;
    const updatedAt = isoTime(START + MINUTE);
    expect(await patch({ legalName: 'Looms Ltd' })).toEqual({ ...before, legalName: 'Looms Ltd', updatedAt });
    const cleared = { ...before, legalName: 'Looms Ltd', ...OPTIONAL, updatedAt };
    expect(await patch({ ...OPTIONAL, taxId: '  ' })).toEqual(cleared);
    expect(await patch({ addressId })).toEqual({ ...cleared, addressId });
    expect(await list(asAda)).toEqual([{ ...cleared, addressId }]);
  });

  test('accept only the person’s own address; another’s looks like none', async () => {
    const { instance, asAda, asBob } = await createPeople();
    const { id } = await add(asAda);
    const foreign = await addressOf(asBob);
    for (const addressId of [foreign, 'adr_01h455vb4pex5vsknk084sn02q', 'nonsense', '']) {
      expect(await refused(instance, () => asAda('POST', PATH, { ...PLAIN, addressId }))).toEqual(INVALID('addressId'));
      expect(await refused(instance, () => asAda('PATCH', PATH, { id, addressId }))).toEqual(INVALID('addressId'));
    }
  });

  test('lose a deleted address: one event names both kinds, and the others keep theirs', async () => {
    const people = await createPeople();
    const { instance, asAda, ada } = people;
    const [gone, kept] = [await addressOf(asAda), await addressOf(asAda)];
    const [first, second] = [await add(asAda, { addressId: gone }), await add(asAda, { addressId: kept })];
    instance.clock.advance(MINUTE);
    const since = watch(people);
    expect((await asAda('DELETE', ADDRESSES, { id: gone })).status).toBe(200);
    expect(await list(asAda)).toEqual([{ ...first, addressId: null, updatedAt: isoTime(START + MINUTE) }, second]);
    expect(since.events()).toEqual(toldOnce(ada.userId, ['addresses', 'legal_entities']));
    expect(since.audits()).toHaveLength(1);
  });

  test('are deleted by an id in the body or in the query, and then are not found', async () => {
    const { instance, asAda } = await createPeople();
    const [a, b] = [await add(asAda), await add(asAda)];
    expect(await refused(instance, () => asAda('DELETE', PATH))).toEqual(INVALID('id'));
    expect(await refused(instance, () => asAda('DELETE', `${PATH}?id=${a.id}`, { id: b.id }))).toEqual(INVALID('id'));
    expect((await asAda('DELETE', PATH, { id: a.id })).json).toEqual({ success: true, data: { id: a.id } });
    expect((await asAda('DELETE', `${PATH}?id=${b.id}`)).json.data).toEqual({ id: b.id });
    expect(await list(asAda)).toEqual([]);
    expect(await refused(instance, () => asAda('DELETE', PATH, { id: a.id }))).toEqual(NOT_FOUND);
  });

  test('are visible and writable only to their person; for others they are not found', async () => {
    const { instance, asAda, asBob } = await createPeople();
    const { id } = await add(asAda);
    expect(await list(asBob)).toEqual([]);
    for (const call of [
      () => asBob('PATCH', PATH, { id, legalName: 'Mine' }),
      () => asBob('DELETE', PATH, { id }),
      () => asAda('PATCH', PATH, { id: 'ent_01h455vb4pex5vsknk084sn02q' }),
    ])
      expect(await refused(instance, call)).toEqual(NOT_FOUND);
  });

  test('are limited to 50', async () => {
    const { instance, asAda } = await createPeople();
    for (let index = 0; index < 50; index += 1) await add(asAda);
    const oneMore = () => asAda('POST', PATH, PLAIN);
    expect(await refused(instance, oneMore)).toEqual({ status: 409, error: 'invalid_state', fields: [] });
    expect((await oneMore()).json.message).toContain('50');
    const all = await list(asAda);
    expect(all).toHaveLength(50);
    await asAda('DELETE', PATH, { id: all[0].id });
    expect((await oneMore()).status).toBe(200);
  });

  test('changed concurrently lose no field that was not named', async () => {
    const { asAda, as, adaInForum } = await createPeople();
    const { id } = await add(asAda, { taxId: '1', tradeName: 'E' });
    await Promise.all([
      asAda('PATCH', PATH, { id, taxId: '2' }),
      as(adaInForum.token)('PATCH', PATH, { id, tradeName: null }),
      asAda('PATCH', PATH, { id, country: 'FR' }),
    ]);
    expect(await list(asAda)).toMatchObject([{ taxId: '2', tradeName: null, country: 'FR', legalName: 'Engines Ltd' }]);
  });
});

describe('a legal entity', () => {
  test.each([
    ['legalName', ''],
    ['legalName', null],
    ['legalName', 'x'.repeat(201)],
    ['legalName', 'over\u202eride'],
    ['tradeName', 'two\nlines'],
    ['registrationNumber', 'x'.repeat(51)],
    ['taxId', 'nul\0byte'],
    ['taxId', 'lone\ud800half'],
    ['country', 'EU'],
    ['country', null],
    ['country', 'Germany'],
    ['addressId', 5],
    ['legalName', ['Engines']],
    ['userId', 'usr_01h455vb4pex5vsknk084sn02q'],
    ['kind', 'billing'],
  ])('a legal entity with %s as %j is refused by POST and by PATCH', async (field, value) => {
    const { instance, asAda } = await createPeople();
    const { id } = await add(asAda);
    const sent = typeof value === 'string' && value.length > 8 ? value : undefined;
    for (const call of [
      () => asAda('POST', PATH, { ...PLAIN, [field]: value }),
      () => asAda('PATCH', PATH, { id, [field]: value }),
    ])
      expect(await refused(instance, call, sent)).toEqual(INVALID(field));
  });

  test('a legal entity with a field of 64 KiB, or without its required fields, is refused', async () => {
    const { instance, asAda } = await createPeople();
    for (const field of ['legalName', 'country', ...Object.keys(OPTIONAL)])
      expect(await refused(instance, () => asAda('POST', PATH, { ...PLAIN, [field]: LONG }), LONG)).toEqual(
        INVALID(field),
      );
    expect(await refused(instance, () => asAda('POST', PATH, {}))).toEqual(INVALID('legalName', 'country'));
  });
});

describe('a change of the legal entities', () => {
  test('is one event per application and one record', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    const { id } = await add(asAda);
    const changes = [
      ['POST', { ...PLAIN, taxId: '1' }, 'added', ['legalName', 'taxId', 'country']],
      ['PATCH', { id, legalName: 'Looms Ltd', country: 'gb' }, 'changed', ['legalName']],
      ['DELETE', { id }, 'removed', []],
    ] as const;
    for (const [method, body, change, fields] of changes) {
      const since = watch(people);
      const { status, json } = await asAda(method, PATH, body);
      expect(status).toBe(200);
      expect(since.events()).toEqual(toldOnce(ada.userId, ['legal_entities']));
      expect(since.audits()).toEqual([
        {
          kind: 'account.profile_changed',
          applicationId: shop.id,
          userId: ada.userId,
          targetId: json.data.id,
          detail: { category: 'legal_entities', change, fields: [...fields] },
        },
      ]);
    }
  });

  test('is silent without a difference', async () => {
    const people = await createPeople();
    const { id } = await add(people.asAda);
    const since = watch(people);
    for (const body of [{}, PLAIN, OPTIONAL])
      expect((await people.asAda('PATCH', PATH, { id, ...body })).status).toBe(200);
    expect([since.events(), since.audits()]).toEqual([SILENCE, []]);
  });
});
