import { describe, expect, test } from 'bun:test';
import { listen } from '../live/listen.ts';
import { createPeople, INVALID, LONG, refused, SILENCE, toldOnce, watch } from './people.ts';

const PATH = '/profile/region';

const WHOLE = {
  country: 'AT',
  uiLocale: 'de-AT',
  timeZone: 'Europe/Vienna',
  currency: 'EUR',
  measurementSystem: 'metric',
};
const NONE = { country: null, uiLocale: null, timeZone: null, currency: null, measurementSystem: null };

describe('the region', () => {
  test('is null until it is set', async () => {
    const { asAda, envelope } = await createPeople();
    expect((await asAda('GET', PATH)).json).toEqual({ success: true, data: null });
    const put = await asAda('PUT', PATH, WHOLE);
    expect([put.status, put.json]).toEqual([200, { success: true, data: WHOLE }]);
    expect((await asAda('GET', PATH)).json.data).toEqual(WHOLE);
    expect((await envelope()).region).toEqual(WHOLE);
  });

  test('is replaced by PUT: omitted parts become null', async () => {
    const { asAda } = await createPeople();
    await asAda('PUT', PATH, WHOLE);
    const put = await asAda('PUT', PATH, { country: 'CH', currency: 'CHF' });
    expect(put.json.data).toEqual({ ...NONE, country: 'CH', currency: 'CHF' });
    expect((await asAda('PUT', PATH, {})).json.data).toBeNull();
  });

  test('is merged by PATCH: omitted parts stay, null and blank clear', async () => {
    const { asAda } = await createPeople();
    const patch = async (body: object) => (await asAda('PATCH', PATH, body)).json.data;
    expect(await patch({ currency: 'eur' })).toEqual({ ...NONE, currency: 'EUR' });
    expect(await patch({ country: 'at', uiLocale: 'DE-at' })).toEqual({
      ...NONE,
      country: 'AT',
      uiLocale: 'de-AT',
      currency: 'EUR',
    });
    expect(await patch({ currency: null, uiLocale: ' ' })).toEqual({ ...NONE, country: 'AT' });
    expect(await patch({})).toEqual({ ...NONE, country: 'AT' });
  });

  test('a region with only null parts is null', async () => {
    const { instance, asAda, envelope } = await createPeople();
    const stored = () => instance.sqlite.query("SELECT region FROM users WHERE email = 'ada@example.com'").get();
    for (const [method, body] of [
      ['PATCH', NONE],
      ['PUT', NONE],
      ['PUT', {}],
      ['DELETE', undefined],
    ] as const) {
      await asAda('PUT', PATH, WHOLE);
      expect((await asAda(method, PATH, body)).json).toEqual({ success: true, data: null });
      expect([(await envelope()).region, stored()]).toEqual([null, { region: null }]);
    }
  });

  test.each([
    ['country', 'UK'],
    ['country', 'ZZ'],
    ['country', 'Austria!'],
    ['uiLocale', 'de_AT.UTF-8'],
    ['uiLocale', 'de\0AT-x'],
    ['timeZone', 'Europe/Atlantis'],
    ['timeZone', '\ud800'],
    ['currency', 'EURO€'],
    ['currency', 'XXX'],
    ['measurementSystem', 'nautical'],
    ['measurementSystem', 'METRIC'],
    ['country', 40],
    ['measurementSystem', []],
    ['timezone', 'Europe/Vienna'],
  ])('accepts %s as %j neither by PUT nor by PATCH', async (field, value) => {
    const { instance, asAda } = await createPeople();
    const sent = typeof value === 'string' && value.length > 7 ? value : undefined;
    for (const method of ['PUT', 'PATCH'])
      expect(await refused(instance, () => asAda(method, PATH, { [field]: value }), sent)).toEqual(INVALID(field));
  });

  test('accepts no part of 64 KiB', async () => {
    const { instance, asAda } = await createPeople();
    for (const field of Object.keys(WHOLE))
      expect(await refused(instance, () => asAda('PUT', PATH, { [field]: LONG }), LONG)).toEqual(INVALID(field));
  });

  test('is separate for each person', async () => {
    const { asAda, asBob } = await createPeople();
    await asAda('PUT', PATH, WHOLE);
    expect((await asBob('GET', PATH)).json.data).toBeNull();
    await asBob('DELETE', PATH);
    expect((await asAda('GET', PATH)).json.data).toEqual(WHOLE);
  });
});

describe('a change of the region', () => {
  test('is one event per application and one record, with either method', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    const steps = [
      ['PUT', { country: 'AT' }, 'changed', ['country']],
      ['PATCH', { country: 'AT', currency: 'EUR' }, 'changed', ['currency']],
      ['PUT', { currency: 'CHF' }, 'changed', ['country', 'currency']],
      ['DELETE', undefined, 'removed', ['currency']],
    ] as const;
    for (const [method, body, change, fields] of steps) {
      const since = watch(people);
      expect((await asAda(method, PATH, body)).status).toBe(200);
      expect(since.events()).toEqual(toldOnce(ada.userId, ['region']));
      expect(since.audits()).toEqual([
        {
          kind: 'account.profile_changed',
          applicationId: shop.id,
          userId: ada.userId,
          targetId: null,
          detail: { category: 'region', change, fields: [...fields] },
        },
      ]);
    }
  });

  test('is silent without a difference', async () => {
    const people = await createPeople();
    const { asAda } = people;
    const empty = watch(people);
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PUT', {}],
      ['PATCH', NONE],
    ] as const)
      expect((await asAda(method, PATH, body)).json.data).toBeNull();
    expect([empty.events(), empty.audits()]).toEqual([SILENCE, []]);
    await asAda('PUT', PATH, WHOLE);
    const since = watch(people);
    for (const method of ['PUT', 'PATCH']) expect((await asAda(method, PATH, WHOLE)).json.data).toEqual(WHOLE);
    expect([since.events(), since.audits()]).toEqual([SILENCE, []]);
  });

  test('never loses a part of a concurrent change', async () => {
    const { asAda, as, adaInForum } = await createPeople();
    const elsewhere = as(adaInForum.token);
    await Promise.all([
      asAda('PATCH', PATH, { country: 'AT' }),
      elsewhere('PATCH', PATH, { currency: 'EUR' }),
      asAda('PATCH', PATH, { timeZone: 'Europe/Vienna' }),
      elsewhere('PATCH', PATH, { uiLocale: 'de-AT', measurementSystem: 'metric' }),
    ]);
    expect((await asAda('GET', PATH)).json.data).toEqual(WHOLE);
  });

  test('is in the live stream at once', async () => {
    const { instance, adaInForum, asAda } = await createPeople();
    const stream = await listen(instance, adaInForum.token);
    await stream.told();
    await asAda('PUT', PATH, WHOLE);
    expect((await stream.told()).map(({ event, data }) => [event, data.region])).toEqual([['profile', WHOLE]]);
    await asAda('DELETE', PATH);
    expect((await stream.told()).map(({ event, data }) => [event, data.region])).toEqual([['profile', null]]);
    await stream.leave();
  });
});
