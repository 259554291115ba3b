import { describe, expect, test } from 'bun:test';
import { createPeople, INVALID, LONG, NOT_FOUND, refused, SILENCE, toldOnce, watch } from './people.ts';

const PATH = '/profile/languages';
const GERMAN = { code: 'de-AT', level: 'NATIVE' };
const FRENCH = { code: 'fr', level: 'FLUENT' };

/** Well-formed tags of two and three letters. */
const tag = (index: number) => `x${String.fromCharCode(97 + (index % 26))}${index < 26 ? '' : 'a'}`;

describe('the languages', () => {
  test('are empty at first, are stored in canonical form, and are listed by tag', async () => {
    const { asAda } = await createPeople();
    expect((await asAda('GET', PATH)).json).toEqual({ success: true, data: { items: [], nextCursor: null } });
    await asAda('POST', PATH, FRENCH);
    const { status, json } = await asAda('POST', PATH, { code: ' DE-at ', level: 'NATIVE' });
    expect([status, json]).toEqual([200, { success: true, data: GERMAN }]);
    expect((await asAda('GET', PATH)).json.data).toEqual({ items: [GERMAN, FRENCH], nextCursor: null });
  });

  test('stay the same if added again at the same level; another level is a conflict that names PATCH', async () => {
    const { instance, asAda } = await createPeople();
    await asAda('POST', PATH, GERMAN);
    expect((await asAda('POST', PATH, { ...GERMAN, code: 'DE-AT' })).json.data).toEqual(GERMAN);
    const conflict = { status: 409, error: 'conflict', fields: [] };
    const again = () => asAda('POST', PATH, { ...GERMAN, level: 'BASIC' });
    expect(await refused(instance, again)).toEqual(conflict);
    expect((await again()).json.message).toContain('PATCH');
  });

  test('change their level and nothing else', async () => {
    const { asAda } = await createPeople();
    for (const language of [GERMAN, FRENCH]) await asAda('POST', PATH, language);
    expect((await asAda('PATCH', PATH, { code: 'FR', level: 'BASIC' })).json.data).toEqual({
      ...FRENCH,
      level: 'BASIC',
    });
    expect((await asAda('GET', PATH)).json.data.items).toEqual([GERMAN, { ...FRENCH, level: 'BASIC' }]);
  });

  test('are deleted by a code in the body or in the query', async () => {
    const { asAda } = await createPeople();
    for (const language of [GERMAN, FRENCH]) await asAda('POST', PATH, language);
    expect((await asAda('DELETE', PATH, { code: 'FR' })).json).toEqual({ success: true, data: { code: 'fr' } });
    expect((await asAda('GET', PATH)).json.data.items).toEqual([GERMAN]);
    expect((await asAda('DELETE', `${PATH}?code=de-AT`)).json.data).toEqual({ code: 'de-AT' });
    expect((await asAda('GET', PATH)).json.data.items).toEqual([]);
  });

  test('unknown languages are not found', async () => {
    const { instance, asAda, asBob } = await createPeople();
    await asAda('POST', PATH, GERMAN);
    for (const call of [
      () => asBob('PATCH', PATH, { ...GERMAN, level: 'BASIC' }),
      () => asBob('DELETE', PATH, { code: GERMAN.code }),
      () => asAda('DELETE', `${PATH}?code=de`),
    ])
      expect(await refused(instance, call)).toEqual(NOT_FOUND);
    expect((await asBob('GET', PATH)).json.data.items).toEqual([]);
  });

  test('are limited to 50; existing ones can still be added again', async () => {
    const { instance, asAda } = await createPeople();
    for (let index = 0; index < 50; index += 1)
      expect((await asAda('POST', PATH, { code: tag(index), level: 'BASIC' })).status).toBe(200);
    const oneMore = () => asAda('POST', PATH, GERMAN);
    expect(await refused(instance, oneMore)).toEqual({ status: 409, error: 'invalid_state', fields: [] });
    expect((await oneMore()).json.message).toContain('50');
    expect((await asAda('POST', PATH, { code: tag(0), level: 'BASIC' })).status).toBe(200);
    expect((await asAda('GET', PATH)).json.data.items).toHaveLength(50);
    await asAda('DELETE', PATH, { code: tag(0) });
    expect((await oneMore()).status).toBe(200);
  });

  test.each([
    [{ code: 'de' }, 'level'],
    [{ level: 'BASIC' }, 'code'],
    [{ code: 'de', level: 'GOOD' }, 'level'],
    [{ code: 'de', level: 'native' }, 'level'],
    [{ code: 'German language', level: 'BASIC' }, 'code'],
    [{ code: '', level: 'BASIC' }, 'code'],
    [{ code: null, level: 'BASIC' }, 'code'],
    [{ code: 'd\ud800e', level: 'BASIC' }, 'code'],
    [{ code: 'de\0', level: 'BASIC' }, 'code'],
    [{ code: ['de'], level: 'BASIC' }, 'code'],
    [{ ...GERMAN, name: 'German' }, 'name'],
  ])('are refused by POST and PATCH if the body is %j', async (body, field) => {
    const { instance, asAda } = await createPeople();
    for (const method of ['POST', 'PATCH'])
      expect(await refused(instance, () => asAda(method, PATH, body))).toEqual(INVALID(field));
  });

  test('accept no code of 64 KiB', async () => {
    const { instance, asAda } = await createPeople();
    for (const method of ['POST', 'PATCH'])
      expect(await refused(instance, () => asAda(method, PATH, { code: LONG, level: 'BASIC' }), LONG)).toEqual(
        INVALID('code'),
      );
    expect(await refused(instance, () => asAda('DELETE', PATH, { code: LONG }), LONG)).toEqual(INVALID('code'));
  });

  test('are deleted by exactly one code', async () => {
    const { instance, asAda } = await createPeople();
    for (const language of [GERMAN, FRENCH]) await asAda('POST', PATH, language);
    expect(await refused(instance, () => asAda('DELETE', PATH))).toEqual(INVALID('code'));
    expect(await refused(instance, () => asAda('DELETE', PATH, {}))).toEqual(INVALID('code'));
    expect(await refused(instance, () => asAda('DELETE', `${PATH}?code=fr`, { code: 'de-AT' }))).toEqual(
      INVALID('code'),
    );
    expect(await refused(instance, () => asAda('DELETE', `${PATH}?code=%00`))).toEqual(INVALID('code'));
    expect((await asAda('DELETE', `${PATH}?code=fr`, { code: 'fr' })).status).toBe(200);
  });
});

describe('a change of the languages', () => {
  test('is one event per application and one record', async () => {
    const people = await createPeople();
    const { asAda, ada, shop } = people;
    const steps = [
      ['POST', GERMAN, 'added', ['code', 'level']],
      ['PATCH', { ...GERMAN, level: 'BASIC' }, 'changed', ['level']],
      ['DELETE', { code: GERMAN.code }, 'removed', []],
    ] as const;
    for (const [method, body, change, fields] of steps) {
      const since = watch(people);
      expect((await asAda(method, PATH, body)).status).toBe(200);
      expect(since.events()).toEqual(toldOnce(ada.userId, ['languages']));
      expect(since.audits()).toEqual([
        {
          kind: 'account.profile_changed',
          applicationId: shop.id,
          userId: ada.userId,
          targetId: null,
          detail: { category: 'languages', change, fields: [...fields] },
        },
      ]);
    }
  });

  test('is silent without a difference', async () => {
    const people = await createPeople();
    await people.asAda('POST', PATH, GERMAN);
    const since = watch(people);
    for (const method of ['POST', 'PATCH']) expect((await people.asAda(method, PATH, GERMAN)).status).toBe(200);
    expect([since.events(), since.audits()]).toEqual([SILENCE, []]);
  });

  test('is visible to the application’s backend in its user list', async () => {
    const { instance, shop, asAda } = await createPeople();
    await asAda('POST', PATH, GERMAN);
    const { json } = await instance.call('GET', `/api/applications/${shop.id}/users?include=profile`, {
      token: instance.workspaceKey,
    });
    const entry = json.data.items.find(({ email }: { email: string }) => email === 'ada@example.com');
    expect(entry.profile.languages).toEqual([GERMAN]);
  });
});
