import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, isoTime, MINUTE } from '@/core/clock.ts';
import { newId } from '@/core/id.ts';
import { purgeBatch } from '@/store/retention.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { deleteAccount } from '../account/account.ts';
import { BAD_CURSORS, managing, pages, people, tables } from '../users/management.ts';

interface Seed {
  readonly kind?: string;
  readonly ok?: boolean;
  readonly country?: string | null;
  readonly email?: string | null;
  readonly detail?: object;
  readonly createdAt?: number;
}

interface Entry {
  id: string;
  kind: string;
  ok: boolean;
  ipCountry: string | null;
  email: string | null;
  createdAt: string;
}

/** Writes audit records whose ids do not follow their times, since the order must come from the times. */
function seed(instance: Instance, { id }: { id: string }, rows: Seed[]): string[] {
  const insert = instance.sqlite.prepare(
    `INSERT INTO audit_records (id, application_id, workspace_id, kind, ok, email, actor_type, ip_country, detail, created_at)
     SELECT ?, id, workspace_id, ?, ?, ?, 'anonymous', ?, ?, ? FROM applications WHERE id = ?`,
  );
  return rows.map(
    ({ kind = 'signin.succeeded', ok = true, country = null, email = null, detail, createdAt = START + MINUTE }) => {
      const rowId = newId('audit', 2 * START - createdAt);
      insert.run(rowId, kind, ok ? 1 : 0, email, country, detail ? JSON.stringify(detail) : null, createdAt, id);
      return rowId;
    },
  );
}

async function setUp(options?: Parameters<typeof createInstance>[0]) {
  const instance = await createInstance(options);
  const application = await instance.createApplication();
  const other = await instance.createApplication({ name: 'Other' });
  await instance.db.write(SYSTEM_ACTOR, (unit) => purgeBatch(unit, 'auditRecords', START + 1, 100));
  const manage = managing(instance, application);
  const list = async (query: Record<string, string> = {}): Promise<Entry[]> => {
    const answer = await manage('GET', `/activity/list?${new URLSearchParams({ limit: '200', ...query })}`);
    expect(answer.status).toBe(200);
    return answer.json.data.items;
  };
  return { instance, application, other, manage, list, add: (...rows: Seed[]) => seed(instance, application, rows) };
}

/** Begins the task as the migration does. */
const ENTERING = `INSERT INTO long_works (id, kind, application_id, actor, data, cursor, done, total, created_at, updated_at)
  VALUES (?, 'activity.enter_addresses', NULL, ?, '{}', '', 0, NULL, 0, 0)`;

const ids = (entries: { id: string }[]) => entries.map(({ id }) => id);

describe('an activity entry', () => {
  const FIELDS = {
    id: expect.stringMatching(/^aud_/),
    applicationId: expect.stringMatching(/^app_/),
    kind: expect.any(String),
    ok: true,
    userId: null,
    userName: null,
    email: null,
    actorType: 'key',
    actorUserId: expect.stringMatching(/^usr_/),
    actorApiKeyId: expect.stringMatching(/^key_/),
    actorName: 'GATEHOUSE_WORKSPACE_KEY',
    targetId: null,
    targetName: null,
    requestId: expect.stringMatching(/^req_/),
    ip: '203.0.113.7',
    ipCountry: null,
    detail: null,
    createdAt: isoTime(START),
  };

  test('shows actor, target, time, address and request of a change', async () => {
    const { manage, list } = await setUp();
    const [userId] = await people(manage, 'ada@example.com');
    const banned = await manage('POST', `/users/${userId}/ban`, { body: { reason: 'spam' } });
    const created = await manage('POST', '/roles', { body: { slug: 'editor' } });
    const entries = await list();
    expect(entries.find(({ kind }) => kind === 'user.banned')).toEqual({
      ...FIELDS,
      kind: 'user.banned',
      userId,
      email: 'ada@example.com',
      requestId: banned.headers.get('x-request-id'),
      detail: { reason: 'spam' },
    } as never);
    expect(entries.find(({ kind }) => kind === 'role.created')).toEqual({
      ...FIELDS,
      kind: 'role.created',
      targetId: created.json.data.id,
      targetName: 'editor',
      requestId: created.headers.get('x-request-id'),
      detail: { slug: 'editor', name: 'editor' },
    } as never);
  });

  test('has no actor for a sign-in, and the member as actor for a change by a member', async () => {
    const { instance, application, manage, list } = await setUp();
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    const owner = await instance.signIn('console', 'owner@example.com');
    await manage('POST', '/scopes', { token: owner.token, body: { slug: 'read' } });
    const entries = await list();
    expect(entries.find(({ kind }) => kind === 'signin.succeeded')).toEqual({
      ...FIELDS,
      kind: 'signin.succeeded',
      userId: ada.userId,
      email: 'ada@example.com',
      actorType: 'anonymous',
      actorUserId: null,
      actorApiKeyId: null,
      actorName: null,
      targetId: expect.stringMatching(/^ses_/),
      detail: { method: 'otp' },
    } as never);
    expect(entries.find(({ kind }) => kind === 'scope.created')).toMatchObject({
      actorType: 'user',
      actorUserId: owner.userId,
      actorApiKeyId: null,
    });
  });

  test('of a refused sign-in is not ok and gives the reason', async () => {
    const { instance, application, manage, list } = await setUp();
    const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
    await manage('POST', `/users/${userId}/ban`);
    instance.clock.advance(MINUTE);
    const sent = await instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: 'ada@example.com', clientId: application.clientId },
    });
    await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code: instance.codeFor('ada@example.com') },
    });
    const refused = await list({ status: 'error' });
    expect(refused).toEqual([
      expect.objectContaining({
        kind: 'signin.refused',
        ok: false,
        userId,
        detail: { method: 'otp', reason: 'membership_blocked' },
      }),
    ] as never);
  });

  test('has the country from the trusted header', async () => {
    const { instance, application, list } = await setUp({
      environment: {
        GATEHOUSE_COUNTRY_HEADER: 'cf-ipcountry',
        GATEHOUSE_TRUSTED_PROXIES: '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24',
      },
    });
    for (const [email, country] of [
      ['ada@example.com', 'de'],
      ['bob@example.com', 'XX1'],
    ])
      await instance.call('POST', '/api/v1/auth/otp/send', {
        body: { email, clientId: application.clientId },
        headers: { 'cf-ipcountry': country! },
      });
    expect((await list()).map(({ email, ipCountry }) => [email, ipCountry]).sort()).toEqual([
      ['ada@example.com', 'DE'],
      ['bob@example.com', null],
    ]);
    expect(await list({ country: 'DE' })).toHaveLength(1);
  });
});

describe('the activity filters', () => {
  const VALUES = {
    ok: [true, false],
    kind: ['signin.succeeded', 'signin.code_sent', 'role.created', 'session.revoked'],
    country: ['DE', 'FR', null],
    email: ['ada@example.com', 'Bob.Ada@example.org', null],
  };
  const GRID: Seed[] = VALUES.ok.flatMap((ok) =>
    VALUES.kind.flatMap((kind) =>
      VALUES.country.flatMap((country) => VALUES.email.map((email) => ({ ok, kind, country, email }))),
    ),
  );
  const CHOICES: Record<string, [value: string, matches: (row: Seed) => boolean][]> = {
    status: [
      ['ok', ({ ok }) => ok === true],
      ['error', ({ ok }) => ok === false],
    ],
    family: [
      ['signin', ({ kind }) => kind!.startsWith('signin.')],
      ['role', ({ kind }) => kind === 'role.created'],
      ['sign', ({ kind }) => kind!.startsWith('sign')],
      ['role.cr', ({ kind }) => kind === 'role.created'],
      ['ign', () => false],
    ],
    country: [
      ['DE', ({ country }) => country === 'DE'],
      ['fr', ({ country }) => country === 'FR'],
      ['IT', () => false],
    ],
    q: [
      ['ADA@', ({ email }) => email?.toLowerCase().includes('ada@') === true],
      ['.org', ({ email }) => email?.endsWith('.org') === true],
      ['nobody', () => false],
    ],
  };

  /** Returns every combination of filters, each left out or with one of its values. */
  function combinations(): { query: Record<string, string>; matches: (row: Seed) => boolean }[] {
    let all: { query: Record<string, string>; matches: (row: Seed) => boolean }[] = [
      { query: {}, matches: () => true },
    ];
    for (const [name, choices] of Object.entries(CHOICES))
      all = all.flatMap((left) => [
        left,
        ...choices.map(([value, matches]) => ({
          query: { ...left.query, [name]: value },
          matches: (row: Seed) => left.matches(row) && matches(row),
        })),
      ]);
    return all;
  }

  test('return exactly the matching entries, alone and in every combination, newest first', async () => {
    const { list, add } = await setUp();
    const rows = GRID.map((row, index) => ({ ...row, createdAt: START + index * 1000 }));
    const rowIds = add(...rows);
    const all = combinations();
    expect(all).toHaveLength(3 * 6 * 4 * 4);
    for (const { query, matches } of all) {
      const expected = rowIds.filter((_, index) => matches(rows[index]!)).reverse();
      expect({ query, found: ids(await list(query)) }).toEqual({ query, found: expected });
    }
  });

  test('apply to every page', async () => {
    const { manage, add } = await setUp();
    add(...GRID);
    for (const { query, matches } of combinations()) {
      const path = `/activity/list?${new URLSearchParams({ ...query, limit: '7' })}`;
      const found = (await pages<Entry>(manage, path)).flat();
      expect(found).toHaveLength(GRID.filter(matches).length);
      expect(new Set(ids(found)).size).toBe(found.length);
      const seeds = found.map(({ ok, kind, ipCountry, email }) => ({ ok, kind, country: ipCountry, email }));
      expect(seeds.every(matches)).toBe(true);
    }
  });

  test.each([
    ['status=maybe', 'status'],
    ['status=', 'status'],
    ['family=sign-in', 'family'],
    ['family=SIGNIN', 'family'],
    ['family=sign%25', 'family'],
    ['country=DEU', 'country'],
    ['country=%25%25', 'country'],
    ['reason=Gate%20closed', 'reason'],
    ['reason=', 'reason'],
    ['q=', 'q'],
    [`q=${'x'.repeat(321)}`, 'q'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
  ])('refuse %s and name the parameter', async (query, path) => {
    const answer = await (await setUp()).manage('GET', `/activity/list?${query}`);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
  });

  test('find the refusals for one reason, on every page and with other filters', async () => {
    const { manage, list, add } = await setUp();
    const reasons = ['gate_closed', 'membership_blocked', 'gate', undefined];
    const rows = Array.from({ length: 24 }, (_, index) => {
      const reason = reasons[index % reasons.length];
      const detail = reason === undefined ? {} : { detail: { method: 'otp', reason } };
      const email = index % 3 === 0 ? 'ada@example.com' : null;
      return { kind: 'signin.refused', ok: false, email, createdAt: START + index * 1000, ...detail };
    });
    const rowIds = add(...rows);
    const expected = rowIds.filter((_, index) => index % 4 === 0).reverse();
    expect(ids(await list({ reason: 'gate_closed' }))).toEqual(expected);
    const query = new URLSearchParams({ reason: 'gate_closed', status: 'error', family: 'signin.refused', limit: '2' });
    expect(ids((await pages<Entry>(manage, `/activity/list?${query}`)).flat())).toEqual(expected);
    const ofAda = rowIds.filter((_, index) => index % 12 === 0).reverse();
    expect(ids(await list({ reason: 'gate_closed', email: 'ada@example.com' }))).toEqual(ofAda);
    expect(ids(await list({ reason: 'gate_closed', q: 'ADA' }))).toEqual(ofAda);
    expect(await list({ reason: 'nothing' })).toEqual([]);
  });

  test('work for read access as well', async () => {
    const { instance, application, manage } = await setUp();
    const { token } = await instance.createKey(application.id, { access: 'read' });
    const answer = await manage('GET', '/activity/list', { token });
    expect([answer.status, answer.json.data.items.map(({ kind }: Entry) => kind)]).toEqual([200, ['apikey.created']]);
  });
});

describe('the activity filter q', () => {
  const EMAILS = [
    'a_b@example.com',
    'axb@example.com',
    '50%off@example.com',
    '500off@example.com',
    "o'brien@example.com",
    'st*r@example.com',
    'd?t@example.com',
    'päul@example.com',
    'ada+tag@example.com',
    'UPPER@example.com',
  ];

  test.each([
    ['_', ['a_b@example.com']],
    ['a_b', ['a_b@example.com']],
    ['%', ['50%off@example.com']],
    ['50%', ['50%off@example.com']],
    ['0off', ['500off@example.com']],
    ["'", ["o'brien@example.com"]],
    ["' OR 1=1 --", []],
    ['*', ['st*r@example.com']],
    ['?', ['d?t@example.com']],
    ['[', []],
    ['\\', []],
    ['PÄUL', ['päul@example.com']],
    ['+tag', ['ada+tag@example.com']],
    ['upper', ['UPPER@example.com']],
    ['EXAMPLE.COM', EMAILS],
    [' ', []],
    ['null', []],
  ])('takes %j literally, as part of the address, in any case', async (q, expected) => {
    const { list, add } = await setUp();
    add(...EMAILS.map((email) => ({ email })), { email: null });
    const found = await list({ q });
    expect(found.map(({ email }) => email).sort()).toEqual([...expected].sort());
  });

  test('finds a person by a whole id, and an address that is pasted with an @ before it', async () => {
    const { instance, application, manage } = await setUp();
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    await instance.signIn(application.clientId, 'bob@example.com');
    for (const q of [ada.userId, ` ${ada.userId}`, '@ada']) {
      const found = (await pages<Entry>(manage, `/activity/list?q=${encodeURIComponent(q)}`)).flat();
      expect([...new Set(found.map(({ email }) => email))]).toEqual(['ada@example.com']);
    }
    const strangers = `userId=${ada.userId}&q=usr_00000000000000000000000000`;
    expect((await pages<Entry>(manage, `/activity/list?${strangers}`)).flat()).toEqual([]);
  });

  test('finds strangers, former addresses and former members by the index as by a scan', async () => {
    const { instance, application, other, manage, list, add } = await setUp();
    const ada = await instance.signIn(application.clientId, 'ada@example.com');
    await instance.signIn(other.clientId, 'adam@example.com');
    add({ email: 'ada-lovelace@example.net', ok: false });
    const found = async (q: string, more: Record<string, string> = {}) =>
      [...new Set((await list({ q, ...more })).map(({ email }) => email))].sort();
    // Beyond the batch that is always scanned.
    const crowd = () => add(...Array.from({ length: 600 }, (_, at) => ({ email: `c${at % 9}@example.org` })));
    for (const isIndexed of [false, true]) {
      instance.clock.advance(MINUTE);
      crowd();
      if (isIndexed) await instance.services.scheduler.runAll();
      expect(await found('ADA')).toEqual(['ada-lovelace@example.net', 'ada@example.com']);
      expect(await found('ada', { status: 'error' })).toEqual(['ada-lovelace@example.net']);
      expect(await found('ada', { family: 'signin.succ', email: 'ada@example.com' })).toEqual(['ada@example.com']);
      expect(await found('dam@ex')).toEqual([]);
      expect(await found('nobody')).toEqual([]);
    }
    expect((await deleteAccount(instance, ada, 'ada@example.com')).status).toBe(200);
    await instance.services.scheduler.runAll();
    expect(await found('da@exam')).toEqual(['ada@example.com']);
    const paged = await pages<Entry>(manage, '/activity/list?q=ada&limit=2');
    expect(paged.flat().map(({ id }) => id)).toEqual(ids(await list({ q: 'ada' })));
  });

  test('keeps an address as long as a record or mail has it', async () => {
    const { instance, application, list, add } = await setUp();
    const stored = () =>
      (instance.sqlite.query('SELECT address FROM address_search ORDER BY address').values() as string[][]).flat();
    const before = stored();
    add({ email: 'gone@example.com' }, { email: 'gone@example.com' });
    await instance.signIn(application.clientId, 'ada@example.com');
    expect(stored()).toEqual([...before, 'ada@example.com', 'gone@example.com'].sort());
    const purge = (limit: number) =>
      instance.db.write(SYSTEM_ACTOR, (unit) => purgeBatch(unit, 'auditRecords', instance.clock.now() + DAY, limit));
    await purge(1);
    expect(stored()).toContain('gone@example.com');
    await purge(1000);
    // The mail with ada's code is still there.
    expect(stored()).not.toContain('gone@example.com');
    expect(stored()).toContain('ada@example.com');
    expect(await list({ q: 'gone@' })).toEqual([]);
    await instance.db.write(SYSTEM_ACTOR, (unit) =>
      purgeBatch(unit, 'finishedMails', instance.clock.now() + DAY, 1000),
    );
    expect(stored()).not.toContain('ada@example.com');
  });

  test('finds the records of an upgraded instance while their addresses are entered, and after that', async () => {
    const { instance, list, add } = await setUp();
    add(
      ...Array.from({ length: 600 }, (_, at) => ({ email: `c${at % 3}@example.org`, createdAt: START + MINUTE + at })),
    );
    add({ email: 'needle@example.com' });
    instance.sqlite.run('DELETE FROM address_search');
    instance.sqlite.run(ENTERING, ['wrk_00000000000000000000000001', JSON.stringify(SYSTEM_ACTOR)]);
    const emails = async () => (await list({ q: 'needle' })).map(({ email }) => email);
    expect(await emails()).toEqual(['needle@example.com']);
    await instance.services.tasks.runOnce();
    expect(await emails()).toEqual(['needle@example.com']);
    await instance.services.scheduler.runAll();
    expect(await emails()).toEqual(['needle@example.com']);
    const distinct = instance.sqlite.query(
      `SELECT workspace_id, email FROM audit_records WHERE email IS NOT NULL AND workspace_id IS NOT NULL
       UNION SELECT workspace_id, recipient FROM mails WHERE workspace_id IS NOT NULL ORDER BY 1, 2`,
    );
    const entered = instance.sqlite.query(
      'SELECT workspace_id, address FROM address_search WHERE tokens IS NOT NULL ORDER BY 1, 2',
    );
    expect(entered.values()).toEqual(distinct.values());
  });

  test('finds each match among twelve thousand records exactly once across all pages', async () => {
    const { instance, application, manage } = await setUp();
    // Inserted by SQL for speed.
    instance.sqlite
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11999)
         INSERT INTO audit_records (id, application_id, workspace_id, kind, ok, email, actor_type, created_at)
         SELECT 'aud_' || (100000 + i), ?, ?, 'signin.succeeded', 1,
           CASE WHEN i % 1500 = 1 THEN 'needle' || i || '@example.com' ELSE 'hay@example.com' END, 'anonymous', ? + i / 7
         FROM n`,
      )
      .run(application.id, instance.workspaceId, START);
    const found = await pages<Entry>(manage, '/activity/list?q=NEEDLE&limit=3');
    expect(found.flat().map(({ email }) => email)).toEqual(
      [7, 6, 5, 4, 3, 2, 1, 0].map((step) => `needle${step * 1500 + 1}@example.com`),
    );
    expect(found.every((items) => items.length <= 3)).toBe(true);
    expect((await pages<Entry>(manage, '/activity/list?q=nothing')).flat()).toEqual([]);
  });

  test('finds the only match among 100,000 records, by the index and on whichever page a scan reaches it', async () => {
    const { instance, application, manage } = await setUp();
    // Inserted by SQL for speed.
    instance.sqlite
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
         INSERT INTO audit_records (id, application_id, workspace_id, kind, ok, email, actor_type, created_at)
         SELECT 'aud_' || (100000 + i), ?, ?, 'signin.succeeded', 1,
           CASE i WHEN 3 THEN 'needle@example.com' ELSE 'hay@example.com' END,
           'anonymous', ? + i FROM n`,
      )
      .run(application.id, instance.workspaceId, START);
    const found = await pages<Entry>(manage, '/activity/list?q=needle');
    expect(found.map(ids)).toEqual([['aud_100003']]);
    instance.sqlite.run(ENTERING, ['wrk_00000000000000000000000001', JSON.stringify(SYSTEM_ACTOR)]);
    expect(ids((await pages<Entry>(manage, '/activity/list?q=needle')).flat())).toEqual(['aud_100003']);
  });
});

describe('activity paging', () => {
  test.each(['', 'q=example', 'family=signin', 'status=ok&country=DE'])(
    'neither skips nor repeats a record while others are added, with %j',
    async (query) => {
      const { manage, add } = await setUp();
      const row = { email: 'ada@example.com', country: 'DE' };
      const first = add(
        ...Array.from({ length: 11 }, (_, index) => ({ ...row, createdAt: START + Math.floor(index / 4) * MINUTE })),
      );
      const found = await pages<Entry>(manage, `/activity/list?limit=2&${query}`, (page) => {
        if (page < 6) add({ ...row, createdAt: START + 10 * MINUTE }, { ...row, createdAt: START + page * MINUTE });
      });
      const all = ids(found.flat());
      expect(new Set(all).size).toBe(all.length);
      expect(all.filter((id) => first.includes(id)).sort()).toEqual([...first].sort());
      const keys = found.flat().map(({ createdAt, id }) => `${createdAt} ${id}`);
      expect(keys).toEqual([...keys].sort().reverse());
    },
  );

  test('orders records of the same instant by id', async () => {
    const { manage, add } = await setUp();
    const rows = add(...Array.from({ length: 25 }, () => ({ email: 'ada@example.com' })));
    for (const query of ['', '&q=ADA']) {
      const found = await pages<Entry>(manage, `/activity/list?limit=4${query}`);
      expect(ids(found.flat())).toEqual([...rows].sort().reverse());
      expect(found[0]).toHaveLength(4);
    }
  });

  test('ends with the last record', async () => {
    const { manage, add } = await setUp();
    add({}, {});
    expect((await manage('GET', '/activity/list?limit=2')).json.data.nextCursor).toBeNull();
    expect((await manage('GET', '/activity/list?limit=1')).json.data.nextCursor).toBeString();
  });

  test.each(BAD_CURSORS)('refuses the cursor %j, with and without q', async (cursor) => {
    const { manage } = await setUp();
    for (const query of ['', '&q=ada']) {
      const answer = await manage('GET', `/activity/list?cursor=${cursor}${query}`);
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
    }
  });

  test('refuses a very long cursor as invalid', async () => {
    const answer = await (await setUp()).manage('GET', `/activity/list?cursor=${'x'.repeat(600)}`);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_cursor']);
  });

  test('writes nothing', async () => {
    const { instance, manage, add } = await setUp();
    add({ email: 'ada@example.com' });
    const rows = await tables(instance);
    for (const query of ['', '?q=ada', '?cursor=x']) await manage('GET', `/activity/list${query}`);
    expect(await tables(instance)).toEqual(rows);
  });
});

describe('records of another application', () => {
  test('are never shown, for any filter and with any cursor', async () => {
    const { instance, other, manage, add } = await setUp();
    const row = { email: 'ada@example.com', country: 'DE' };
    const own = add(row, row, row);
    seed(instance, other, [row, row, row, { ...row, createdAt: START + 2 * MINUTE }]);
    await given.auditRecords(instance, 1, { kind: 'signin.succeeded', email: 'ada@example.com' });
    for (const query of ['', 'q=ada', 'country=DE', 'family=signin', 'status=ok']) {
      const found = await pages<Entry>(manage, `/activity/list?limit=1&${query}`);
      expect(ids(found.flat()).sort()).toEqual([...own].sort());
    }
    const foreign = (await managing(instance, other)('GET', '/activity/list?limit=1')).json.data.nextCursor;
    const { items } = (await manage('GET', `/activity/list?cursor=${foreign}`)).json.data;
    expect(ids(items).sort()).toEqual([...own].sort());
  });
});
