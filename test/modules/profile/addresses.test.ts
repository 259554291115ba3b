import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '@/core/clock.ts';
import { START } from '../../support/instance.ts';
import { type Call, createPeople, INVALID, LONG, NOT_FOUND, refused, SILENCE, toldOnce, watch } from './people.ts';

const PATH = '/profile/addresses';
const HOME = {
  kind: 'shipping',
  recipient: 'Ada Lovelace',
  line1: '12 St James’s Square',
  city: 'London',
  country: 'GB',
};
const WHOLE = {
  kind: 'billing',
  label: 'Office',
  recipient: 'Ada Lovelace',
  company: 'Engines Ltd',
  line1: '12 St James’s Square',
  line2: '2nd floor',
  city: 'London',
  region: 'Greater London',
  postalCode: 'SW1Y 4JH',
  country: 'GB',
  phone: '+44 (20) 7946-0018 ext. 12',
};
const OPTIONAL = { label: null, company: null, line2: null, region: null, postalCode: null, phone: null };
const REQUIRED = ['recipient', 'line1', 'city', 'country'];

const add = async (call: Call, input: object = {}) => (await call('POST', PATH, { ...HOME, ...input })).json.data;
const list = async (call: Call, query = '') => (await call('GET', PATH + query)).json.data.items;
/** Returns the ids of the defaults by kind. */
const defaults = async (call: Call) =>
  (await list(call))
    .filter(({ isDefault }: { isDefault: boolean }) => isDefault)
    .map(({ id, kind }: Record<string, string>) => [kind, id])
    .sort();

describe('the addresses', () => {
  test('are empty at first; an address is answered as it is listed', async () => {
    const { asAda } = await createPeople();
    expect((await asAda('GET', PATH)).json).toEqual({ success: true, data: { items: [], nextCursor: null } });
    const { status, json } = await asAda('POST', PATH, WHOLE);
    const times = { createdAt: isoTime(START), updatedAt: isoTime(START) };
    expect([status, json.data]).toEqual([
      200,
      { id: expect.stringMatching(/^adr_[0-9a-z]{26}$/), ...WHOLE, isDefault: true, ...times },
    ]);
    const home = await add(asAda);
    expect(home).toEqual({ id: home.id, ...HOME, ...OPTIONAL, isDefault: true, ...times });
    expect(await list(asAda)).toEqual([json.data, home]);
  });

  test('are filtered by kind on request, oldest first', async () => {
    const { instance, asAda } = await createPeople();
    const [a, b, c] = [await add(asAda), await add(asAda, { kind: 'billing' }), await add(asAda)];
    expect(await list(asAda, '?kind=shipping')).toEqual([a, c]);
    expect(await list(asAda, '?kind=billing')).toEqual([b]);
    expect(await refused(instance, () => asAda('GET', `${PATH}?kind=home`))).toEqual(INVALID('kind'));
  });

  test('are stored in normal form', async () => {
    const { asAda } = await createPeople();
    const address = await add(asAda, {
      country: ' gb ',
      city: ' Mu\u0308nchen ',
      line2: '  ',
      phone: ' 030/123456 ',
      label: '<b>home</b>',
    });
    expect(address).toMatchObject({
      country: 'GB',
      city: 'M\u00fcnchen',
      line2: null,
      phone: '030/123456',
      label: '<b>home</b>',
    });
  });

  test('are limited to 50 in total, of any kind', async () => {
    const { instance, asAda, asBob } = await createPeople();
    for (let index = 0; index < 50; index += 1) await add(asAda, { kind: index % 2 ? 'billing' : 'shipping' });
    const oneMore = () => asAda('POST', PATH, HOME);
    expect(await refused(instance, oneMore)).toEqual({ status: 409, error: 'invalid_state', fields: [] });
    expect((await oneMore()).json.message).toContain('50');
    const all = await list(asAda);
    expect(all).toHaveLength(50);
    expect((await asBob('POST', PATH, HOME)).status).toBe(200);
    await asAda('DELETE', PATH, { id: all[0].id });
    expect((await oneMore()).status).toBe(200);
  });

  test('are visible and writable only to their person; for others they are not found', async () => {
    const { instance, asAda, asBob, as, adaInForum } = await createPeople();
    const { id } = await add(asAda);
    expect(await list(asBob)).toEqual([]);
    for (const call of [
      () => asBob('PATCH', PATH, { id, city: 'Paris' }),
      () => asBob('DELETE', PATH, { id }),
      () => asBob('DELETE', `${PATH}?id=${id}`),
      () => asAda('PATCH', PATH, { id: 'adr_01h455vb4pex5vsknk084sn02q' }),
      () => asAda('DELETE', PATH, { id: 'nonsense' }),
    ])
      expect(await refused(instance, call)).toEqual(NOT_FOUND);
    // They are hers in every application.
    expect(await list(as(adaInForum.token))).toHaveLength(1);
  });

  test('are shown to no backend, neither in the envelope nor in the user list', async () => {
    const { instance, shop, asAda, envelope } = await createPeople();
    await asAda('POST', PATH, WHOLE);
    const users = await instance.call('GET', `/api/applications/${shop.id}/users?include=profile`, {
      token: instance.workspaceKey,
    });
    for (const text of [users.text, JSON.stringify(await envelope()), JSON.stringify(instance.events(shop.id))])
      for (const value of [WHOLE.line1, WHOLE.postalCode, WHOLE.phone]) expect(text).not.toContain(value);
  });
});

describe('changing an address', () => {
  test('keeps omitted fields; null and blank clear', async () => {
    const { instance, asAda } = await createPeople();
    const before = (await asAda('POST', PATH, WHOLE)).json.data;
    instance.clock.advance(MINUTE);
    const patch = async (body: object) => (await asAda('PATCH', PATH, { id: before.id, ...body })).json.data;
    const updatedAt = isoTime(START + MINUTE);
    expect(await patch({ city: 'Paris', country: 'fr' })).toEqual({
      ...before,
      city: 'Paris',
      country: 'FR',
      updatedAt,
    });
    const cleared = { ...before, ...OPTIONAL, city: 'Paris', country: 'FR', updatedAt };
    expect(await patch({ ...OPTIONAL, line2: ' ' })).toEqual(cleared);
    expect(await list(asAda)).toEqual([cleared]);
  });

  test('can neither clear a required field nor change the kind', async () => {
    const { instance, asAda } = await createPeople();
    const { id } = await add(asAda);
    for (const field of REQUIRED)
      for (const blank of ['', ' \n ', null])
        expect(await refused(instance, () => asAda('PATCH', PATH, { id, [field]: blank }))).toEqual(INVALID(field));
    expect(await refused(instance, () => asAda('PATCH', PATH, { id, kind: 'billing' }))).toEqual(INVALID('kind'));
    expect((await asAda('PATCH', PATH, { id, kind: 'shipping', city: 'Paris' })).json.data.city).toBe('Paris');
  });

  test('concurrently with another change loses no named field', async () => {
    const { asAda, as, adaInForum } = await createPeople();
    const { id } = (await asAda('POST', PATH, WHOLE)).json.data;
    const elsewhere = as(adaInForum.token);
    await Promise.all([
      asAda('PATCH', PATH, { id, city: 'Paris' }),
      elsewhere('PATCH', PATH, { id, phone: '1' }),
      asAda('PATCH', PATH, { id, label: null }),
      elsewhere('PATCH', PATH, { id, country: 'FR' }),
    ]);
    const [address] = await list(asAda);
    expect(address).toMatchObject({ ...WHOLE, city: 'Paris', phone: '1', label: null, country: 'FR' });
  });
});

describe('the default address', () => {
  test('is the first of each kind, even if not requested, until another is made the default', async () => {
    const { asAda } = await createPeople();
    const a = await add(asAda, { isDefault: false });
    const b = await add(asAda);
    const c = await add(asAda, { kind: 'billing' });
    expect([a.isDefault, b.isDefault, c.isDefault]).toEqual([true, false, true]);
    const d = await add(asAda, { isDefault: true });
    expect(await defaults(asAda)).toEqual([
      ['billing', c.id],
      ['shipping', d.id],
    ]);
    expect((await asAda('PATCH', PATH, { id: b.id, isDefault: true })).json.data.isDefault).toBe(true);
    expect(await defaults(asAda)).toEqual([
      ['billing', c.id],
      ['shipping', b.id],
    ]);
  });

  test('cannot be unset without a successor, and the error says how', async () => {
    const { instance, asAda } = await createPeople();
    const [a, b] = [await add(asAda), await add(asAda)];
    const unset = () => asAda('PATCH', PATH, { id: a.id, isDefault: false });
    expect(await refused(instance, unset)).toEqual(INVALID('isDefault'));
    expect((await unset()).json.fields[0].message).toContain('make another one the default');
    expect((await asAda('PATCH', PATH, { id: b.id, isDefault: false })).status).toBe(200);
    expect(await defaults(asAda)).toEqual([['shipping', a.id]]);
  });

  test('is succeeded by the oldest of its kind when it is deleted; the other kind keeps its own', async () => {
    const { asAda } = await createPeople();
    const [a, b, c] = [await add(asAda), await add(asAda), await add(asAda, { isDefault: true })];
    const billing = await add(asAda, { kind: 'billing' });
    const remove = (id: string) => asAda('DELETE', PATH, { id });
    expect((await remove(c.id)).json).toEqual({ success: true, data: { id: c.id } });
    expect(await defaults(asAda)).toEqual([
      ['billing', billing.id],
      ['shipping', a.id],
    ]);
    await remove(a.id);
    expect(await defaults(asAda)).toEqual([
      ['billing', billing.id],
      ['shipping', b.id],
    ]);
    await remove(b.id);
    expect(await defaults(asAda)).toEqual([['billing', billing.id]]);
    expect((await add(asAda)).isDefault).toBe(true);
  });

  test('stays if another address is deleted', async () => {
    const { asAda } = await createPeople();
    const [a, b] = [await add(asAda), await add(asAda)];
    await asAda('DELETE', `${PATH}?id=${b.id}`);
    expect(await defaults(asAda)).toEqual([['shipping', a.id]]);
  });

  test('is exactly one after any number of concurrent claims', async () => {
    const { asAda } = await createPeople();
    const made = await Promise.all(Array.from({ length: 8 }, () => add(asAda, { isDefault: true })));
    await Promise.all(made.map(({ id }) => asAda('PATCH', PATH, { id, isDefault: true })));
    expect(await defaults(asAda)).toHaveLength(1);
  });
});

describe('an address', () => {
  test.each([
    ['kind', 'home'],
    ['kind', null],
    ['recipient', ''],
    ['recipient', 'x'.repeat(101)],
    ['recipient', 'over\u202eride'],
    ['line1', 'x'.repeat(201)],
    ['line1', 'two\nlines'],
    ['city', 'nul\0byte'],
    ['region', 'lone\ud800half'],
    ['label', 'zero\u200bwidth'],
    ['postalCode', '1'.repeat(21)],
    ['country', 'UK'],
    ['country', 'United Kingdom'],
    ['country', 'GBR'],
    ['phone', 'call me maybe'],
    ['phone', '+'],
    ['phone', '1'.repeat(41)],
    ['phone', '030-1234;ext=5'],
    ['phone', '\u202a+1 555 0100\u202c'],
    ['isDefault', 'yes'],
    ['isDefault', null],
    ['line1', 12],
    ['line2', { text: 'x' }],
    ['userId', 'usr_01h455vb4pex5vsknk084sn02q'],
    ['createdAt', '2020-01-01T00:00:00.000Z'],
  ])('an address with %s as %j is refused by POST and by PATCH', async (field, value) => {
    const { instance, asAda } = await createPeople();
    const { id } = await add(asAda);
    const sent = typeof value === 'string' && value.length > 8 ? value : undefined;
    expect(await refused(instance, () => asAda('POST', PATH, { ...HOME, [field]: value }), sent)).toEqual(
      INVALID(field),
    );
    expect(await refused(instance, () => asAda('PATCH', PATH, { id, [field]: value }), sent)).toEqual(INVALID(field));
  });

  test('an address with a field of 64 KiB is refused', async () => {
    const { instance, asAda } = await createPeople();
    const { id } = await add(asAda);
    for (const field of [...REQUIRED, ...Object.keys(OPTIONAL), 'kind', 'id'])
      expect(await refused(instance, () => asAda('PATCH', PATH, { id, [field]: LONG }), LONG)).toEqual(INVALID(field));
  });

  test('an address without its required fields is refused with all their names', async () => {
    const { instance, asAda } = await createPeople();
    expect(await refused(instance, () => asAda('POST', PATH, {}))).toEqual(INVALID('kind', ...REQUIRED));
    expect(await refused(instance, () => asAda('POST', PATH, { ...HOME, id: 'adr_1' }))).toEqual(INVALID('id'));
    expect(await refused(instance, () => asAda('PATCH', PATH, { city: 'Paris' }))).toEqual(INVALID('id'));
  });

  test('an address with the key __proto__ is refused', async () => {
    const { instance, asAda } = await createPeople();
    const body = JSON.stringify(HOME).replace('{', '{"__proto__":{"isDefault":true},');
    expect(await refused(instance, () => asAda('POST', PATH, body))).toEqual(INVALID('__proto__'));
  });

  test.each(['+43 1 234567', '(0)30/123-456', '555.0100x12', '555 0100 ext 4', '555 0100 EXT. 4', '112'])(
    'accepts a telephone number like %j',
    async (phone) => {
      const { asAda } = await createPeople();
      expect((await add(asAda, { phone })).phone).toBe(phone);
    },
  );

  test('is deleted only with exactly one id', async () => {
    const { instance, asAda } = await createPeople();
    const [a, b] = [await add(asAda), await add(asAda)];
    const remove = (query: string, body?: object) => refused(instance, () => asAda('DELETE', PATH + query, body));
    expect(await remove('')).toEqual(INVALID('id'));
    expect(await remove('', {})).toEqual(INVALID('id'));
    expect(await remove('?id=')).toEqual(INVALID('id'));
    expect(await remove(`?id=${a.id}`, { id: b.id })).toEqual(INVALID('id'));
    expect((await asAda('DELETE', `${PATH}?id=${a.id}`, { id: a.id })).status).toBe(200);
    // A deleted address is not found.
    expect(await remove(`?id=${a.id}`)).toEqual(NOT_FOUND);
  });
});

describe('a change of the addresses', () => {
  test('is one event per application and one record, even if another default is unset', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    const first = await add(asAda);
    const changes = [
      ['POST', { ...HOME, isDefault: true }, 'added', ['kind', 'recipient', 'line1', 'city', 'country', 'isDefault']],
      ['PATCH', { id: first.id, isDefault: true, city: 'Paris' }, 'changed', ['city', 'isDefault']],
      ['DELETE', { id: first.id }, 'removed', []],
    ] as const;
    for (const [method, body, change, fields] of changes) {
      const since = watch(people);
      const { status, json } = await asAda(method, PATH, body);
      expect(status).toBe(200);
      expect(since.events()).toEqual(toldOnce(ada.userId, ['addresses']));
      expect(since.audits()).toEqual([
        {
          kind: 'account.profile_changed',
          applicationId: shop.id,
          userId: ada.userId,
          targetId: json.data.id,
          detail: { category: 'addresses', change, fields: [...fields] },
        },
      ]);
    }
  });

  test('is silent without a difference and keeps the time of the last change', async () => {
    const people = await createPeople();
    const { asAda, instance } = people;
    const before = (await asAda('POST', PATH, WHOLE)).json.data;
    instance.clock.advance(MINUTE);
    const since = watch(people);
    for (const body of [{}, WHOLE, { isDefault: true, country: 'gb' }, { city: ' London ' }])
      expect((await asAda('PATCH', PATH, { id: before.id, ...body })).json.data).toEqual(before);
    expect([since.events(), since.audits()]).toEqual([SILENCE, []]);
  });
});
