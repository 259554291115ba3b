import { describe, expect, test } from 'bun:test';
import { createPeople, SILENCE, watch } from './people.ts';

const IMPORTED = {
  username: 'imported',
  givenName: 'Imported',
  familyName: 'Person',
  fullName: 'Imported Person',
  locale: 'en',
  timezone: 'UTC',
  languages: [{ code: 'en', level: 'BASIC' }],
};

/** 500 people, among them Ada and Bob. */
function rows(profile: object) {
  const others = Array.from({ length: 498 }, (_, index) => ({
    email: `p${index}@example.com`,
    profile: { ...profile, username: `person${index}` },
  }));
  return [{ email: 'ada@example.com', profile }, { email: 'bob@example.com', profile: {} }, ...others];
}

describe('an import of 500 and a person’s own edits', () => {
  test('fills blanks and never overwrites, before and after the edits', async () => {
    const people = await createPeople();
    const { instance, shop, asAda, envelope } = people;
    const load = async (profile: object) => {
      const { status, json } = await instance.call('POST', `/api/applications/${shop.id}/users/bulk`, {
        token: instance.workspaceKey,
        body: { users: rows(profile) },
      });
      expect([status, json.data.summary.skipped]).toEqual([200, 0]);
    };
    const { fullName, ...withoutFullName } = IMPORTED;
    await load(withoutFullName);
    expect(await envelope()).toMatchObject({
      username: 'imported',
      givenName: 'Imported',
      fullName: 'Imported Person',
    });

    await asAda('PATCH', '/profile/identity', { givenName: 'Ada', familyName: null, timezone: 'Europe/London' });
    await asAda('PATCH', '/username', { username: 'ada' });
    await asAda('PATCH', '/profile/languages', { code: 'en', level: 'NATIVE' });
    await asAda('POST', '/profile/languages', { code: 'fr', level: 'FLUENT' });

    const since = watch(people);
    await load(IMPORTED);
    expect((await asAda('GET', '/profile/identity')).json.data).toEqual({
      fullName,
      givenName: 'Ada',
      // She has cleared it, so it counts as blank.
      familyName: 'Person',
      locale: 'en',
      timezone: 'Europe/London',
      name: fullName,
    });
    expect((await envelope()).username).toBe('ada');
    expect((await asAda('GET', '/profile/languages')).json.data.items).toEqual([
      { code: 'en', level: 'NATIVE' },
      { code: 'fr', level: 'FLUENT' },
    ]);
    const { forum } = since.events();
    expect(forum).toEqual([
      {
        type: 'user.profile_updated',
        data: expect.objectContaining({ categories: ['identity'], changed: ['familyName', 'fullName'] }),
      },
    ]);

    const again = watch(people);
    await load(IMPORTED);
    expect(again.events()).toEqual(SILENCE);
  });
});
