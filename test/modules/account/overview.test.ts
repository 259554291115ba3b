import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { HOUR, isoTime } from '@/core/clock.ts';
import type { SessionPrincipal } from '@/core/principal.ts';
import { overviewService } from '@/modules/account/overview.ts';
import { countingReader } from '../../support/database.ts';
import * as given from '../../support/given.ts';
import { START } from '../../support/instance.ts';
import { createPeople } from '../profile/people.ts';

const NOW = isoTime(START);

describe('the account overview', () => {
  test('contains the whole account as seen from the session’s application', async () => {
    const people = await createPeople();
    const { ada, shop, forum, club, asAda, as, adaInForum } = people;
    await asAda('PATCH', '/profile/identity', { givenName: 'Ada', locale: 'en' });
    await asAda('PATCH', '/username', { username: 'ada' });
    await asAda('PUT', '/profile/region', { country: 'GB' });
    const membership = ({ id, name, slug }: typeof shop, status: string, username: string | null = null) => ({
      applicationId: id,
      name,
      slug,
      status,
      username,
      joinedAt: NOW,
    });
    const { status, json } = await asAda('GET', '');
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        data: {
          userId: ada.userId,
          email: 'ada@example.com',
          emailVerifiedAt: NOW,
          identity: { fullName: null, givenName: 'Ada', familyName: null, locale: 'en', timezone: null, name: 'Ada' },
          username: 'ada',
          applicationId: shop.id,
          memberships: [membership(shop, 'active', 'ada'), membership(forum, 'active'), membership(club, 'left')],
          region: { country: 'GB', uiLocale: null, timeZone: null, currency: null, measurementSystem: null },
          avatarUrl: null,
          avatarSizes: null,
          avatarUpdatedAt: null,
          bannerSizes: null,
          bannerUpdatedAt: null,
          createdAt: NOW,
        },
      },
    ]);
    const fromForum = (await as(adaInForum.token)('GET', '')).json.data;
    expect(fromForum).toEqual({ ...json.data, applicationId: forum.id, username: null });
  });

  test('hides ban reasons, grants and hidden applications', async () => {
    const { instance, ada, forum, club, asAda } = await createPeople();
    await instance.services.users.act(SYSTEM_ACTOR, forum, ada.userId, 'ban', 'Trouble');
    await given.application(instance, club.id, { deletedAt: START, purgeAfter: START });
    const { text, json } = await asAda('GET', '');
    const { memberships } = json.data;
    expect(memberships.map(({ name, status }: Record<string, string>) => [name, status])).toEqual([
      ['Shop', 'active'],
      ['Forum', 'banned'],
    ]);
    expect(text).not.toContain('Trouble');
    expect(text).not.toContain('client');
    expect(text).toContain(ada.userId);
  });

  test('describes the pictures as the envelope does', async () => {
    const { instance, ada, asAda, envelope } = await createPeople();
    await given.person(instance, ada.userId, {
      avatarSizes: [128, 256, 1200],
      avatarUpdatedAt: START,
      bannerSizes: [768],
      bannerUpdatedAt: START,
    });
    const { avatarUrl, avatarSizes, avatarUpdatedAt, bannerSizes, bannerUpdatedAt } = await envelope();
    expect(avatarUrl).toContain('/avatar-256.webp?v=');
    const { data } = (await asAda('GET', '')).json;
    expect(data).toMatchObject({ avatarUrl, avatarSizes, avatarUpdatedAt, bannerSizes, bannerUpdatedAt });
  });
});

test('the account overview runs the same two statements for any number of memberships', async () => {
  const { instance, ada } = await createPeople();
  const { reader, count } = countingReader(instance.db.reader);
  const overview = overviewService({ ...instance, db: { ...instance.db, reader } });
  const principal = (await instance.services.verification.credentials.findSession(
    ada.token,
    instance.db.reader,
  )) as SessionPrincipal;
  expect((await overview.get(principal)).memberships).toHaveLength(3);
  const few = count();
  for (let number = 0; number < 5; number += 1) {
    const { clientId } = await instance.createApplication({ name: `Application ${number}` });
    await instance.signIn(clientId, 'ada@example.com');
    instance.clock.advance(HOUR);
  }
  expect((await overview.get(principal)).memberships).toHaveLength(8);
  expect([few, count() - few]).toEqual([2, 2]);
});

describe('the account operations', () => {
  test('are forbidden for API keys of any access', async () => {
    const { instance, shop, as } = await createPeople();
    const key = await instance.createKey(shop.id);
    for (const token of [instance.workspaceKey, key.token])
      for (const path of [
        '',
        '/profile/identity',
        '/profile/addresses',
        '/profile/entities',
        '/profile/languages',
        '/profile/region',
      ]) {
        const { status, json } = await as(token)('GET', path);
        expect([path, status, json.error]).toEqual([path, 403, 'forbidden']);
      }
  });

  test('are refused at once to a person who is banned or has signed out', async () => {
    const { instance, shop, ada, bob, asAda, asBob } = await createPeople();
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect((await asAda('PATCH', '/profile/identity', { givenName: 'Ada' })).status).toBe(401);
    await instance.services.users.act(SYSTEM_ACTOR, shop, bob.userId, 'ban');
    const { status, json } = await asBob('PUT', '/profile/region', { country: 'GB' });
    expect([status, json.error]).toEqual([403, 'membership_blocked']);
  });
});
