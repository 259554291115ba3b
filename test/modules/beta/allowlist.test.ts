import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { createInstance, START } from '../../support/instance.ts';
import { type Beta, betaOf, setUpBeta } from './beta.ts';
import { auditsOf, databaseOf, mailsOf, workspaceKeyUserId } from './records.ts';

const EMAIL = 'ada@example.com';
const EVERY_STATUS = ['pending', 'approved', 'notify_when_public', 'declined'];

/** Returns the kinds of the audit records that `work` wrote. */
async function kindsWritten({ instance }: Beta, work: () => Promise<unknown>): Promise<string[]> {
  const before = auditsOf(instance).length;
  await work();
  return auditsOf(instance, before).map(({ kind }) => kind);
}

describe('adding addresses', () => {
  test('approves a single address, with the admin as source and decider', async () => {
    const beta = await setUpBeta();
    const { instance, application } = beta;
    const before = auditsOf(instance).length;
    const answer = await beta.add('  Ada@Example.COM ');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      success: true,
      data: {
        items: [
          {
            id: expect.stringMatching(/^bet_/),
            email: EMAIL,
            status: 'approved',
            source: 'admin_add',
            locale: null,
            decidedById: workspaceKeyUserId(instance),
            decidedAt: isoTime(START),
            notifiedAt: null,
            createdAt: isoTime(START),
            updatedAt: isoTime(START),
          },
        ],
        summary: { requested: 1, created: 1, updated: 0, unchanged: 0 },
      },
    });
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'beta.added',
        applicationId: application.id,
        workspaceId: instance.workspaceId,
        actorUserId: workspaceKeyUserId(instance),
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
    expect(mailsOf(instance)).toEqual([]);
    expect(instance.events(application.id)).toEqual([]);
  });

  test('records the person who is signed in to the console as decider', async () => {
    const beta = await setUpBeta();
    const { instance, application } = beta;
    const owner = await instance.signIn('console', 'owner@example.com');
    const answer = await instance.call('POST', `/api/applications/${application.id}/beta-interests`, {
      token: owner.token,
      body: { emails: [EMAIL] },
    });
    expect(answer.json.data.items[0].decidedById).toBe(owner.userId);
  });

  test('adds a list as pending by default, and as approved on request', async () => {
    const beta = await setUpBeta();
    const listed = await beta.add('a@example.com', 'b@example.com');
    expect(listed.json.data.items).toMatchObject([
      { email: 'a@example.com', status: 'pending', source: 'admin_add', decidedById: null, decidedAt: null },
      { email: 'b@example.com', status: 'pending', source: 'admin_add', decidedById: null, decidedAt: null },
    ]);
    const admitted = await beta.admin('POST', '/beta-interests', {
      emails: ['c@example.com', 'd@example.com'],
      status: 'approved',
    });
    expect(admitted.json.data.items.map(({ status }: { status: string }) => status)).toEqual(['approved', 'approved']);
    expect(admitted.json.data.summary).toEqual({ requested: 2, created: 2, updated: 0, unchanged: 0 });
  });

  test('counts an address once, in any case and with any spaces', async () => {
    const beta = await setUpBeta();
    const { json } = await beta.add(EMAIL, ' ADA@example.com', 'bob@example.com');
    expect(json.data.items).toHaveLength(2);
    expect(json.data.summary).toMatchObject({ created: 2 });
    expect(await beta.statuses()).toEqual({ [EMAIL]: 'pending', 'bob@example.com': 'pending' });
  });

  describe.each(EVERY_STATUS)('to a waitlist that has the address as %s', (status) => {
    test.each([
      ['a single address', { emails: [EMAIL] }, 'approved'],
      ['a list', { emails: [EMAIL, 'bob@example.com'] }, 'pending'],
      ['a list to be approved', { emails: [EMAIL, 'bob@example.com'], status: 'approved' }, 'approved'],
      ['a single address to be pending', { emails: [EMAIL], status: 'pending' }, 'pending'],
    ])('sets the requested state for %s, but never demotes an approved entry', async (_, body, wanted) => {
      const beta = await setUpBeta();
      const before = await beta.seed(EMAIL, status);
      beta.instance.clock.advance(MINUTE);
      const { json } = await beta.admin('POST', '/beta-interests', body);
      const expected = status === 'approved' ? 'approved' : wanted;
      const isChanged = expected !== status;
      const after = (await beta.rows())[EMAIL]!;
      expect(after).toMatchObject({ id: before.id, status: expected, createdAt: before.createdAt });
      expect(json.data.items[0]).toEqual(after);
      expect(json.data.summary).toMatchObject({ updated: isChanged ? 1 : 0, unchanged: isChanged ? 0 : 1 });
      if (!isChanged) expect(after).toEqual(before);
      else
        expect([after.decidedById, after.decidedAt]).toEqual(
          expected === 'approved' ? [workspaceKeyUserId(beta.instance), isoTime(START + MINUTE)] : [null, null],
        );
    });
  });

  test('turns a request into an entry of the admin', async () => {
    const beta = await setUpBeta();
    await beta.ask(EMAIL);
    await beta.add(EMAIL);
    expect((await beta.rows())[EMAIL]).toMatchObject({ status: 'approved', source: 'admin_add' });
  });

  test('changes nothing for the same address a second time', async () => {
    const beta = await setUpBeta();
    const first = await beta.add(EMAIL);
    beta.instance.clock.advance(MINUTE);
    const second = await beta.add(EMAIL);
    expect(second.json.data.items).toEqual(first.json.data.items);
    expect(second.json.data.summary).toEqual({ requested: 1, created: 0, updated: 0, unchanged: 1 });
  });

  test('creates one entry when twenty calls add the same address at once', async () => {
    const beta = await setUpBeta();
    const answers = await Promise.all(Array.from({ length: 20 }, () => beta.add(EMAIL)));
    expect(new Set(answers.map(({ json }) => json.data.items[0].id)).size).toBe(1);
    expect(Object.keys(await beta.rows())).toEqual([EMAIL]);
  });

  test('accepts 500 addresses in one call', async () => {
    const beta = await setUpBeta();
    const emails = Array.from({ length: 500 }, (_, index) => `person${index}@example.com`);
    const { status, json } = await beta.add(...emails);
    expect([status, json.data.summary.created]).toEqual([200, 500]);
    expect(Object.keys(await beta.rows())).toHaveLength(500);
  });
});

describe('a refused addition', () => {
  test('names each invalid address without repeating it, and writes nothing', async () => {
    const beta = await setUpBeta();
    const before = await databaseOf(beta.instance);
    const answer = await beta.add('a@example.com', 'not-an-address', 'c@example.com', 'two@@example.com');
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    expect(answer.json.fields.map(({ path }: { path: string }) => path)).toEqual(['emails.1', 'emails.3']);
    expect(answer.text).not.toContain('not-an-address');
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test.each([
    ['501 addresses', { emails: Array.from({ length: 501 }, (_, index) => `person${index}@example.com`) }, 'emails'],
    ['no address', { emails: [] }, 'emails'],
    ['no list', {}, 'emails'],
    ['one address that is no list', { emails: EMAIL }, 'emails'],
    ['a number for an address', { emails: [EMAIL, 5] }, 'emails.1'],
    ['a status that cannot be set', { emails: [EMAIL], status: 'declined' }, 'status'],
    ['a field that is not known', { emails: [EMAIL], colour: 'red' }, 'colour'],
  ])('writes nothing for %s', async (_, body, path) => {
    const beta = await setUpBeta();
    const before = await databaseOf(beta.instance);
    const answer = await beta.admin('POST', '/beta-interests', body);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });
});

describe('approving', () => {
  test.each(['pending', 'notify_when_public', 'declined'])(
    'sets a %s entry to approved and records the decider and the time',
    async (from) => {
      const beta = await setUpBeta();
      const row = await beta.seed(EMAIL, from);
      beta.instance.clock.advance(MINUTE);
      const before = auditsOf(beta.instance).length;
      const answer = await beta.admin('POST', `/beta-interests/${row.id}/approve`);
      expect(answer.status).toBe(200);
      expect(answer.json.data).toEqual({
        ...row,
        status: 'approved',
        decidedById: workspaceKeyUserId(beta.instance),
        decidedAt: isoTime(START + MINUTE),
        updatedAt: isoTime(START + MINUTE),
      });
      expect(auditsOf(beta.instance, before)).toMatchObject([
        {
          kind: 'beta.approved',
          workspaceId: beta.instance.workspaceId,
          targetId: row.id,
          email: EMAIL,
          requestId: answer.headers.get('x-request-id'),
        },
      ]);
      // People who asked to be notified are notified unless the call says otherwise.
      const expectedSubjects = from === 'notify_when_public' ? ['You can now sign in to Shop'] : [];
      expect(mailsOf(beta.instance).map(({ subject }) => subject)).toEqual(expectedSubjects);
    },
  );

  test('notifies nobody when the call says so', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'notify_when_public');
    const { json } = await beta.admin('POST', `/beta-interests/${row.id}/approve`, { notify: false });
    expect([json.data.status, mailsOf(beta.instance)]).toEqual(['approved', []]);
  });

  test('returns the approved entry and changes nothing when repeated', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'approved');
    beta.instance.clock.advance(MINUTE);
    const before = await databaseOf(beta.instance);
    for (const body of [undefined, {}, { notify: true }]) {
      const again = await beta.admin('POST', `/beta-interests/${row.id}/approve`, body);
      expect([again.status, again.json.data]).toEqual([200, row]);
    }
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test('notifies the person once on request, even with ten concurrent calls', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'pending');
    const kinds = await kindsWritten(beta, () =>
      Promise.all(
        Array.from({ length: 10 }, () => beta.admin('POST', `/beta-interests/${row.id}/approve`, { notify: true })),
      ),
    );
    expect(kinds).toEqual(['beta.approved']);
    const mails = mailsOf(beta.instance);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[EMAIL, 'You can now sign in to Shop']]);
    expect(mails[0]!.text).toContain('Your request was approved');
  });
});

describe('declining', () => {
  test('keeps the entry and does not notify the person', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'pending');
    beta.instance.clock.advance(MINUTE);
    const before = auditsOf(beta.instance).length;
    const answer = await beta.admin('POST', `/beta-interests/${row.id}/decline`);
    expect(answer.status).toBe(200);
    expect(answer.json.data).toEqual({
      ...row,
      status: 'declined',
      decidedById: workspaceKeyUserId(beta.instance),
      decidedAt: isoTime(START + MINUTE),
      updatedAt: isoTime(START + MINUTE),
    });
    expect(auditsOf(beta.instance, before)).toMatchObject([
      { kind: 'beta.declined', targetId: row.id, email: EMAIL, detail: { soft: false } },
    ]);
    expect(mailsOf(beta.instance)).toEqual([]);
    expect(await beta.statuses()).toEqual({ [EMAIL]: 'declined' });
  });

  test('softly keeps the person for the launch and notifies them once', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'pending');
    const kinds = await kindsWritten(beta, async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => beta.admin('POST', `/beta-interests/${row.id}/decline`, { soft: true })),
      );
      for (const { status, json } of answers)
        expect([status, json.data.status, json.data.notifiedAt]).toEqual([200, 'notify_when_public', null]);
    });
    expect(kinds).toEqual(['beta.declined']);
    const mails = mailsOf(beta.instance);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([[EMAIL, 'Your request for Shop has to wait']]);
    expect(mails[0]!.text).toContain('you will hear of it');
  });

  test('returns the declined entry and changes nothing when repeated', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'declined');
    const before = await databaseOf(beta.instance);
    const again = await beta.admin('POST', `/beta-interests/${row.id}/decline`, {});
    expect([again.status, again.json.data]).toEqual([200, row]);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });
});

describe('removing an entry', () => {
  test('deletes the address with an audit record, and a second call gets a 404', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'approved');
    await beta.seed('bob@example.com', 'pending');
    const before = auditsOf(beta.instance).length;
    const removed = await beta.admin('DELETE', `/beta-interests/${row.id}`);
    expect([removed.status, removed.json]).toEqual([200, { success: true, data: { id: row.id } }]);
    expect(await beta.statuses()).toEqual({ 'bob@example.com': 'pending' });
    expect((await beta.admin('DELETE', `/beta-interests/${row.id}`)).status).toBe(404);
    expect(auditsOf(beta.instance, before)).toMatchObject([{ kind: 'beta.removed', targetId: row.id, email: EMAIL }]);
  });

  test('allows the person to send a new request', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'declined');
    await beta.admin('DELETE', `/beta-interests/${row.id}`);
    await beta.ask(EMAIL);
    expect((await beta.rows())[EMAIL]).toMatchObject({ status: 'pending', source: 'request', decidedAt: null });
  });
});

describe('the waitlist', () => {
  test('is newest first, pages without gaps or repeats while entries are added, and filters by status', async () => {
    const beta = await setUpBeta();
    const { instance } = beta;
    for (let index = 0; index < 7; index += 1) {
      await beta.seed(`p${index}@example.com`, EVERY_STATUS[index % 4]!);
      instance.clock.advance(MINUTE);
    }
    const seen: string[] = [];
    let cursor = '';
    do {
      const { status, json } = await beta.admin('GET', `/beta-interests?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      seen.push(...json.data.items.map(({ email }: { email: string }) => email));
      cursor = json.data.nextCursor;
      await beta.seed(`late${seen.length}@example.com`, 'pending');
    } while (cursor !== null);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `p${index}@example.com`));

    for (const status of EVERY_STATUS) {
      const { json } = await beta.admin('GET', `/beta-interests?status=${status}&limit=200`);
      expect(new Set(json.data.items.map((row: { status: string }) => row.status))).toEqual(new Set([status]));
    }
    const first = await beta.admin('GET', '/beta-interests?status=approved&limit=1');
    const next = await beta.admin(
      'GET',
      `/beta-interests?status=approved&limit=1&cursor=${first.json.data.nextCursor}`,
    );
    expect([first, next].map(({ json }) => json.data.items[0].email)).toEqual(['p5@example.com', 'p1@example.com']);
    expect(next.json.data.nextCursor).toBeNull();
  });

  test('is an empty list for an application without entries', async () => {
    const beta = await setUpBeta();
    const { json } = await beta.admin('GET', '/beta-interests');
    expect(json).toEqual({ success: true, data: { items: [], nextCursor: null } });
  });

  test.each([
    ['cursor=nonsense', 'invalid_cursor'],
    ['cursor=W10', 'invalid_cursor'],
    ['cursor=WzFd', 'invalid_cursor'],
    ['limit=0', 'invalid_request'],
    ['limit=201', 'invalid_request'],
    ['limit=many', 'invalid_request'],
    ['status=unknown', 'invalid_request'],
  ])('refuses the query ?%s', async (query, error) => {
    const beta = await setUpBeta();
    const answer = await beta.admin('GET', `/beta-interests?${query}`);
    expect([answer.status, answer.json.error]).toEqual([400, error]);
  });
});

describe('an entry of another application', () => {
  test.each([
    ['POST', '/approve'],
    ['POST', '/decline'],
    ['DELETE', ''],
  ])('gets the 404 of an unknown id for %s …%s, and does not change', async (method, verb) => {
    const instance = await createInstance();
    const mine = betaOf(instance, await instance.createApplication());
    const theirs = betaOf(instance, await instance.createApplication({ name: 'Other' }));
    const row = await theirs.seed(EMAIL, 'pending');
    const before = await databaseOf(instance);
    const foreign = await mine.admin(method, `/beta-interests/${row.id}${verb}`);
    const nothing = await mine.admin(method, `/beta-interests/bet_01h455vb4pex5vsknk084sn02q${verb}`);
    expect([foreign.status, foreign.json.error]).toEqual([404, 'not_found']);
    expect({ ...foreign.json, requestId: '' }).toEqual({ ...nothing.json, requestId: '' });
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('is not listed, and the same address has one entry in each application', async () => {
    const instance = await createInstance();
    const mine = betaOf(instance, await instance.createApplication());
    const theirs = betaOf(instance, await instance.createApplication({ name: 'Other' }));
    const row = await theirs.seed(EMAIL, 'declined');
    expect(await mine.rows()).toEqual({});
    await mine.add(EMAIL);
    await mine.setPolicy('auto_accept');
    expect((await theirs.rows())[EMAIL]).toEqual(row);
  });
});

test('an application key manages the waitlist of its own application only, a read key none', async () => {
  const instance = await createInstance();
  const mine = betaOf(instance, await instance.createApplication());
  const theirs = betaOf(instance, await instance.createApplication({ name: 'Other' }));
  const full = await instance.createKey(mine.application.id);
  const read = await instance.createKey(mine.application.id, { access: 'read' });
  const row = await mine.seed(EMAIL, 'pending');
  const before = await databaseOf(instance);
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', '/beta-interests'],
    ['POST', '/beta-interests', { emails: ['bob@example.com'] }],
    ['POST', `/beta-interests/${row.id}/approve`],
    ['POST', `/beta-interests/${row.id}/decline`],
    ['DELETE', `/beta-interests/${row.id}`],
    ['POST', '/beta-policy', { policy: 'auto_accept' }],
    ['POST', '/signin-gate', { gate: 'closed' }],
  ];
  for (const [method, path, body] of calls) {
    const own = `/api/applications/${mine.application.id}${path}`;
    const readOnly = await instance.call(method, own, { token: read.token, body });
    expect([method, path, readOnly.status, readOnly.json.error]).toEqual([method, path, 403, 'admin_scope_required']);
    const other = `/api/applications/${theirs.application.id}${path}`;
    const foreign = await instance.call(method, other, { token: full.token, body });
    expect([method, path, foreign.status, foreign.json.error]).toEqual([method, path, 404, 'not_found']);
    const stranger = await instance.call(method, own, { body: body && { nonsense: true } });
    expect([method, path, stranger.status, stranger.json.error]).toEqual([method, path, 401, 'unauthenticated']);
  }
  expect(await databaseOf(instance)).toEqual(before);
  const admitted = await instance.call(
    'POST',
    `/api/applications/${mine.application.id}/beta-interests/${row.id}/approve`,
    {
      token: full.token,
    },
  );
  expect([admitted.status, admitted.json.data.status]).toEqual([200, 'approved']);
});
