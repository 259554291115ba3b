import { describe, expect, test } from 'bun:test';
import { HOUR, isoTime, MINUTE } from '@/core/clock.ts';
import { findConsole } from '@/store/applications.ts';
import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { lastAudit } from '../users/management.ts';
import { createScene, grants, sceneOf } from './scene.ts';

const DECISIONS = ['approve', 'deny'] as const;
const STATUS = { approve: 'approved', deny: 'denied' } as const;

async function withPeople() {
  const scene = await createScene();
  const bea = await scene.signIn('bea@example.com');
  return { ...scene, bea };
}

describe('the application behind a user code', () => {
  test('is known to the page before sign-in, until the code expires', async () => {
    const { instance, application, begin } = await createScene();
    const { applicationOf } = instance.services.deviceApproval;
    const { user_code, device_code } = await begin();
    const before = dumpTables(instance);
    expect((await applicationOf(user_code.toLowerCase()))?.id).toBe(application.id);
    for (const wrong of ['BBBB-BBBB', 'nonsense', '', device_code]) expect(await applicationOf(wrong)).toBeNull();
    instance.clock.advance(15 * MINUTE);
    expect(await applicationOf(user_code)).toBeNull();
    expect(dumpTables(instance)).toEqual(before);
  });
});

describe('looking up a user code', () => {
  test('shows the application, the device and its address, and the access a key would have', async () => {
    const { instance, application, ada, begin, look } = await createScene({
      environment: {
        GATEHOUSE_COUNTRY_HEADER: 'cf-ipcountry',
        GATEHOUSE_TRUSTED_PROXIES: '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24',
      },
    });
    await given.holder(instance, 'scopes', application.id, ada.userId, 'orders:read');
    await given.holder(instance, 'memberships', application.id, ada.userId, 'berlin');
    instance.peer = '192.0.2.44';
    const headers = { 'user-agent': 'acme-cli/2', 'cf-ipcountry': 'DE' };
    const { user_code } = await begin({ device_name: 'Ada’s laptop' }, headers);
    const { status, json } = await look(user_code, ada);
    expect([status, json.data]).toEqual([
      200,
      {
        userCode: user_code,
        status: 'pending',
        application: { id: application.id, clientId: application.clientId, name: 'Shop', logoUrl: null },
        device: { name: 'Ada’s laptop', ip: '192.0.2.44', ipCountry: 'DE', userAgent: 'acme-cli/2' },
        grants: {
          actsAs: { userId: ada.userId, email: 'ada@example.com', name: null },
          roles: ['user'],
          scopes: ['orders:read'],
          memberships: ['berlin'],
          workspaces: [],
        },
        keyEndsAt: null,
        requestedAt: isoTime(instance.clock.now()),
        expiresAt: isoTime(instance.clock.now() + 15 * MINUTE),
      },
    ]);
  });

  test('shows the workspaces and roles of the person when the code is for the console', async () => {
    const { instance } = await createScene();
    const console_ = sceneOf(instance, (await findConsole(instance.db.reader))!);
    const owner = await console_.signIn('owner@example.com');
    const { json } = await console_.look((await console_.begin()).user_code, owner);
    expect(json.data.grants.workspaces).toEqual([
      { workspaceId: instance.workspaceId, name: 'Workspace', role: 'owner' },
    ]);
  });

  test('ignores case, spaces and hyphens, and returns the code in its canonical form', async () => {
    const { ada, begin, look, decide } = await createScene();
    const { user_code } = await begin();
    const typed = user_code.toLowerCase().replace('-', '');
    for (const text of [typed, ` ${typed.slice(0, 3)} ${typed.slice(3)} `, [...typed].join('-')])
      expect((await look(text, ada)).json.data.userCode).toBe(user_code);
    expect((await decide('approve', typed, ada)).json.data).toEqual({ status: 'approved' });
  });

  test('never returns the device code', async () => {
    const { ada, begin, look } = await createScene();
    const { user_code, device_code } = await begin();
    expect((await look(user_code, ada)).text).not.toContain(device_code.slice(4, 20));
  });

  test('refuses a request without a user code', async () => {
    const { instance, ada } = await createScene();
    for (const query of ['', '?user_code=', '?code=BBBB-BBBB']) {
      const { status, json } = await instance.call('GET', `/api/account/device${query}`, { token: ada.token });
      expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', 'user_code']);
    }
    for (const decision of DECISIONS) {
      const { status, json } = await instance.call('POST', `/api/account/device/${decision}`, {
        token: ada.token,
        body: {},
      });
      expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', 'user_code']);
    }
  });

  test('accepts the session cookie for a lookup, and for a decision only from our own origin', async () => {
    const { instance } = await createScene();
    const console_ = sceneOf(instance, (await findConsole(instance.db.reader))!);
    const owner = await console_.signIn('owner@example.com');
    const { user_code } = await console_.begin();
    const cookie = { cookie: `gatehouse=${owner.token}` };
    const approve = (headers: Record<string, string>) =>
      instance.call('POST', '/api/account/device/approve', { body: { user_code }, headers: { ...cookie, ...headers } });
    const looked = await instance.call('GET', `/api/account/device?user_code=${user_code}`, { headers: cookie });
    expect(looked.status).toBe(200);
    expect((await approve({})).status).toBe(403);
    expect((await approve({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await approve({ origin: 'http://localhost:8080' })).status).toBe(200);
  });
});

type Scene = Awaited<ReturnType<typeof withPeople>>;

/** Each invalid code, with a function that prepares it. */
const WRONG: [what: string, prepare: (scene: Scene) => Promise<string> | string][] = [
  ['never issued', () => 'BBBB-BBBB'],
  ['without the format of a code', () => 'AEIO-1234'],
  ['far too long', () => 'B'.repeat(5000)],
  [
    'expired',
    async ({ instance, begin }) => {
      const { user_code } = await begin();
      instance.clock.advance(15 * MINUTE);
      return user_code;
    },
  ],
  [
    'of a sibling application',
    async ({ instance }) =>
      (await sceneOf(instance, await instance.createApplication({ name: 'Sibling' })).begin()).user_code,
  ],
  [
    'of another tenant',
    async ({ instance }) => (await sceneOf(instance, (await given.tenant(instance)).application).begin()).user_code,
  ],
  [
    'of the console',
    async ({ instance }) => (await sceneOf(instance, (await findConsole(instance.db.reader))!).begin()).user_code,
  ],
  [
    'claimed by another person',
    async ({ bea, begin, look }) => {
      const { user_code } = await begin();
      await look(user_code, bea);
      return user_code;
    },
  ],
  ['the device’s own', async ({ begin }) => (await begin()).device_code],
];

describe('an invalid user code', () => {
  test.each(WRONG)('(%s) gets the same 404 as any other and changes nothing', async (_, prepare) => {
    const scene = await withPeople();
    const { instance, ada, look, decide } = scene;
    const code = await prepare(scene);
    const before = dumpTables(instance);
    for (const ask of [() => look(code, ada), () => decide('approve', code, ada), () => decide('deny', code, ada)]) {
      const { status, json } = await ask();
      expect([status, json]).toEqual([
        404,
        {
          success: false,
          error: 'not_found',
          message: 'This code is wrong or has expired; check it on your device, or start again there for a new one.',
          requestId: expect.any(String),
        },
      ]);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  test('locks the session out for the rest of the hour after five failures, even for correct codes', async () => {
    const { instance, ada, begin, look, decide, signIn } = await createScene();
    instance.clock.advance(HOUR - (instance.clock.now() % HOUR));
    const { user_code } = await begin();
    expect((await look(user_code, ada)).status).toBe(200);
    for (const ask of [
      () => look('BBBB-BBBB', ada),
      () => decide('approve', 'CCCC-CCCC', ada),
      () => decide('deny', 'DDDD-DDDD', ada),
      () => look('nonsense', ada),
      () => look('FFFF-FFFF', ada),
    ])
      expect((await ask()).status).toBe(404);
    for (const ask of [
      () => look('GGGG-GGGG', ada),
      () => look(user_code, ada),
      () => decide('approve', user_code, ada),
      () => decide('deny', user_code, ada),
    ]) {
      const { status, json, headers } = await ask();
      expect([status, json.error, headers.get('retry-after')]).toEqual([429, 'rate_limited', '3600']);
    }
    expect(grants(instance)[0]).toMatchObject({ status: 'pending' });
    // Another session has a count of its own, and the locked one may try again in the next hour.
    expect((await look('BBBB-BBBB', await signIn('ada@example.com'))).status).toBe(404);
    instance.clock.advance(HOUR);
    expect((await look((await begin()).user_code, ada)).status).toBe(200);
  });

  test('counts against the person too: twenty failures lock out all their sessions', async () => {
    const { ada, begin, look, signIn } = await createScene();
    const sessions = [ada];
    while (sessions.length < 5) sessions.push(await signIn('ada@example.com'));
    for (const session of sessions.slice(0, 4))
      for (let wrong = 0; wrong < 5; wrong += 1) expect((await look('BBBB-BBBB', session)).status).toBe(404);
    const { user_code } = await begin();
    expect((await look(user_code, sessions[4]!)).status).toBe(429);
    expect((await look(user_code, await signIn('bea@example.com'))).status).toBe(200);
  });

  test('is limited to five answers even when twenty requests arrive at once', async () => {
    const { ada, begin, look } = await createScene();
    const { user_code } = await begin();
    const answers = await Promise.all(Array.from({ length: 20 }, () => look('BBBB-BBBB', ada)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(404), ...Array(15).fill(429)]);
    expect((await look(user_code, ada)).status).toBe(429);
  });

  test('counts across a restart', async () => {
    const { instance, ada } = await createScene();
    const ask = (on: typeof instance) =>
      on.call('GET', '/api/account/device?user_code=BBBB-BBBB', { token: ada.token });
    for (let count = 0; count < 5; count += 1) await ask(instance);
    expect((await ask(await instance.restart())).status).toBe(429);
  });

  test('is the only kind that counts: twenty lookups of a correct code pass', async () => {
    const { ada, begin, look } = await createScene();
    const { user_code } = await begin();
    for (let count = 0; count < 20; count += 1) expect((await look(user_code, ada)).status).toBe(200);
  });
});

describe('a claim', () => {
  test('belongs to the session that looked first: no other person can see the code or decide on it', async () => {
    const { ada, bea, begin, look, decide, instance } = await withPeople();
    const { user_code } = await begin();
    expect((await look(user_code, ada)).status).toBe(200);
    expect((await look(user_code, bea)).status).toBe(404);
    for (const decision of DECISIONS) expect((await decide(decision, user_code, bea)).status).toBe(404);
    expect((await decide('approve', user_code, ada)).status).toBe(200);
    for (const decision of DECISIONS) expect((await decide(decision, user_code, bea)).status).toBe(404);
    expect(grants(instance)[0]).toMatchObject({ status: 'approved' });
  });

  test('goes to exactly one of two people who decide at the same moment', async () => {
    const { ada, bea, begin, decide, outcome, instance } = await withPeople();
    const codes = await begin();
    const [byAda, ...byBea] = (
      await Promise.all([
        decide('approve', codes.user_code, ada),
        decide('approve', codes.user_code, bea),
        decide('deny', codes.user_code, bea),
      ])
    ).map(({ status }) => status);
    // The first call takes the claim. A second decision of the same person is a conflict.
    if (byAda === 200) expect(byBea).toEqual([404, 404]);
    else expect([byAda, byBea.toSorted()]).toEqual([404, [200, 409]]);
    const isApproved = byAda === 200 || byBea[0] === 200;
    expect(await outcome(codes)).toBe(isApproved ? 'Bearer' : 'access_denied');
    expect(
      instance.sqlite.query("SELECT created_by_user_id AS by FROM api_keys WHERE source = 'device'").get(),
    ).toEqual(isApproved ? { by: (byAda === 200 ? ada : bea).userId } : null);
  });

  test('moves to another session of the same person when it looks, and the first can no longer decide', async () => {
    const { ada, begin, look, decide, signIn } = await createScene();
    const { user_code } = await begin();
    await look(user_code, ada);
    const second = await signIn('ada@example.com');
    for (const decision of DECISIONS) {
      const { status, json } = await decide(decision, user_code, second);
      expect([status, json.error]).toEqual([409, 'invalid_state']);
    }
    expect((await look(user_code, second)).status).toBe(200);
    expect((await decide('approve', user_code, ada)).status).toBe(409);
    expect((await decide('approve', user_code, second)).status).toBe(200);
  });

  test('ends with its session: after a sign-out another person can claim the code', async () => {
    const { ada, bea, begin, look, decide, instance } = await withPeople();
    const { user_code } = await begin();
    await look(user_code, ada);
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect((await look(user_code, bea)).status).toBe(200);
    expect((await decide('approve', user_code, bea)).status).toBe(200);
  });

  test('outlives its session once the grant is decided', async () => {
    const { ada, bea, begin, look, decide, instance } = await withPeople();
    const codes = [await begin(), await begin()];
    await decide('approve', codes[0]!.user_code, ada);
    await decide('deny', codes[1]!.user_code, ada);
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    for (const { user_code } of codes) expect((await look(user_code, bea)).status).toBe(404);
  });
});

describe('a decision', () => {
  test.each(DECISIONS)(
    'to %s needs no look-up, writes one audit record, and changes nothing when repeated',
    async (decision) => {
      const { ada, application, begin, decide, look, instance } = await createScene();
      const { user_code } = await begin({ device_name: 'Laptop' });
      const { status, json } = await decide(decision, user_code, ada);
      expect([status, json]).toEqual([200, { success: true, data: { status: STATUS[decision] } }]);
      expect(lastAudit(instance, `device.${STATUS[decision]}`)).toMatchObject({
        application_id: application.id,
        workspace_id: instance.workspaceId,
        user_id: ada.userId,
        actor_user_id: ada.userId,
        target_id: grants(instance)[0]!['id'],
        detail: '{"device":"Laptop"}',
      });
      expect(grants(instance)[0]).toMatchObject({ decided_at: instance.clock.now() });
      expect((await look(user_code, ada)).json.data.status).toBe(STATUS[decision]);
      const before = dumpTables(instance);
      instance.clock.advance(MINUTE);
      expect((await decide(decision, user_code, ada)).json.data).toEqual({ status: STATUS[decision] });
      expect(dumpTables(instance)).toEqual(before);
    },
  );

  test.each([
    ['approve', 'deny'],
    ['deny', 'approve'],
  ] as const)('to %s is final and cannot be turned into %s', async (decision, opposite) => {
    const { ada, begin, decide, instance } = await createScene();
    const { user_code } = await begin();
    await decide(decision, user_code, ada);
    const before = dumpTables(instance);
    const { status, json } = await decide(opposite, user_code, ada);
    expect([status, json.error]).toEqual([409, 'invalid_state']);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('is refused once the device has its key', async () => {
    const { ada, begin, decide, look, outcome, instance } = await createScene();
    const codes = await begin();
    await decide('approve', codes.user_code, ada);
    await outcome(codes);
    const before = dumpTables(instance);
    for (const decision of DECISIONS) {
      const { status, json } = await decide(decision, codes.user_code, ada);
      expect([status, json.error]).toEqual([409, 'invalid_state']);
    }
    expect((await look(codes.user_code, ada)).json.data.status).toBe('redeemed');
    expect(dumpTables(instance)).toEqual(before);
  });

  test('to approve is refused with the sign-in error when the gate has closed, to deny is accepted', async () => {
    const { ada, application, begin, decide, instance } = await createScene();
    const { user_code } = await begin();
    await given.application(instance, application.id, { signinGate: 'private_beta' });
    const { status, json } = await decide('approve', user_code, ada);
    expect([status, json.error]).toEqual([403, 'waitlist']);
    expect(grants(instance)[0]).toMatchObject({ status: 'pending', claimed_session_id: null });
    expect((await decide('deny', user_code, ada)).status).toBe(200);
  });

  test('to approve is refused for a draft application unless the person is an insider', async () => {
    const { ada, application, begin, decide, instance } = await createScene();
    const { user_code } = await begin();
    await given.application(instance, application.id, { stage: 'draft' });
    const { status, json } = await decide('approve', user_code, ada);
    expect([status, json.error]).toEqual([403, 'gate_closed']);
  });

  test('is refused once the person’s membership has ended', async () => {
    const { ada, begin, look, decide, setStatus } = await createScene();
    const { user_code } = await begin();
    await setStatus(ada.userId, 'banned');
    for (const answer of [await look(user_code, ada), await decide('approve', user_code, ada)])
      expect([answer.status, answer.json.error]).toEqual([403, 'membership_blocked']);
  });
});
