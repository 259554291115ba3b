import { describe, expect, test } from 'bun:test';
import { HOUR, isoTime, MINUTE } from '../../../src/core/clock.ts';
import * as given from '../../support/given.ts';
import { createInstance, START } from '../../support/instance.ts';
import { betaOf, type Row, setUpBeta } from './beta.ts';
import { auditsOf, databaseOf, mailsOf, workspaceKeyUserId } from './records.ts';

const EMAIL = 'ada@example.com';
const RECEIVED = { success: true, data: { received: true } };

describe('a public request for access', () => {
  test.each([
    ['manual', 'request', 'pending', null],
    ['auto_accept', 'request', 'approved', isoTime(START)],
    ['auto_decline', 'request', 'notify_when_public', null],
    ['manual', 'notify', 'notify_when_public', null],
    ['auto_accept', 'notify', 'notify_when_public', null],
    ['auto_decline', 'notify', 'notify_when_public', null],
  ])('under policy %s of kind %s creates an entry with status %s', async (policy, kind, status, decidedAt) => {
    const beta = await setUpBeta();
    const { instance, application } = beta;
    await beta.setPolicy(policy);
    const before = auditsOf(instance).length;
    const answer = await beta.ask('  Ada@Example.com ', kind);
    expect([answer.status, answer.json]).toEqual([200, RECEIVED]);
    expect(await beta.rows()).toEqual({
      [EMAIL]: {
        id: expect.stringMatching(/^bet_/),
        email: EMAIL,
        status,
        source: kind,
        locale: null,
        decidedById: null,
        decidedAt,
        notifiedAt: null,
        createdAt: isoTime(START),
        updatedAt: isoTime(START),
      },
    });
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'beta.requested',
        applicationId: application.id,
        workspaceId: instance.workspaceId,
        actorUserId: null,
        email: EMAIL,
        detail: { kind, status },
      },
    ]);
    expect(mailsOf(instance)).toEqual([]);
    expect(instance.events(application.id)).toEqual([]);
  });

  test.each(['pending', 'approved', 'declined'])(
    'for an entry that is %s changes nothing, whatever its kind',
    async (status) => {
      const beta = await setUpBeta();
      await beta.seed(EMAIL, status);
      const before = await databaseOf(beta.instance);
      for (const kind of ['request', 'notify']) {
        const answer = await beta.ask(EMAIL, kind);
        expect([answer.status, answer.json]).toEqual([200, RECEIVED]);
      }
      expect(await databaseOf(beta.instance)).toEqual(before);
    },
  );

  describe('stores the language of its mails', () => {
    const of = (locale?: string, acceptLanguage?: string) => ({ locale, acceptLanguage });
    test.each([
      ['as the page names it', of('de-AT', 'fr'), 'de'],
      ['as the browser asks for it, passing over what no mail is written in', of(undefined, 'ja, fr;q=0.8'), 'fr'],
      ['as the browser asks for it, where the page names none of ours', of('ja', 'el'), 'el'],
      ['but none that nobody asked for', of(), null],
      ['but nothing that is no language', of('\r\nBcc: x', 'x'.repeat(2_000)), null],
    ] as const)('%s', async (_, { locale, acceptLanguage }, expected) => {
      const { instance, application, rows } = await setUpBeta();
      const body = { kind: 'request', email: EMAIL, ...(locale !== undefined && { locale }) };
      const answer = await instance.call('POST', `/api/applications/${application.id}/public/access-interest`, {
        body,
        headers: acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage },
      });
      expect(answer.json).toEqual(RECEIVED);
      expect((await rows())[EMAIL]?.locale).toBe(expected);
    });

    test('once: a later request changes it only together with the entry', async () => {
      const beta = await setUpBeta();
      const ask = (kind: string, locale: string) =>
        beta.instance.call('POST', `/api/applications/${beta.application.id}/public/access-interest`, {
          body: { kind, email: EMAIL, locale },
        });
      const locale = async () => (await beta.rows())[EMAIL]?.locale;
      await ask('notify', 'fr');
      await ask('notify', 'de');
      expect(await locale()).toBe('fr');
      await ask('request', 'de');
      expect(await locale()).toBe('de');
      await ask('request', 'el');
      expect(await locale()).toBe('de');
    });

    test('for addresses that an admin listed without one', async () => {
      const beta = await setUpBeta();
      await beta.admin('POST', '/beta-interests', { emails: [EMAIL], status: 'pending' });
      await beta.instance.call('POST', `/api/applications/${beta.application.id}/public/access-interest`, {
        body: { kind: 'request', email: EMAIL, locale: 'de' },
      });
      expect((await beta.rows())[EMAIL]).toMatchObject({ locale: 'de', source: 'admin_add', status: 'pending' });
      await beta.admin('POST', '/beta-interests', { emails: ['bea@example.com'], locale: 'tr' });
      expect((await beta.rows())['bea@example.com']?.locale).toBe('tr');
    });
  });

  test('turns a wish to be notified into a pending request', async () => {
    const beta = await setUpBeta();
    await beta.ask(EMAIL, 'notify');
    await beta.ask(EMAIL, 'notify');
    expect(await beta.statuses()).toEqual({ [EMAIL]: 'notify_when_public' });
    await beta.ask(EMAIL, 'request');
    expect((await beta.rows())[EMAIL]).toMatchObject({ status: 'pending', decidedAt: null });
  });

  test.each(['auto_accept', 'auto_decline'])(
    'under policy %s gets the same decision with or without an earlier wish to be notified',
    async (policy) => {
      const beta = await setUpBeta();
      await beta.ask('told@example.com', 'notify');
      await beta.setPolicy(policy);
      for (const email of ['told@example.com', 'new@example.com']) await beta.ask(email);
      const of = ({ status, source, decidedById, decidedAt }: Row) => ({ status, source, decidedById, decidedAt });
      const rows = await beta.rows();
      expect(of(rows['told@example.com']!)).toEqual(of(rows['new@example.com']!));
    },
  );

  test('sent twice while requests are declined has the effect of one', async () => {
    const beta = await setUpBeta();
    await beta.setPolicy('auto_decline');
    await beta.ask(EMAIL);
    const before = await databaseOf(beta.instance);
    beta.instance.clock.advance(MINUTE);
    await beta.ask(EMAIL);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test('does not change a soft decline', async () => {
    const beta = await setUpBeta();
    const row = await beta.seed(EMAIL, 'pending');
    await beta.admin('POST', `/beta-interests/${row.id}/decline`, { soft: true });
    const before = await databaseOf(beta.instance);
    await beta.ask(EMAIL);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test('sent twenty times at once leaves one entry and one audit record', async () => {
    const beta = await setUpBeta({ environment: { GATEHOUSE_LIMIT_INTEREST_PER_EMAIL: '100' } });
    const before = auditsOf(beta.instance).length;
    await Promise.all(Array.from({ length: 20 }, () => beta.ask(EMAIL)));
    expect(await beta.statuses()).toEqual({ [EMAIL]: 'pending' });
    expect(auditsOf(beta.instance, before)).toHaveLength(1);
  });

  test('gets the same answer for every status and for an unknown address', async () => {
    const beta = await setUpBeta();
    const seeded = ['pending', 'approved', 'notify_when_public', 'declined'];
    for (const status of seeded) await beta.seed(`${status}@example.com`, status);
    await beta.instance.signIn('console', 'owner@example.com');
    beta.instance.clock.advance(HOUR);
    for (const name of [...seeded, 'owner', 'nobody']) {
      beta.instance.peer = `203.0.113.${name.length}`;
      const { status, text, headers } = await beta.ask(`${name}@example.com`);
      expect([name, status, JSON.parse(text)]).toEqual([name, 200, RECEIVED]);
      expect(
        [...headers.keys()].filter((header) => !/^ratelimit|^x-|^content-type$|^cache-control$/.test(header)),
      ).toEqual([]);
      expect(headers.get('ratelimit-remaining')).toBe('4');
    }
  });
});

describe('a refused request', () => {
  test.each([
    [{ kind: 'request' }, 'email'],
    [{ email: EMAIL }, 'kind'],
    [{ kind: 'admin_add', email: EMAIL }, 'kind'],
    [{ kind: 'request', email: 'no-address' }, 'email'],
    [{ kind: 'request', email: [EMAIL] }, 'email'],
    [{ kind: 'request', email: EMAIL, status: 'approved' }, 'status'],
  ])('writes nothing for the invalid body %j', async (body, path) => {
    const beta = await setUpBeta();
    const before = await databaseOf(beta.instance);
    const url = `/api/applications/${beta.application.id}/public/access-interest`;
    const answer = await beta.instance.call('POST', url, { body });
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(answer.text).not.toContain('no-address');
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test('gets the same 404 for an unknown application and for the console, and writes nothing', async () => {
    const { instance } = await setUpBeta();
    const before = await databaseOf(instance);
    const bodies = [];
    for (const id of ['app_01h455vb4pex5vsknk084sn02q', 'nonsense', instance.services.workspaces.consoleId()]) {
      const answer = await instance.call('POST', `/api/applications/${id}/public/access-interest`, {
        body: { kind: 'request', email: EMAIL },
      });
      expect([id, answer.status]).toEqual([id, 404]);
      bodies.push({ ...answer.json, requestId: '' });
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test.each(['archive', 'delete'])('writes nothing for an application after %s', async (kind) => {
    const beta = await setUpBeta();
    const { instance, application } = beta;
    await given.lifecycle(instance, application.id, { kind });
    const before = await databaseOf(instance);
    const answer = await beta.ask(EMAIL);
    expect([answer.status, answer.json.error]).toEqual([403, 'application_archived']);
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('the rate limits of public requests', () => {
  test('allow five an hour per e-mail, across spellings, client addresses and applications', async () => {
    const beta = await setUpBeta();
    const { instance } = beta;
    const other = betaOf(instance, await instance.createApplication({ name: 'Other' }));
    instance.clock.advance(10 * MINUTE);
    const spellings = ['ada@example.com', 'ADA@example.com', ' ada@EXAMPLE.COM', 'Ada@Example.Com '];
    for (let count = 0; count < 5; count += 1) {
      instance.peer = `203.0.113.${count + 1}`;
      const answer = await (count % 2 ? beta : other).ask(spellings[count % 4]!);
      expect(answer.status).toBe(200);
      expect([
        answer.headers.get('ratelimit-limit'),
        answer.headers.get('ratelimit-remaining'),
        answer.headers.get('ratelimit-reset'),
      ]).toEqual(['5', String(4 - count), '3000']);
    }
    const before = await databaseOf(instance);
    const refused = await beta.ask('aDa@example.com', 'notify');
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(
      ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
        refused.headers.get(name),
      ),
    ).toEqual(['3000', '5', '0', '3000']);
    expect(await databaseOf(instance)).toEqual(before);
    expect((await beta.ask('bob@example.com')).status).toBe(200);
    instance.clock.advance(50 * MINUTE);
    expect((await beta.ask(EMAIL)).status).toBe(200);
  });

  test('allow thirty an hour per client address, even across a restart', async () => {
    const beta = await setUpBeta();
    const { instance } = beta;
    for (let count = 0; count < 30; count += 1) expect((await beta.ask(`p${count}@example.com`)).status).toBe(200);
    const before = await databaseOf(instance);
    const refused = await beta.ask('late@example.com');
    expect([refused.status, refused.json.error]).toEqual([429, 'rate_limited']);
    expect(['retry-after', 'ratelimit-limit', 'ratelimit-remaining'].map((name) => refused.headers.get(name))).toEqual([
      '3600',
      '30',
      '0',
    ]);
    expect(await databaseOf(instance)).toEqual(before);
    const restarted = betaOf(await instance.restart(), beta.application);
    expect((await restarted.ask('late@example.com')).status).toBe(429);
    restarted.instance.peer = '203.0.113.99';
    expect((await restarted.ask('late@example.com')).status).toBe(200);
  });

  test('announce in the headers the limit that is closer', async () => {
    const beta = await setUpBeta();
    for (let count = 0; count < 28; count += 1) await beta.ask(`p${count}@example.com`);
    const answer = await beta.ask('next@example.com');
    expect([answer.headers.get('ratelimit-limit'), answer.headers.get('ratelimit-remaining')]).toEqual(['30', '1']);
  });

  test('are configurable through the environment', async () => {
    const beta = await setUpBeta({
      environment: { GATEHOUSE_LIMIT_INTEREST_PER_EMAIL: '1', GATEHOUSE_LIMIT_INTEREST_PER_ADDRESS: '2' },
    });
    expect((await beta.ask('a@example.com')).status).toBe(200);
    expect((await beta.ask('a@example.com')).status).toBe(429);
    expect((await beta.ask('b@example.com')).status).toBe(429);
  });

  test('apply per e-mail but not per client address in an ephemeral instance', async () => {
    const beta = await setUpBeta({ mode: 'ephemeral' });
    for (let count = 0; count < 60; count += 1) expect((await beta.ask(`p${count}@example.com`)).status).toBe(200);
    for (let count = 0; count < 5; count += 1) expect((await beta.ask(EMAIL)).status).toBe(200);
    expect((await beta.ask(EMAIL)).status).toBe(429);
  });
});

describe('the request policy', () => {
  const setUpWaiting = async () => {
    const beta = await setUpBeta();
    for (const status of ['approved', 'notify_when_public', 'declined'])
      await beta.seed(`${status}@example.com`, status);
    await beta.ask('one@example.com');
    await beta.ask('two@example.com');
    beta.instance.clock.advance(MINUTE);
    return { beta, before: await beta.rows(), audits: auditsOf(beta.instance).length };
  };

  test.each([
    ['auto_accept', undefined, 'approved', null],
    ['auto_accept', false, 'approved', null],
    ['auto_accept', true, 'approved', 'You can now sign in to Shop'],
    ['auto_decline', undefined, 'notify_when_public', 'Your request for Shop has to wait'],
    ['auto_decline', true, 'notify_when_public', 'Your request for Shop has to wait'],
    ['auto_decline', false, 'notify_when_public', 'Your request for Shop has to wait'],
  ] as const)(
    '%s with notify %p sets pending entries to %s and mails each person: %p',
    async (policy, notify, status, subject) => {
      const { beta, before, audits } = await setUpWaiting();
      const answer = await beta.setPolicy(policy, notify);
      expect([answer.status, answer.json]).toEqual([200, { success: true, data: { policy, decided: 2 } }]);
      const decision = {
        status,
        decidedById: workspaceKeyUserId(beta.instance),
        decidedAt: isoTime(START + MINUTE),
        updatedAt: isoTime(START + MINUTE),
      };
      expect(await beta.rows()).toEqual({
        ...before,
        'one@example.com': { ...before['one@example.com']!, ...decision },
        'two@example.com': { ...before['two@example.com']!, ...decision },
      });
      expect(mailsOf(beta.instance).map((mail) => [mail.to, mail.subject])).toEqual(
        subject === null
          ? []
          : [
              ['one@example.com', subject],
              ['two@example.com', subject],
            ],
      );
      expect(auditsOf(beta.instance, audits)).toMatchObject([
        {
          kind: 'beta.policy_changed',
          applicationId: beta.application.id,
          workspaceId: beta.instance.workspaceId,
          detail: { policy, decided: 2 },
        },
      ]);
      const record = await beta.instance.call('GET', `/api/applications/${beta.application.id}`, {
        token: beta.instance.workspaceKey,
      });
      expect(record.json.data.betaRequestPolicy).toBe(policy);
    },
  );

  test('manual leaves pending entries as they are and sends no mail', async () => {
    const { beta, before } = await setUpWaiting();
    const answer = await beta.setPolicy('manual', true);
    expect(answer.json.data).toEqual({ policy: 'manual', decided: 0 });
    expect(await beta.rows()).toEqual(before);
    expect(mailsOf(beta.instance)).toEqual([]);
  });

  test('decides nothing and sends no mail when set again', async () => {
    const { beta } = await setUpWaiting();
    await beta.setPolicy('auto_accept', true);
    const rows = await beta.rows();
    const again = await beta.setPolicy('auto_accept', true);
    expect(again.json.data).toEqual({ policy: 'auto_accept', decided: 0 });
    expect(await beta.rows()).toEqual(rows);
    expect(mailsOf(beta.instance)).toHaveLength(2);
  });

  test.each([
    [{}, 'policy'],
    [{ policy: 'auto' }, 'policy'],
    [{ policy: 'auto_accept', notify: 'yes' }, 'notify'],
    [{ policy: 'auto_accept', emails: [] }, 'emails'],
  ])('refuses %j and decides nothing', async (body, path) => {
    const { beta } = await setUpWaiting();
    const before = await databaseOf(beta.instance);
    const answer = await beta.admin('POST', '/beta-policy', body);
    expect([answer.status, answer.json.error, answer.json.fields[0].path]).toEqual([400, 'invalid_request', path]);
    expect(await databaseOf(beta.instance)).toEqual(before);
  });

  test('of one application decides no entry of another', async () => {
    const instance = await createInstance();
    const mine = betaOf(instance, await instance.createApplication());
    const theirs = betaOf(instance, await instance.createApplication({ name: 'Other' }));
    for (const beta of [mine, theirs]) await beta.ask(EMAIL);
    const before = await theirs.rows();
    await mine.setPolicy('auto_accept', true);
    expect(await theirs.rows()).toEqual(before);
    expect(mailsOf(instance)).toHaveLength(1);
  });
});
