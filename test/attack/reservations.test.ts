/**
 * Import and invitation of a person whom another tenant knows: the importing tenant sees, hears and reads exactly,
 * byte for byte, what it would if nobody knew the person, and nothing of the other tenant changes.
 */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { replaceVariants } from '@/store/images.ts';
import { changeEmail, deleteAccount } from '../modules/account/account.ts';
import * as given from '../support/given.ts';
import { type Answer, createInstance, type Instance, START } from '../support/instance.ts';

const EMAIL = 'victim@example.com';
const MOVED_TO = 'victoria@elsewhere.example';

interface World {
  readonly instance: Instance;
  /** The tenant that may know the person. */
  readonly theirs: given.Tenant;
}

/** A person of the other tenant, with all data that could leak. */
async function personOf({ instance, theirs }: World) {
  const signedIn = await instance.signIn(theirs.application.clientId, EMAIL);
  await given.person(instance, signedIn.userId, {
    fullName: 'Victoria Secretname',
    givenName: 'Victoria',
    locale: 'pt-BR',
    timezone: 'America/Bogota',
    providerAvatarUrl: 'https://pictures.example/victoria.png',
    avatarSizes: [128],
    avatarUpdatedAt: START,
  });
  await instance.call('POST', '/api/account/profile/languages', {
    token: signedIn.token,
    body: { code: 'sv', level: 'NATIVE' },
  });
  const picture = { userId: signedIn.userId, kind: 'avatar', updatedAt: START } as const;
  await instance.db.write(SYSTEM_ACTOR, (unit) => replaceVariants(unit, picture, [{ size: 128, bytes: Buffer.of(1) }]));
  return signedIn;
}

/** The state before, and what changes while the tenant watches. */
interface Case {
  readonly prepare: (world: World) => Promise<unknown>;
  readonly meanwhile?: (world: World, person: { token: string; userId: string }) => Promise<unknown>;
}

const changeProfile: Case['meanwhile'] = async ({ instance }, { token }) => {
  const changed = await instance.call('PATCH', '/api/account/profile/identity', {
    token,
    body: { familyName: 'Hidden' },
  });
  expect(changed.status).toBe(200);
  await instance.call('PATCH', '/api/account/profile/languages', { token, body: { code: 'sv', level: 'BASIC' } });
};

const MOVED = 'they give the address up meanwhile';

const CASES: Record<string, Case> = {
  'another tenant knows them': { prepare: personOf, meanwhile: changeProfile },
  'another tenant has imported them too': {
    prepare: ({ instance, theirs }) =>
      instance.call('POST', `/api/applications/${theirs.application.id}/users/bulk`, {
        token: theirs.workspaceKey,
        body: { users: [{ email: EMAIL, profile: { givenName: 'Theirs', username: 'theirs' } }] },
      }),
  },
  'another tenant has banned them': {
    async prepare(world) {
      const { instance, theirs } = world;
      const { userId } = await personOf(world);
      const path = `/api/applications/${theirs.application.id}/users/${userId}/ban`;
      expect((await instance.call('POST', path, { token: theirs.workspaceKey })).status).toBe(200);
    },
  },
  'they have deleted their account': {
    async prepare(world) {
      expect((await deleteAccount(world.instance, await personOf(world), EMAIL)).status).toBe(200);
    },
  },
  'they gave the address up for another': {
    async prepare(world) {
      expect((await changeEmail(world.instance, await personOf(world), MOVED_TO)).status).toBe(200);
    },
  },
  [MOVED]: {
    prepare: personOf,
    async meanwhile({ instance }, { userId }) {
      await given.person(instance, userId, { email: MOVED_TO });
      await given.alias(instance, EMAIL, userId);
    },
  },
};

/** Replaces ids by their order of appearance and codes by a placeholder, so that two transcripts can be compared. */
function numbered(text: string): string {
  const met = new Map<string, number>();
  const withIds = text.replace(/\b([a-z]{3,4})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, (id, prefix: string) => {
    if (prefix !== 'req' && !met.has(id)) met.set(id, met.size);
    return prefix === 'req' ? prefix : `${prefix}#${met.get(id)}`;
  });
  return withIds.replace(/(?<![\d.])\d{6}(?!\d)/g, 'CODE');
}

function rowsOf({ sqlite }: Instance, sql: string, ...values: string[]): unknown[] {
  return sqlite.query(sql).all(...values);
}

/** All rows of the other tenant and of the person. */
function theirRows({ instance, theirs }: World, userId: string | undefined): unknown {
  const { id } = theirs.application;
  return {
    person: rowsOf(instance, 'SELECT * FROM users WHERE id = ?', userId ?? ''),
    languages: rowsOf(instance, 'SELECT * FROM user_languages WHERE user_id = ? ORDER BY code', userId ?? ''),
    memberships: rowsOf(instance, 'SELECT * FROM application_users WHERE application_id = ? ORDER BY id', id),
    events: rowsOf(instance, 'SELECT * FROM events WHERE application_id = ? ORDER BY id', id),
    // An older mail that is dropped meanwhile does not concern the requesting tenant.
    audit: rowsOf(
      instance,
      "SELECT * FROM audit_records WHERE application_id = ? AND family <> 'mail' ORDER BY id",
      id,
    ),
  };
}

const WHOLE = {
  username: 'visitor',
  givenName: 'PWNED',
  familyName: 'Imported',
  locale: 'en-GB',
  languages: [{ code: 'en', level: 'BASIC' }],
};

/** Everything a tenant can do with an address, and everything it learns from it. */
async function transcript(
  world: World,
  { meanwhile = async () => {}, isKept = false }: { meanwhile?: () => Promise<unknown>; isKept?: boolean } = {},
): Promise<string> {
  const { instance } = world;
  const first = await instance.createApplication({ name: 'First' });
  instance.clock.advance(1);
  const second = await instance.createApplication({ name: 'Second' });
  const ours = [first, second];
  instance.clock.advance(1);
  const key = await instance.createKey(first.id);
  instance.clock.advance(1);
  await instance.call('POST', `/api/applications/${first.id}/webhooks`, {
    token: instance.workspaceKey,
    body: { url: 'https://hooks.example/first', events: ['*'] },
  });
  await instance.services.mail.runOnce();
  const mailsBefore = rowsOf(instance, 'SELECT id FROM mails').length;
  const said: string[] = [];
  const note = (what: string, { status, text }: Pick<Answer, 'status' | 'text'>) =>
    said.push(`${what} → ${status} ${text.replace(/"requestId":"[^"]*"/, '')}`);
  const call = async (method: string, path: string, body?: unknown, token: string = key.token) => {
    // A separate time for each call, so that lists have one order.
    instance.clock.advance(1);
    const answer = await instance.call(method, path, { token, body });
    note(`${method} ${path}`, answer);
    return answer;
  };
  const at = (path: string, application = first) => `/api/applications/${application.id}${path}`;
  const load = (row: object, application = first, token?: string) =>
    call('POST', at('/users/bulk', application), { users: [{ email: EMAIL, ...row }] }, token);

  const { userId } = (await load({ roleSlugs: ['developer'], profile: { givenName: 'PWNED' } })).json.data.results[0];
  const looks = async () => {
    await call('GET', at('/users'));
    await call('GET', at('/users?include=profile'));
    await call('GET', at(`/users/${userId}`));
    await call('GET', at(`/users/${userId}/sessions`));
    const picture = await instance.app.fetch(
      new Request(`http://localhost/cdn/${first.slug}/users/${userId}/avatar-128.webp`),
    );
    note('picture', { status: picture.status, text: await picture.text() });
  };
  await looks();
  await load({ scopeSlugs: ['nowhere'], profile: WHOLE });
  await load({ profile: { givenName: 'Again', timezone: 'UTC' } });
  // The person's activity at the other tenant must not show.
  await meanwhile();
  await looks();
  await call('POST', at('/usernames/check'), { usernames: ['visitor', 'theirs'] });
  await load({ profile: { username: 'visitor' } }, second, instance.workspaceKey);
  await call('GET', at('/users?include=profile', second), undefined, instance.workspaceKey);
  await call('PUT', at(`/users/${userId}/roles`), { slugs: ['user'] });
  for (const action of ['ban', 'unban', 'pause', 'resume'])
    await call('POST', at(`/users/${userId}/${action}`), { reason: 'why' });
  await call('DELETE', at(`/users/${userId}/sessions`));

  const members = '/api/workspace/members';
  const invited = await call('POST', members, { email: EMAIL, role: 'member' }, instance.workspaceKey);
  await call('POST', members, { email: EMAIL, role: 'member' }, instance.workspaceKey);
  await call('POST', members, { email: EMAIL, role: 'admin' }, instance.workspaceKey);
  const seat = `${members}/${invited.json.data?.id}`;
  await call('PATCH', seat, { role: 'admin' }, instance.workspaceKey);
  await call('GET', members, undefined, instance.workspaceKey);
  await call('DELETE', seat, undefined, instance.workspaceKey);
  await call('GET', members, undefined, instance.workspaceKey);
  await call('POST', members, { email: EMAIL, role: 'member' }, instance.workspaceKey);

  await call('POST', at(`/users/${userId}/delete`), { reason: 'a mistake' });
  await looks();
  await load({ profile: { givenName: 'Kept out' } });
  await call('POST', at(`/users/${userId}/restore`));
  if (!isKept) {
    await call('DELETE', at(`/users/${userId}`));
    await looks();
    await call('POST', at(`/users/${userId}/restore`));
    await load({ profile: { givenName: 'Once more' } });
    await looks();
  }
  for (const family of ['user', 'role', 'session']) {
    await call('GET', at(`/activity/list?limit=200&family=${family}`));
    await call('GET', at(`/activity/list?limit=200&family=${family}`, second), undefined, instance.workspaceKey);
  }
  await call('GET', at('/activity/list?q=elsewhere'));

  // Any client may request a code for an address and guess it.
  const sent = await call('POST', '/api/v1/auth/otp/send', { email: EMAIL, clientId: first.clientId });
  const guess = {
    challengeId: sent.json.data.challengeId,
    code: instance.codeFor(EMAIL) === '000000' ? '1' : '000000',
  };
  await call('POST', '/api/v1/auth/otp/verify', guess);
  await call('GET', at('/activity/list?family=signin'));

  await instance.services.mail.runOnce();
  for (const { id } of ours) {
    said.push(JSON.stringify(instance.events(id)));
    said.push(
      JSON.stringify(
        rowsOf(
          instance,
          "SELECT * FROM audit_records WHERE application_id = ? AND family <> 'application' ORDER BY id",
          id,
        ),
      ),
    );
  }
  said.push(JSON.stringify(rowsOf(instance, 'SELECT event_type, status FROM deliveries ORDER BY rowid')));
  const mails = rowsOf(instance, 'SELECT recipient, subject, text FROM mails ORDER BY rowid').slice(mailsBefore);
  said.push(JSON.stringify(mails));
  return said.join('\n');
}

async function play(prepare: Case['prepare']) {
  const instance = await createInstance();
  const world = { instance, theirs: await given.tenant(instance) };
  const person = (await prepare(world)) as { token: string; userId: string };
  instance.clock.advance(START + 7 * DAY - instance.clock.now());
  const known = rowsOf(instance, 'SELECT id FROM users WHERE email IN (?, ?)', EMAIL, MOVED_TO);
  const theirId = (known[0] as { id: string } | undefined)?.id;
  return { world, person, rows: () => theirRows(world, theirId) };
}

describe('an address imported and invited by a tenant that has never seen the person', () => {
  const asUnknownPerson = async (options: Parameters<typeof transcript>[1]) =>
    transcript((await play(async () => {})).world, options);

  test.each(Object.keys(CASES))('looks as if nobody knew the person if %s', async (name) => {
    const { prepare, meanwhile } = CASES[name]!;
    const { world, person } = await play(prepare);
    // A forgotten address counts as unknown when it is named again: its person has given it up.
    const options = { isKept: name === MOVED };
    const told = await transcript(world, {
      ...options,
      ...(meanwhile && { meanwhile: () => meanwhile(world, person) }),
    });
    expect(numbered(told)).toBe(numbered(await asUnknownPerson(options)));
    for (const hidden of ['Victoria', 'Secretname', 'Bogota', 'elsewhere.example', 'pictures.example'])
      expect(told).not.toContain(hidden);
  });

  test('is a reservation that shows the imported data', async () => {
    const told = await asUnknownPerson({});
    for (const shown of ['"outcome":"created"', '"lastSeenAt":null', 'PWNED', '"username":"visitor"'])
      expect(told).toContain(shown);
    expect(told.match(/"outcome":"skipped","userId":"\w+","error":"user_deleted"/g)).toHaveLength(1);
    expect(told).not.toContain('email_archived');
  });

  test.each(Object.keys(CASES))('changes and reveals nothing of the other tenant if %s', async (name) => {
    const { world, rows } = await play(CASES[name]!.prepare);
    const before = rows();
    await transcript(world);
    expect(rows()).toEqual(before);
  });
});
