import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { listen } from '../live/listen.ts';
import { createPeople, INVALID, LONG, refused, SILENCE, toldOnce, watch } from './people.ts';

const PATH = '/profile/identity';

const NOBODY = { fullName: null, givenName: null, familyName: null, locale: null, timezone: null, name: null };

const WHOLE = {
  fullName: 'Ada King, Countess of Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  locale: 'en-GB',
  timezone: 'Europe/London',
};

describe('the identity', () => {
  test('is empty at first, and answered whole after a change', async () => {
    const { asAda } = await createPeople();
    expect((await asAda('GET', PATH)).json).toEqual({ success: true, data: NOBODY });
    const { status, json } = await asAda('PATCH', PATH, WHOLE);
    expect([status, json]).toEqual([200, { success: true, data: { ...WHOLE, name: WHOLE.fullName } }]);
    expect((await asAda('GET', PATH)).json).toEqual(json);
  });

  test('keeps omitted fields; null and blank clear', async () => {
    const { asAda } = await createPeople();
    await asAda('PATCH', PATH, WHOLE);
    const patch = async (body: object) => (await asAda('PATCH', PATH, body)).json.data;
    expect(await patch({})).toEqual({ ...WHOLE, name: WHOLE.fullName });
    expect(await patch({ fullName: null })).toEqual({ ...WHOLE, fullName: null, name: 'Ada Lovelace' });
    expect(await patch({ familyName: '', timezone: ' \u00a0 ' })).toEqual({
      ...NOBODY,
      givenName: 'Ada',
      locale: 'en-GB',
      name: 'Ada',
    });
    expect(await patch({ givenName: null, locale: null })).toEqual(NOBODY);
  });

  test('is stored in normal form', async () => {
    const { asAda } = await createPeople();
    const { json } = await asAda('PATCH', PATH, {
      fullName: '  Zoe\u0308  ',
      locale: ' zh-hans-cn ',
      timezone: 'europe/london',
    });
    expect(json.data).toMatchObject({ fullName: 'Zo\u00eb', locale: 'zh-Hans-CN', timezone: 'Europe/London' });
  });

  test('may contain any script and emoji; HTML is plain text', async () => {
    const { asAda } = await createPeople();
    for (const fullName of [
      'علی\u200cرضا',
      'മോഹന്\u200d',
      '葛\u{e0100}城',
      'Ada 👩🏽‍🚀',
      '<img src=x onerror=alert(1)>',
      '😀'.repeat(100),
    ])
      expect((await asAda('PATCH', PATH, { fullName })).json.data.fullName).toBe(fullName);
  });

  test.each([
    ['fullName', 'x'.repeat(101)],
    ['fullName', 'two\nlines'],
    ['givenName', 'nul\0'.concat('x')],
    ['givenName', 'over\u202eride'],
    ['givenName', 'zero\u200bwidth'],
    ['familyName', 'lone\ud800half'],
    ['familyName', '\u3164'],
    ['locale', 'English please'],
    ['locale', 'de_AT'],
    ['timezone', 'Mars/Olympus'],
    ['timezone', '+01:00'],
    ['fullName', 5],
    ['fullName', ['Ada']],
    ['locale', { toString: 'en' }],
    ['name', 'Ada'],
    ['email', 'eve@example.com'],
  ])('%s cannot be %j: the error names the field and does not repeat the value', async (field, value) => {
    const { instance, asAda } = await createPeople();
    const sent = typeof value === 'string' && value.length > 5 ? value : undefined;
    expect(await refused(instance, () => asAda('PATCH', PATH, { [field]: value }), sent)).toEqual(INVALID(field));
  });

  test('accepts no field of 64 KiB', async () => {
    const { instance, asAda } = await createPeople();
    for (const field of Object.keys(WHOLE))
      expect(await refused(instance, () => asAda('PATCH', PATH, { [field]: LONG }), LONG)).toEqual(INVALID(field));
  });

  test('is refused as a whole with the names of all invalid fields', async () => {
    const { instance, asAda } = await createPeople();
    const body = { fullName: 'Ada', givenName: 'a\nb', locale: '!', timezone: '?' };
    expect(await refused(instance, () => asAda('PATCH', PATH, body))).toEqual(
      INVALID('givenName', 'locale', 'timezone'),
    );
  });

  test('does not accept the key __proto__', async () => {
    const { instance, asAda } = await createPeople();
    for (const body of [
      '{"__proto__":{"fullName":"Eve"}}',
      '{"constructor":{"prototype":{}}}',
      '{"fullName":{"__proto__":"x"}}',
    ])
      expect((await refused(instance, () => asAda('PATCH', PATH, body))).error).toBe('invalid_request');
    expect(({} as { fullName?: string }).fullName).toBeUndefined();
  });
});

describe('a change of the identity', () => {
  test('is one event per application with the changed fields, and one record without values', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    await asAda('PATCH', PATH, { givenName: 'Ada', locale: 'en' });
    const since = watch(people);
    await asAda('PATCH', PATH, { givenName: 'Ada', familyName: 'Lovelace', locale: null });
    expect(since.events()).toEqual(
      toldOnce(ada.userId, ['identity'], { name: 'Ada Lovelace', changed: ['familyName', 'locale'] }),
    );
    expect(since.audits()).toEqual([
      {
        kind: 'account.profile_changed',
        applicationId: shop.id,
        userId: ada.userId,
        targetId: null,
        detail: { category: 'identity', change: 'changed', fields: ['familyName', 'locale'] },
      },
    ]);
  });

  test('is silent without a difference', async () => {
    const people = await createPeople();
    await people.asAda('PATCH', PATH, WHOLE);
    people.instance.clock.advance(MINUTE);
    const since = watch(people);
    const before = people.instance.sqlite.query('SELECT * FROM users').all();
    for (const body of [{}, WHOLE, { locale: 'EN-gb', givenName: ' Ada ' }])
      expect((await people.asAda('PATCH', PATH, body)).status).toBe(200);
    expect(since.events()).toEqual(SILENCE);
    expect(since.audits()).toEqual([]);
    expect(people.instance.sqlite.query('SELECT * FROM users').all()).toEqual(before);
  });

  test('is in the envelope and the live stream at once, in every application', async () => {
    const people = await createPeople();
    const { instance, ada, adaInForum, bob, asAda, envelope } = people;
    const streams = await Promise.all([ada, adaInForum, bob].map(({ token }) => listen(instance, token)));
    for (const stream of streams) await stream.told();
    await asAda('PATCH', PATH, WHOLE);
    for (const token of [ada.token, adaInForum.token])
      expect(await envelope(token)).toMatchObject({ ...WHOLE, name: WHOLE.fullName });
    for (const stream of streams.slice(0, 2)) {
      const [message, ...rest] = await stream.told();
      expect([message!.event, rest]).toEqual(['profile', []]);
      expect(message!.data).toMatchObject(WHOLE);
    }
    expect(await streams[2]!.told()).toEqual([]);
    expect(await envelope(bob.token)).toMatchObject({ fullName: '', locale: 'en' });
    for (const stream of streams) await stream.leave();
  });

  test('never loses a field of a concurrent change', async () => {
    const { asAda, as, adaInForum } = await createPeople();
    const elsewhere = as(adaInForum.token);
    await asAda('PATCH', PATH, WHOLE);
    await Promise.all([
      asAda('PATCH', PATH, { givenName: 'Augusta' }),
      elsewhere('PATCH', PATH, { familyName: 'Byron' }),
      asAda('PATCH', PATH, { locale: null }),
      elsewhere('PATCH', PATH, { timezone: 'UTC' }),
    ]);
    expect((await asAda('GET', PATH)).json.data).toEqual({
      fullName: WHOLE.fullName,
      givenName: 'Augusta',
      familyName: 'Byron',
      locale: null,
      timezone: 'UTC',
      name: WHOLE.fullName,
    });
  });
});
