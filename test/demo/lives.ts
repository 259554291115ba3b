/** The actions of people in the demo once they are in, and of the team. */
import { HOUR, MINUTE, SECOND } from '../../src/core/clock.ts';
import type { Crowd, Visitor } from './crowd.ts';
import type { House } from './house.ts';
import { createPasskey, type SoftPasskey } from '../support/authenticator.ts';
import type { Past, Signed } from './past.ts';
import type { Person } from './people.ts';
import type { Team } from './team.ts';
import type { Timeline } from './timeline.ts';

/** The first visitors are looked at most and have everything. */
const FIRST = 4;
/** Percent of new visitors. */
const NAMED = 82;
const WITH_USERNAME = 55;
const WITH_DEVICE = 5;
const WITH_PASSKEY = 22;

const DEVICES = ['harbour-cli on build-07', 'Living room tablet', 'Dock kiosk 3', 'harbour-cli on lighthouse'];

/** Fills in the profile, and sometimes adds a passkey or connects a device. */
export function settleIn(past: Past, house: House): (signed: Signed) => Promise<Visitor> {
  const { random } = past;
  let settled = 0;

  async function connect(signed: Signed): Promise<void> {
    const client_id = house.applications.harbour.clientId;
    const ask = async (step: string, body: object) =>
      (await past.ask('POST', `/api/v1/device/${step}`, { body: { client_id, ...body } })).json;
    const { user_code, device_code } = await ask('code', { device_name: random.pick(DEVICES) });
    past.pass(20);
    await past.call(signed, 'POST', '/api/account/device/approve', { user_code });
    past.pass(6);
    const { access_token } = await ask('token', { device_code });
    past.pass(random.whole(60, 900));
    await past.ask('GET', '/api/me/roles', { token: access_token });
  }

  async function addPasskey(signed: Signed): Promise<SoftPasskey> {
    const { challengeId, options } = await past.call(signed, 'POST', '/api/account/passkeys/options');
    past.pass(12);
    const { passkey, credential } = createPasskey(options);
    await past.call(signed, 'POST', '/api/account/passkeys', { challengeId, credential });
    return passkey;
  }

  return async (signed) => {
    const { givenName, familyName, latin, locale, timezone, country } = signed.person;
    const has = (share: number) => random.percent(share) || settled < FIRST;
    past.pass(random.whole(20, 90));
    if (has(NAMED)) {
      const isFamilyFirst = ['ja', 'zh-CN', 'ko'].includes(locale);
      const fullName = isFamilyFirst ? `${familyName}${givenName}` : `${givenName} ${familyName}`;
      const identity = { givenName, familyName, fullName, locale, timezone };
      await past.call(signed, 'PATCH', '/api/account/profile/identity', identity);
      await past.call(signed, 'PATCH', '/api/account/profile/region', { country });
    }
    if (has(WITH_USERNAME)) {
      const username = latin.replaceAll('.', random.pick(['', '_', '.']));
      await past.ask('PATCH', '/api/account/username', { ...signed, body: { username } });
    }
    // Runs soon, while the sign-in is fresh.
    const passkey = has(WITH_PASSKEY) ? await addPasskey(signed) : undefined;
    if (has(WITH_DEVICE)) await connect(signed);
    settled += 1;
    return { ...signed, ...(passkey && { passkey }) };
  };
}

/** The shop's backend verifies its active sessions several times a day; the server runs its jobs at night. */
export function usage(past: Past, house: House, time: Timeline, crowd: Crowd, sinceDays: number): void {
  for (let days = sinceDays; days >= 0; days -= 1)
    for (const [hour, share] of [
      [7, 10],
      [10, 22],
      [14, 24],
      [18, 14],
      [21, 6],
    ] as const)
      time.daysAgo(days, hour, async () => {
        const isWeekend = [0, 6].includes(new Date(past.now()).getUTCDay());
        for (const { token } of crowd.visitors.slice(-160))
          if (past.random.percent(isWeekend ? share / 2 : share)) {
            await past.ask('POST', '/api/v1/verify', { token: house.keys.backend.token, body: { token } });
            past.pass(past.random.whole(1, 40));
          }
      });
  for (let days = sinceDays; days > 0; days -= 1) time.daysAgo(days, 23.8, past.tidy);
  // Ever more often until now, so that somebody is always active.
  for (let index = 1; index <= 40; index += 1)
    time.at(time.endAt - index * index * 8 * SECOND, async () => {
      const visitor = past.random.pick(crowd.visitors.slice(-90));
      await past.ask('POST', '/api/v1/verify', { token: house.keys.backend.token, body: { token: visitor.token } });
    });
  for (const [index, minutes] of [170, 130, 95, 40].entries())
    time.at(time.endAt - minutes * MINUTE, async () => {
      const { person } = crowd.visitors[index % 3]!;
      await past.signIn(person, house.applications.harbour.clientId);
    });
  // A script that exceeds its key's limits.
  time.daysAgo(4, 2.5, async () => {
    for (let made = 0; made < 75; made += 1)
      await past.ask('GET', `/api/applications/${house.applications.harbour.id}/users`, {
        token: house.keys.tools.token,
      });
  });
}

type Moderation = readonly [daysAgo: number, action: string, reason: string];

const MODERATIONS: readonly Moderation[] = [
  [50, 'ban', 'Chargeback on three orders'],
  [41, 'ban', 'Spam in reviews'],
  [34, 'pause', 'Asked for a break until spring'],
  [27, 'ban', 'Several accounts for one voucher'],
  [22, 'delete', 'Asked for by mail'],
  [18, 'pause', 'Payment under review'],
  [13, 'ban', 'Threats against the crew'],
  [8, 'delete', 'Duplicate of another account'],
  [3, 'ban', 'Spam in reviews'],
  [2, 'delete', 'Asked for by mail'],
  [1, 'pause', 'Mailbox reported as taken over'],
];

/** Roles, bans and farewells. A banned person may try to return. */
export function moderate(past: Past, team: Team, house: House, time: Timeline, crowd: Crowd): void {
  const { random } = past;
  const { harbour } = house.applications;
  const users = `/api/applications/${harbour.id}/users`;
  const touched = new Set<string>();

  /** Returns a person without moderation so far, who is not a frequent visitor. */
  function somebody(): Visitor | undefined {
    const free = crowd.visitors.slice(8).filter(({ userId }) => !touched.has(userId));
    const found = free.length > 0 ? random.pick(free) : undefined;
    if (found) touched.add(found.userId);
    return found;
  }

  for (const [daysAgo, action, reason] of MODERATIONS)
    time.daysAgo(daysAgo, 8 + random.next() * 8, async () => {
      const found = somebody();
      if (!found) return;
      await team.as(random.pick(['owner', 'admin']), 'POST', `${users}/${found.userId}/${action}`, { reason });
      for (let tries = random.whole(1, 4); tries > 0; tries -= 1)
        time.at(past.now() + random.whole(1, 90) * HOUR, () => past.signIn(found.person, harbour.clientId));
    });

  for (const daysAgo of [25, 17, 11, 5])
    time.daysAgo(daysAgo, 6 + random.next() * 14, async () => {
      const found = somebody();
      // Skips sessions that have ended.
      if (found)
        await past.ask('POST', `/api/account/${random.pick(['leave', 'inactivate'])}`, {
          token: found.token,
          body: {},
        });
    });

  for (const daysAgo of [52, 45, 38, 31, 26, 20, 15, 10, 7, 4, 1])
    time.daysAgo(daysAgo, 8.5 + random.next() * 6, async () => {
      for (const { userId } of random.some(crowd.visitors, 4)) {
        const kind = random.pick(['roles', 'roles', 'memberships', 'scopes'] as const);
        const slugs = {
          roles: ['user', random.pick(['editor', 'moderator', 'billing'])],
          scopes: ['orders:read', ...(random.percent(40) ? ['orders:write'] : [])],
          memberships: [random.pick(['early-birds', 'partners', 'crew'])],
        }[kind];
        await past.ask('PUT', `${users}/${userId}/${kind}`, { token: house.keys.tools.token, body: { slugs } });
      }
    });
}

/** Imports people from a previous system; some of them sign in within the following weeks. */
export function moveIn(past: Past, team: Team, house: House, time: Timeline, people: readonly Person[]): void {
  const { harbour } = house.applications;
  time.daysAgo(21, 13.2, async () => {
    const users = people.map(({ email, givenName, familyName, locale, timezone, latin }, index) => ({
      email,
      roleSlugs: index % 7 === 0 ? ['user', 'editor'] : ['user'],
      membershipSlugs: ['early-birds'],
      profile: { givenName, familyName, locale, timezone, username: latin.replace('.', '-') },
    }));
    await team.as('admin', 'POST', `/api/applications/${harbour.id}/users/bulk`, { users });
  });
  for (const [index, person] of people.entries())
    if (index % 4 === 0) time.daysAgo(20 - (index % 19), 7 + (index % 11), () => past.signIn(person, harbour.clientId));
}
