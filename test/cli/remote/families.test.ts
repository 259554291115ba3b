/** The management commands against a server: output for people and for programs. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportedColumns } from '@/core/user-columns.ts';
import { createInstance } from '../../support/instance.ts';
import { oneServer, personAt, type Ran, URL_A } from './scene.ts';

async function oneShop() {
  const scene = await oneServer();
  const shop = await scene.instance.createApplication({ slug: 'shop' });
  return { ...scene, shop };
}

describe('apps', () => {
  test('are created, shown, changed, published and listed', async () => {
    const { person } = await oneServer();
    const none = await person.manage(['apps', 'list']);
    expect([none.out, none.err]).toEqual(['', 'There is no application yet. Make one: gatehouse apps create NAME\n']);
    const made = await person.manage([
      'apps',
      'create',
      'Corner shop',
      '--slug',
      'corner',
      '--return-urls',
      'https://a.example/,https://b.example/',
    ]);
    expect(made.out).toContain('Return URLs    https://a.example/, https://b.example/\n');
    expect(made.out).toEndWith('\n\nNext: gatehouse apps publish corner\n');
    const changed = await person.manage(['apps', 'update', '--session-days', '7', '--json']);
    expect(changed.json()).toMatchObject({ slug: 'corner', sessionTtlSeconds: 7 * 24 * 3600 });
    expect((await person.manage(['apps', 'publish', 'corner'])).out).toStartWith('Corner shop is in stage test.');
    const listed = await person.manage(['apps', 'list']);
    expect(listed.out).toMatch(
      /^SLUG {4}NAME {9}STAGE {2}GATE {4}ID\ncorner {2}Corner shop {2}test {3}public {2}app_\w{26}\n$/,
    );
    const { items, nextCursor } = (await person.manage(['apps', 'list', '--json'])).json();
    expect([items.length, items[0].slug, nextCursor]).toEqual([1, 'corner', null]);
  });

  test('are found by id, slug and client id, and must be named if there are several', async () => {
    const { instance, person, shop } = await oneShop();
    await instance.createApplication({ slug: 'other' });
    for (const name of [shop.id, 'shop', shop.clientId])
      expect((await person.manage(['apps', 'show', name, '--json'])).json().id).toBe(shop.id);
    const unsaid = await person.manage(['users', 'list']);
    expect([unsaid.exitCode, unsaid.err]).toEqual([2, 'gatehouse: Say which application with --app: shop, other.\n']);
    const unnamed = await person.manage(['apps', 'show']);
    expect([unnamed.exitCode, unnamed.err]).toEqual([2, 'gatehouse: Say which application: shop, other.\n']);
    const nobody = await person.manage(['users', 'list', '--app', 'shop', '--q', 'nobody']);
    expect([nobody.exitCode, nobody.err]).toEqual([0, 'No user matches.\n']);
    const wrong = await person.manage(['users', 'list', '--app', 'shpo']);
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining('There are: shop, other.')]);
  });

  test('are archived with the typed name and a mailed code, and unarchived', async () => {
    const { instance, person } = await oneShop();
    const doubtful = await person.manage(['apps', 'archive'], { answers: ['shpo'] });
    expect([doubtful.exitCode, doubtful.err]).toEqual([1, expect.stringContaining('nothing was done')]);
    const asked = await person.manage(['apps', 'archive'], {
      canAsk: true,
      ask: async (question) => (question.includes('Type shop') ? 'shop' : instance.codeFor('owner@example.com')),
    });
    expect([asked.exitCode, asked.out]).toEqual([0, 'Shop is archived. Back: gatehouse apps unarchive\n']);
    expect((await person.manage(['apps', 'unarchive', 'shop'])).out).toBe('Shop is back.\n');
  });

  test('are archived without a terminal in two steps', async () => {
    const { instance, person } = await oneShop();
    const unsaid = await person.manage(['apps', 'archive']);
    expect([unsaid.exitCode, unsaid.err]).toEqual([2, expect.stringContaining('add --yes')]);
    const sent = (await person.manage(['apps', 'archive', '--yes', '--json'])).json();
    const code = instance.codeFor('owner@example.com');
    const done = await person.manage(['apps', 'archive', '--challenge', sent.challengeId, '--code', code, '--json']);
    expect(done.json().archivedAt).not.toBeNull();
  });

  test('are deleted without a promise of removal, and restored even after they were hidden', async () => {
    const { instance, person } = await oneShop();
    let question = '';
    const deleted = await person.manage(['apps', 'delete'], {
      canAsk: true,
      ask: async (asked) => {
        question += asked;
        return asked.includes('Type shop') ? 'shop' : instance.codeFor('owner@example.com');
      },
    });
    expect(question).toContain('It stays in the lists for 90 days, then it is hidden.');
    const [, back = ''] =
      /^Shop is deleted\. Back at any time: gatehouse (apps restore app_\w+)\n$/.exec(deleted.out) ?? [];
    instance.clock.advance(400 * 24 * 3600_000);
    await instance.services.scheduler.runAll();
    expect((await person.manage(back.split(' '))).out).toBe('Shop is back.\n');
  });
});

describe('users', () => {
  test('are imported from CSV, listed, filtered and paged', async () => {
    const { person, shop } = await oneShop();
    const file = join(person.home, 'users.csv');
    writeFileSync(
      file,
      '\ufeffemail,roles,fullName\r\nada@example.com,developer nosuch,"Lovelace, ""Ada"""\r\nbob@example.com,,\r\nnobody,,\r\n',
    );
    const imported = await person.manage(['users', 'import', file]);
    expect([imported.exitCode, imported.out]).toEqual([1, '2 created, 0 linked, 0 there already, 1 skipped.\n']);
    expect(imported.err).toBe('Unknown roles, not given: nosuch\nskipped  nobody  email_invalid\n');
    const again = await person.manage(['users', 'import', file, '--json']);
    expect(again.json().summary).toMatchObject({ requested: 3, alreadyMember: 2, skipped: 1 });
    const { out } = await person.manage(['users', 'list', '--role', 'developer']);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^ID +E-MAIL +STATUS +ROLES +LAST SEEN$/),
      expect.stringMatching(/^usr_\w{26} {2}ada@example\.com {2}active {2}developer,user {2}-$/),
      '',
    ]);
    const first = await person.manage(['users', 'list', '--limit', '1', '--json']);
    expect(first.err).toBe('');
    const { items, nextCursor } = first.json();
    const second = await person.manage(['users', 'list', '--limit', '1', '--cursor', nextCursor]);
    expect(second.out).not.toContain(items[0].email);
    const half = await person.manage(['users', 'list', '--limit', '1']);
    expect(half.err).toMatch(/^more: --cursor \S+, or --all\n$/);
    const all = await person.manage(['users', 'list', '--limit', '1', '--all', '--json', '--app', shop.slug]);
    expect(
      all.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).email)
        .sort(),
    ).toEqual(['ada@example.com', 'bob@example.com']);
  });

  test('are imported from an export in either format', async () => {
    const { person, shop, instance } = await oneShop();
    await instance.signIn(shop.clientId, 'ada@example.com');
    const [lines, csv] = [join(person.home, 'users.json'), join(person.home, 'users.csv')];
    const exported = await person.manage(['users', 'export']);
    expect(JSON.parse(exported.out)).toMatchObject({ email: 'ada@example.com', roles: ['user'] });
    writeFileSync(lines, JSON.stringify([JSON.parse(exported.out)].map(({ email }) => ({ email }))));
    writeFileSync(csv, (await person.manage(['users', 'export', '--format', 'csv', '--profile'])).out);
    expect(readFileSync(csv, 'utf8')).toStartWith('email,username,givenName,familyName,fullName,status,');
    const there = personAt({ [URL_A]: await createInstance() });
    await there.manage(['apps', 'create', 'Copy']);
    expect((await there.manage(['users', 'import', lines])).out).toBe(
      '1 created, 0 linked, 0 there already, 0 skipped.\n',
    );
    expect((await there.manage(['users', 'import', csv])).out).toBe(
      '0 created, 0 linked, 1 there already, 0 skipped.\n',
    );
  });

  test('survive round trips of a CSV unchanged, including values that look like formulas', async () => {
    const { person } = await oneShop();
    const file = join(person.home, 'users.csv');
    const json = join(person.home, 'users.json');
    const names = { givenName: '@home', familyName: "'=Lovelace", fullName: '=Ada;=1+1' };
    const languages = [{ code: 'de', level: 'NATIVE' }];
    const users = [{ email: '+ada@example.com', roles: ['developer'], profile: { ...names, languages } }];
    writeFileSync(json, JSON.stringify({ users }));
    expect((await person.manage(['users', 'import', json])).exitCode).toBe(0);
    const exported = async (by: typeof person) =>
      (await by.manage(['users', 'export', '--format', 'csv', '--profile'])).out;
    const first = await exported(person);
    expect(first).toContain(`'+ada@example.com,,'@home,''=Lovelace,"'=Ada;'=1+1",active,developer user,`);
    let text = first;
    for (let trip = 0; trip < 3; trip += 1) {
      const there = personAt({ [URL_A]: await createInstance() });
      await there.manage(['apps', 'create', 'Copy']);
      writeFileSync(file, text);
      expect((await there.manage(['users', 'import', file])).exitCode).toBe(0);
      text = await exported(there);
      const [user] = (await there.manage(['users', 'export', '--profile'])).out.trim().split('\n');
      expect(JSON.parse(user!)).toMatchObject({ email: '+ada@example.com', profile: { ...names, languages } });
    }
    const withoutIds = (csv: string) => csv.replace(/[^,]*,[^,]*,[^,]*\r\n/g, '');
    expect(withoutIds(text)).toBe(withoutIds(first));
  });

  test.each([
    [
      'as the console writes it',
      `\uFEFF${exportedColumns(true)
        .map(({ name }) => name)
        .join(',')}`,
      ',',
    ],
    [
      'with other spellings of the headings',
      'E-MAIL;user_name;given_name;Family Name;full_name;status;roles;groups;scopes;locale;timezone;languages;joined_at;last_seen_at;user_id',
      ';',
    ],
  ])('are imported from a CSV %s', async (_, head, separator) => {
    const { person } = await oneShop();
    const file = join(person.home, 'users.csv');
    const cells = ['ada@example.com', 'ada', 'Ada', 'Lovelace', '', 'active', 'user|developer', '', '', 'en-GB', ''];
    const row = [...cells, 'en:NATIVE fr', '2026-01-01T00:00:00.000Z', '', 'usr_1'].join(separator);
    writeFileSync(file, `${head}\r\n${row}\r\n`);
    expect((await person.manage(['users', 'import', file])).out).toStartWith('1 created, ');
    const exported = JSON.parse((await person.manage(['users', 'export', '--profile'])).out);
    expect(exported).toMatchObject({ username: 'ada', roles: ['developer', 'user'] });
    expect(exported.profile).toMatchObject({ givenName: 'Ada', familyName: 'Lovelace', locale: 'en-GB' });
    expect(exported.profile.languages).toEqual([
      { code: 'en', level: 'NATIVE' },
      { code: 'fr', level: 'FLUENT' },
    ]);
  });

  test.each([
    ['users.csv', 'email,E-Mail\nada@example.com,x\n', 'the column "email" is there twice'],
    ['users.csv', 'mail\nada@example.com\n', 'there is no column "mail"'],
    ['users.csv', 'email\n"ada@example.com\n', 'the quotes in line 2 do not match'],
    ['users.json', '{"users": 1}', 'neither a list'],
    ['users.jsonl', '{"email":"ada@example.com"}\nnonsense\n', 'line 2 is no JSON'],
    ['users.jsonl', '{"email":"ada@example.com"}\n{}\n', 'row 2 has no email'],
  ])('users of an unreadable %s are not imported at all', async (name, text, problem) => {
    const { person } = await oneShop();
    const file = join(person.home, name);
    writeFileSync(file, text);
    const ran = await person.manage(['users', 'import', file]);
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining(problem)]);
    expect((await person.manage(['users', 'list'])).out).toBe('');
  });

  test('are banned, paused, deleted and restored by their address', async () => {
    const { instance, person, shop } = await oneShop();
    await instance.signIn(shop.clientId, 'ada@example.com');
    const status = async () => (await person.manage(['users', 'show', 'ada@example.com', '--json'])).json().status;
    const run = async (word: string, ...flags: string[]) =>
      (await person.manage(['users', word, 'Ada@example.com', ...flags])).out;
    expect(await run('ban', '--reason', 'spam', '--yes')).toBe('ada@example.com is banned.\n');
    expect((await person.manage(['users', 'show', 'ada@example.com'])).out).toContain('Status       banned: spam\n');
    expect(await run('unban')).toBe('ada@example.com may sign in again.\n');
    await run('pause', '--yes');
    expect(await status()).toBe('paused');
    await run('resume');
    const refused = await person.manage(['users', 'delete', 'ada@example.com'], { answers: ['ada'] });
    expect([refused.exitCode, await status()]).toEqual([1, 'active']);
    expect(
      (await person.manage(['users', 'delete', 'ada@example.com'], { answers: ['ada@example.com'] })).exitCode,
    ).toBe(0);
    expect(await status()).toBe('deleted');
    await run('restore');
    expect(await status()).toBe('active');
    const nobody = await person.manage(['users', 'ban', 'nobody@example.com', '--yes']);
    expect([nobody.exitCode, nobody.err]).toEqual([
      1,
      expect.stringContaining('Shop has no user with the address nobody@example.com.'),
    ]);
  });

  test('lose something only once the person says yes, or with --yes where nobody can be asked', async () => {
    const { instance, person, shop } = await oneShop();
    await instance.signIn(shop.clientId, 'ada@example.com');
    const status = async () => (await person.manage(['users', 'show', 'ada@example.com', '--json'])).json().status;
    for (const words of [
      ['users', 'ban', 'ada@example.com'],
      ['users', 'pause', 'ada@example.com'],
      ['users', 'end-sessions', 'ada@example.com'],
      ['gate', 'set', 'closed'],
      ['gate', 'requests', 'decline'],
      ['apps', 'go-live', 'shop'],
    ]) {
      const alone = await person.manage(words);
      expect([words, alone.exitCode, alone.out]).toEqual([words, 2, '']);
      expect(alone.err).toEndWith('There is no terminal to confirm at: add --yes.\n');
      for (const answer of ['', 'no', 'y']) {
        const refused = await person.manage(words, { answers: [answer] });
        expect([words, refused.exitCode, refused.out]).toEqual([words, 1, '']);
        expect(refused.err).toEndWith('That was not yes; nothing was done.\n');
      }
    }
    expect(await status()).toBe('active');
    const sessions = await person.manage(['users', 'sessions', 'ada@example.com', '--json']);
    expect(sessions.json().items).toHaveLength(1);
    const agreed = await person.manage(['users', 'ban', 'ada@example.com'], { answers: ['yes'] });
    expect(agreed.err).toStartWith('ada@example.com: ');
    expect([agreed.exitCode, await status()]).toEqual([0, 'banned']);
    // An unban only gives back, so it asks nobody.
    expect((await person.manage(['users', 'unban', 'ada@example.com'])).exitCode).toBe(0);
  });

  test('are erased if they were imported and never came, once their address was typed', async () => {
    const { instance, person, shop } = await oneShop();
    const file = join(person.home, 'users.csv');
    writeFileSync(file, 'email\nbob@example.com\n');
    await person.manage(['users', 'import', file]);
    await person.manage(['users', 'delete', 'bob@example.com', '--yes']);
    expect((await person.manage(['users', 'list', '--status', 'deleted', '--json'])).json().items).toHaveLength(1);
    const forget = (email: string, answer: string) => person.manage(['users', 'forget', email], { answers: [answer] });
    expect((await forget('bob@example.com', 'bob')).exitCode).toBe(1);
    expect((await forget('bob@example.com', 'bob@example.com')).out).toBe('bob@example.com is forgotten.\n');
    expect((await person.manage(['users', 'list', '--json'])).json().items).toEqual([]);
    await instance.signIn(shop.clientId, 'ada@example.com');
    const refused = await forget('ada@example.com', 'ada@example.com');
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('use the delete action instead')]);
  });

  test('get roles, scopes and groups, and lose them', async () => {
    const { instance, person, shop } = await oneShop();
    const { userId } = await instance.signIn(shop.clientId, 'ada@example.com');
    expect((await person.manage(['roles', 'create', 'editor', '--name', 'Editor'])).out).toContain(
      'gatehouse users grant USER --roles editor',
    );
    await person.manage(['scopes', 'create', 'orders:read']);
    await person.manage(['groups', 'create', 'staff']);
    const granted = await person.manage([
      'users',
      'grant',
      userId,
      '--roles',
      'editor',
      '--scopes',
      'orders:read',
      '--groups',
      'staff',
    ]);
    expect(granted.out).toBe(`${userId}: changed. Roles: editor, user; scopes: orders:read; groups: staff\n`);
    const revoked = await person.manage(['users', 'revoke', userId, '--roles', 'editor']);
    expect(revoked.out).toStartWith(`${userId}: changed. Roles: user;`);
    const which = await person.manage(['users', 'grant', userId]);
    expect([which.exitCode, which.err]).toEqual([2, expect.stringContaining('Give --roles, --scopes or --groups')]);
  });

  test('have sessions that are listed and ended', async () => {
    const { instance, person, shop } = await oneShop();
    await instance.signIn(shop.clientId, 'ada@example.com');
    expect((await person.manage(['users', 'sessions', 'ada@example.com'])).out).toMatch(/\nses_\w+ {2}otp /);
    expect((await person.manage(['users', 'end-sessions', 'ada@example.com', '--yes'])).out).toBe('1 ended.\n');
    expect((await person.manage(['users', 'sessions', 'ada@example.com'])).err).toBe('No session is open.\n');
  });
});

describe.each(['roles', 'scopes', 'groups'])('%s', (family) => {
  test('are created, changed and deleted; an assigned one only with --force', async () => {
    const { instance, person, shop } = await oneShop();
    const { userId } = await instance.signIn(shop.clientId, 'ada@example.com');
    await person.manage([family, 'create', 'editor', '--description', 'Edits']);
    const changed = await person.manage([
      family,
      'update',
      'editor',
      '--name',
      'Editors',
      '--default',
      'yes',
      '--json',
    ]);
    expect(changed.json()).toMatchObject({ slug: 'editor', name: 'Editors', isDefault: true, description: 'Edits' });
    expect((await person.manage([family, 'list'])).out).toMatch(/\neditor +Editors +yes +Edits\n/);
    await person.manage(['users', 'grant', userId, `--${family}`, 'editor']);
    const held = await person.manage([family, 'delete', 'editor', '--yes']);
    expect([held.exitCode, held.err]).toEqual([1, expect.stringContaining('request req_')]);
    expect((await person.manage([family, 'delete', 'editor', '--yes', '--force'])).out).toBe(
      'editor is deleted; 1 had it.\n',
    );
    expect((await person.manage([family, 'delete', 'editor', '--yes'])).err).toContain(`See: gatehouse ${family} list`);
  });
});

describe.each([[[]], [['--workspace']]])('keys %j', (flags) => {
  test('are created, shown once, rotated and revoked', async () => {
    const { instance, person } = await oneShop();
    const made = await person.manage([
      'keys',
      'create',
      'backend',
      '--access',
      'full',
      '--expires-in-days',
      '30',
      ...flags,
    ]);
    const [, token] = /^Key +(eak_\w+)$/m.exec(made.out)!;
    const works = async (key: string) => (await instance.call('GET', '/api/me', { token: key })).status;
    expect([await works(token!), made.err]).toEqual([200, expect.stringContaining('this once')]);
    const { items } = (await person.manage(['keys', 'list', '--json', ...flags])).json();
    const { id, expiresAt } = items.find(({ name }: { name: string }) => name === 'backend');
    expect(Date.parse(expiresAt) - instance.clock.now()).toBe(30 * 24 * 3600_000);
    const listed = await person.manage(['keys', 'list', ...flags]);
    expect(listed.out).toContain('backend');
    expect(listed.out).not.toContain(token!);
    const rotated = (await person.manage(['keys', 'rotate', id, '--grace', '--json', ...flags])).json();
    expect([await works(token!), await works(rotated.token)]).toEqual([200, 200]);
    expect((await person.manage(['keys', 'show', id, ...flags])).out).toContain('State        in grace\n');
    expect((await person.manage(['keys', 'revoke', rotated.id, ...flags])).exitCode).toBe(2);
    expect((await person.manage(['keys', 'revoke', rotated.id, '--yes', ...flags])).out).toBe('backend is revoked.\n');
    expect(await works(rotated.token)).toBe(401);
  });
});

describe('gate', () => {
  test('is closed and opened; people are invited, approved and declined', async () => {
    const { instance, person, shop } = await oneShop();
    expect((await person.manage(['gate', 'set', 'beta', '--yes'])).out).toBe(
      'The sign-in gate of Shop is private_beta.\n',
    );
    expect((await person.manage(['gate', 'set', 'shut'])).err).toContain('Say which: public, beta or closed');
    const invited = await person.manage(['gate', 'invite', 'ada@example.com, bob@example.com']);
    expect(invited.out).toBe('2 added, 0 let in who waited, 0 there already.\n');
    const interest = `/api/applications/${shop.id}/public/access-interest`;
    for (const email of ['cleo@example.com', 'dan@example.com'])
      await instance.call('POST', interest, { body: { kind: 'request', email } });
    expect((await person.manage(['gate', 'show'])).out).toMatch(
      /Waiting +2\n[^]*Next: gatehouse gate list --status pending/,
    );
    expect((await person.manage(['gate', 'allow', 'cleo@example.com', '--notify', 'no'])).out).toBe(
      'cleo@example.com may sign in.\n',
    );
    expect((await person.manage(['gate', 'decline', 'dan@example.com'])).out).toBe('dan@example.com is declined.\n');
    expect((await person.manage(['gate', 'remove', 'bob@example.com', '--yes'])).out).toBe('Removed.\n');
    const { items } = (await person.manage(['gate', 'list', '--status', 'approved', '--json'])).json();
    expect(items.map(({ email }: { email: string }) => email).sort()).toEqual(['ada@example.com', 'cleo@example.com']);
    expect((await person.manage(['gate', 'requests', 'accept', '--yes'])).out).toStartWith('Requests: auto_accept;');
  });
});

describe('webhooks', () => {
  test('are created with their secret shown once, changed, tested and deleted', async () => {
    const { person } = await oneShop();
    const made = await person.manage([
      'webhooks',
      'create',
      'https://shop.example.com/hook',
      '--events',
      'user.signed_in,user.banned',
    ]);
    const [, id] = /^Id +(whk_\w+)$/m.exec(made.out)!;
    expect(made.out).toMatch(/^Signing secret {2}whsec_\w+$/m);
    expect((await person.manage(['webhooks', 'show', id!])).out).not.toContain('whsec_');
    await person.manage(['webhooks', 'update', id!, '--events', '*', '--description', 'All']);
    expect((await person.manage(['webhooks', 'list', '--json'])).json().items[0]).toMatchObject({
      events: ['*'],
      description: 'All',
    });
    const sent = await person.manage(['webhooks', 'test', id!]);
    const [, next] = /gatehouse (.*)$/m.exec(sent.out)!;
    expect((await person.manage(next!.split(' '))).out).toContain('Event         webhook.test, evt_');
    const { items } = (await person.manage(['webhooks', 'deliveries', id!, '--type', 'webhook.test', '--json'])).json();
    expect((await person.manage(['webhooks', 'redeliver', id!, items[0].id])).out).toStartWith('On its way as dlv_');
    expect((await person.manage(['webhooks', 'rotate-secret', id!])).out).toContain('whsec_');
    expect((await person.manage(['webhooks', 'release', id!])).err).toContain('(invalid_state, request req_');
    expect((await person.manage(['webhooks', 'delete', id!, '--yes'])).out).toBe('Deleted.\n');
    expect((await person.manage(['webhooks', 'create', 'https://a.example/'])).exitCode).toBe(2);
  });
});

describe('activity', () => {
  test('is listed for one application or all of them, from a given time on', async () => {
    const { instance, person, shop } = await oneShop();
    instance.clock.advance(48 * 3600_000);
    await instance.trySignIn(shop.clientId, 'ada@example.com');
    const recent = await person.manage(['activity', 'list', '--app', 'shop', '--since', '24h', '--json']);
    const kinds = recent.json().items.map(({ kind }: { kind: string }) => kind);
    expect(kinds).toEqual(['signin.succeeded', 'signin.code_sent']);
    expect((await person.manage(['activity', 'list', '--family', 'application'])).out).toContain('application.created');
    expect((await person.manage(['activity', 'list', '--email', 'nobody@example.com'])).err).toBe(
      'No activity matches.\n',
    );
    const odd = await person.manage(['activity', 'list', '--since', 'yesterday']);
    expect([odd.exitCode, odd.err]).toEqual([2, expect.stringContaining('Give 30m, 24h, 7d')]);
  });
});

describe('a refusal', () => {
  test('names the field', async () => {
    const { person } = await oneShop();
    const ran = await person.manage(['roles', 'create', 'Not a slug']);
    expect([ran.exitCode, ran.out]).toEqual([1, '']);
    expect(ran.err).toMatch(/^gatehouse: slug: [^\n]+ \(invalid_request, request req_\w+\)\n$/);
  });

  test('a read key’s refusal names the required access', async () => {
    const { instance, person, shop } = await oneShop();
    const { token } = await instance.createKey(shop.id, { access: 'read' });
    const ran = await person.manage(['roles', 'create', 'editor'], { env: { GATEHOUSE_KEY: token } });
    expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining('(admin_scope_required, request req_')]);
    expect(existsSync(person.credentials)).toBe(false);
  });

  test('a rate-limited call is retried after the server’s wait, which is printed', async () => {
    const { instance, person, shop } = await oneShop();
    const { token } = await instance.createKey(shop.id, { rateLimits: { perMinute: 2, perDay: 100 } });
    const env = { GATEHOUSE_KEY: token };
    for (const err of ['', 'The server asks to wait for ']) {
      const ran = await person.manage(['roles', 'list', '--json'], { env });
      expect(ran).toMatchObject({ exitCode: 0, err: expect.stringContaining(err) });
      expect(ran.json().items).not.toEqual([]);
    }
  });

  test.each([
    [['webhooks', 'list', '--limit', 'many'], '--limit must be a whole number'],
    [['users', 'list', '--bogus'], 'There is no flag --bogus'],
    [['users', 'show'], 'USER is missing'],
    [['users', 'show', 'a', 'b'], 'Unexpected argument: "b"'],
    [
      ['users', 'list', '--status', 'bogus'],
      '--status must be active, banned, paused, inactivated, left, deleted or imported',
    ],
    [['webhooks', 'create', 'https://a.example/'], '--events is missing. See "gatehouse help webhooks create"'],
    [['roles', 'update', 'user'], 'Say what to change. See "gatehouse help roles update"'],
    [['keys', 'list', '--workspace', '--app', 'shop'], '--workspace and --app exclude each other'],
  ])('incorrect usage is refused before a request is sent: %j', async (args, problem) => {
    const { person } = await oneServer();
    const ran = await person.manage(args, { fetch: () => Promise.reject(new Error('a request was sent')) });
    expect([ran.exitCode, ran.err]).toEqual([2, expect.stringMatching(/^gatehouse: [^\n]+\n$/)]);
    expect(ran.err).toContain(problem);
  });
});

describe('errors with --json', () => {
  const failed = ({ exitCode, out, err }: Ran) => [exitCode, out, JSON.parse(err)];

  test('are JSON on stderr with the code of the API, and keep their exit codes', async () => {
    const { person } = await oneShop();
    const refused = await person.manage(['keys', 'show', 'key_nobody', '--app', 'shop', '--json']);
    expect(failed(refused)).toEqual([
      1,
      '',
      { error: 'not_found', message: expect.any(String), status: 404, requestId: expect.stringMatching(/^req_/) },
    ]);
    const invalid = await person.manage(['keys', 'list', '--app', 'shop', '--limit', '1000', '--json']);
    expect(failed(invalid)).toEqual([
      1,
      '',
      expect.objectContaining({ error: 'invalid_request', fields: [{ path: 'limit', message: expect.any(String) }] }),
    ]);
  });

  test('are JSON for what happens before a request, too', async () => {
    const { person } = await oneShop();
    const unknown = await person.manage(['users', 'show', 'nobody@example.com', '--json']);
    expect(failed(unknown)).toEqual([
      1,
      '',
      { error: 'failed', message: expect.stringContaining('nobody@example.com') },
    ]);
    const usage = await person.manage(['users', 'ban', 'usr_x', '--json']);
    expect(failed(usage)).toEqual([2, '', { error: 'usage', message: expect.stringContaining('add --yes') }]);
    const elsewhere = await person.gatehouse(['whoami', '--json'], {
      env: { GATEHOUSE_URL: 'https://nobody.example.com', GATEHOUSE_KEY: 'eak_x' },
    });
    expect(failed(elsewhere)).toEqual([
      1,
      '',
      { error: 'network', message: expect.stringContaining('cannot be reached') },
    ]);
  });

  test('stay one sentence without it', async () => {
    const { person } = await oneShop();
    const { exitCode, err } = await person.manage(['keys', 'show', 'key_nobody', '--app', 'shop']);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/^gatehouse: .*\(not_found, request req_\w+\)\n$/)]);
  });
});
