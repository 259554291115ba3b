/**
 * Every single-use value at every operation that takes one: a value of one purpose, person and application is refused
 * everywhere else, changes nothing there, and still works where it belongs.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { createBrowser } from '../modules/provider/browser.ts';
import { createScene, RETURN_TO, type Scene } from '../modules/provider/scene.ts';
import { register } from '../modules/passkeys/passkeys.ts';
import { createPasskey, type SoftPasskey, usePasskey } from '../support/authenticator.ts';
import * as given from '../support/given.ts';
import type { Answer } from '../support/instance.ts';
import { dumpTables } from '../support/stored.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';
const NEW_ADDRESS = 'ada@new.example.com';
const OWNER = 'owner@example.com';

/** A value: its id, and the secret that proves possession. */
interface Value {
  readonly id: string;
  readonly secret: string;
}

/** Tables that an accepted value changes. */
const OUTCOMES = [
  'users',
  'email_aliases',
  'application_users',
  'sessions',
  'api_keys',
  'passkeys',
  'provider_identities',
  'applications',
  'workspace_members',
  'device_grants',
];

async function createWorld() {
  const scene: Scene = await createScene({
    environment: {
      GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100000',
      GATEHOUSE_LIMIT_ACCOUNT_CODES_PER_PERSON: '100000',
      GATEHOUSE_LIMIT_ACTION_CODES_PER_EMAIL: '100000',
      GATEHOUSE_LIMIT_TRIES_PER_CODE: '20',
      GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1000',
      GATEHOUSE_LIMIT_USER_CODES_PER_SESSION: '1000',
      GATEHOUSE_LIMIT_USER_CODES_PER_PERSON: '1000',
      GATEHOUSE_LIMIT_SETUP_PER_MINUTE: '1000',
      GATEHOUSE_LIMIT_SESSION_PER_MINUTE: '100000',
    },
  });
  const { instance, application: shop } = scene;
  const other = await instance.createApplication({ name: 'Other' });
  const tenant = await given.tenant(instance);
  const signIn = async (clientId: string, email: string) => {
    instance.clock.advance(MINUTE);
    return instance.signIn(clientId, email);
  };
  const people = {
    'ada in shop': await signIn(shop.clientId, ADA),
    'bob in shop': await signIn(shop.clientId, BOB),
    'ada in other': await signIn(other.clientId, ADA),
    'ada in another workspace': await signIn(tenant.application.clientId, ADA),
  };
  type Who = keyof typeof people;
  const emailOf = (who: Who) => (who.startsWith('ada') ? ADA : BOB);

  const call = (method: string, path: string, body?: unknown, token?: string) =>
    instance.call(method, path, { token, ...(body !== undefined && { body }) });
  const as = (who: Who) => (method: string, path: string, body?: unknown) =>
    call(method, path, body, people[who].token);

  /** Changes to the person's global data need a proof, one for each. */
  for (const who of Object.keys(people) as Who[])
    for (const proof of [{}, { purpose: 'email_change', target: NEW_ADDRESS }, { purpose: 'account_deletion' }]) {
      const { challengeId } = (await as(who)('POST', '/api/account/proof', proof)).json.data;
      await as(who)('POST', '/api/account/proof/confirm', { challengeId, code: instance.codeFor(emailOf(who)) });
    }
  const passkey: SoftPasskey = (await register(instance, people['ada in shop'].token)).passkey;

  const mailed = async (sent: Promise<Answer>, email: string): Promise<Value> => ({
    id: (await sent).json.data.challengeId,
    secret: instance.codeFor(email),
  });
  const signInCode = (clientId: string, email: string) => {
    instance.clock.advance(MINUTE / 2);
    return mailed(call('POST', '/api/v1/auth/otp/send', { email, clientId }), email);
  };
  const begin = (clientId: string) => call('POST', '/api/v1/device/code', { client_id: clientId });
  const lifecycle = (applicationId: string, step: string, body: object, token: string) =>
    call('POST', `/api/applications/${applicationId}/lifecycle/${step}`, body, token);

  /** A browser in the middle of its own provider flow. */
  const stranger = createBrowser(instance);
  await stranger.visit(`/api/auth/google/start?clientId=${shop.clientId}&returnTo=${encodeURIComponent(RETURN_TO)}`);
  expect(stranger.cookies.size).toBe(1);
  /** The provider's answer to the flow with a given state. */
  const flows = new Map<string, Record<string, string>>();
  const flowOf = (query: URLSearchParams): Value => {
    const state = query.get('state')!;
    flows.set(state, Object.fromEntries(query));
    return { id: state, secret: state };
  };

  const values: Record<string, () => Promise<Value>> = {
    'sign-in code': () => signInCode(shop.clientId, ADA),
    'proof code': () => mailed(as('ada in shop')('POST', '/api/account/proof'), ADA),
    'address code': () => mailed(as('ada in shop')('POST', '/api/account/email', { email: NEW_ADDRESS }), NEW_ADDRESS),
    'deletion code': () => mailed(as('ada in shop')('POST', '/api/account/deletion'), ADA),
    'lifecycle code': () => mailed(lifecycle(shop.id, 'send', { kind: 'archive' }, instance.workspaceKey), OWNER),
    'passkey sign-in challenge': async () => {
      const { json } = await call('POST', '/api/v1/auth/passkey/options', { clientId: shop.clientId });
      return { id: json.data.challengeId, secret: json.data.options.challenge };
    },
    'passkey registration challenge': async () => {
      const { json } = await as('ada in shop')('POST', '/api/account/passkeys/options');
      return { id: json.data.challengeId, secret: json.data.options.challenge };
    },
    'state of a sign-in at the provider': async () => flowOf(await scene.begin()),
    'state of a link to the provider': async () => {
      const { json } = await scene.browser.visit('/api/account/providers', {
        method: 'POST',
        token: people['ada in shop'].token,
      });
      return flowOf(await scene.provider.agree(json.data.authorizationUrl));
    },
    'setup token': async () => {
      const token = await instance.services.setup.createLink();
      return { id: token, secret: token };
    },
    'device code': async () => {
      const { json } = await begin(shop.clientId);
      await as('ada in shop')('POST', '/api/account/device/approve', { user_code: json.user_code });
      return { id: json.device_code, secret: json.device_code };
    },
    'user code': async () => {
      const { json } = await begin(shop.clientId);
      return { id: json.user_code, secret: json.user_code };
    },
  };

  const code = ({ secret }: Value) => (/^\d{6}$/.test(secret) ? secret : '123456');
  const challenge = (value: Value) => ({ challengeId: value.id, code: code(value) });
  const comeBack = (value: Value, browser = scene.browser) =>
    scene.comeBack({ code: 'none', ...flows.get(value.secret), state: value.secret }, browser);

  type Place = (value: Value) => Promise<Answer>;
  const forAll = (name: string, place: (who: Who) => Place): Record<string, Place> =>
    Object.fromEntries((Object.keys(people) as Who[]).map((who) => [`${name} of ${who}`, place(who)]));
  const applications: [name: string, id: string, key: string][] = [
    ['shop', shop.id, instance.workspaceKey],
    ['other', other.id, instance.workspaceKey],
    ['another workspace', tenant.application.id, tenant.workspaceKey],
  ];
  const places: Record<string, Place> = {
    'sign-in': (value) => call('POST', '/api/v1/auth/otp/verify', challenge(value)),
    ...forAll('proof', (who) => (value) => as(who)('POST', '/api/account/proof/confirm', challenge(value))),
    ...forAll('new address', (who) => (value) => as(who)('POST', '/api/account/email/confirm', challenge(value))),
    ...forAll('deletion', (who) => (value) => as(who)('DELETE', '/api/account', challenge(value))),
    ...Object.fromEntries(
      applications.map(([name, id, key]) => [
        `lifecycle of ${name}`,
        (value: Value) => lifecycle(id, 'confirm', challenge(value), key),
      ]),
    ),
    'passkey sign-in': ({ id, secret }) =>
      call('POST', '/api/v1/auth/passkey/verify', {
        challengeId: id,
        credential: usePasskey(passkey, { challenge: secret }),
      }),
    ...forAll('new passkey', (who) => ({ id, secret }) => {
      const user = { id: Buffer.from('someone').toString('base64url') };
      const { credential } = createPasskey({ challenge: secret, rp: { id: 'localhost' }, user });
      return as(who)('POST', '/api/account/passkeys', { challengeId: id, credential });
    }),
    'return from the provider': (value) => comeBack(value),
    'return from the provider in another browser': (value) => comeBack(value, stranger),
    setup: ({ secret }) => call('POST', '/api/setup', { token: secret, email: 'mallory@example.com' }),
    ...Object.fromEntries(
      [shop, other, tenant.application].map(({ clientId, name }) => [
        `device of ${clientId === shop.clientId ? 'shop' : name}`,
        ({ secret }: Value) => call('POST', '/api/v1/device/token', { client_id: clientId, device_code: secret }),
      ]),
    ),
    ...forAll('approval', (who) => ({ secret }) => {
      return as(who)('POST', '/api/account/device/approve', { user_code: secret });
    }),
  };

  const outcomes = () => {
    const dump = dumpTables(instance);
    return Object.fromEntries(OUTCOMES.map((table) => [table, dump[table]]));
  };
  return { scene, instance, values, places, outcomes, people, as, shop, other, tenant, signInCode, call };
}

/**
 * The places that accept each value; only the first is tried. Any user may approve a device that shows them its code.
 */
const HOME: Record<string, readonly string[]> = {
  'sign-in code': ['sign-in'],
  'proof code': ['proof of ada in shop'],
  'address code': ['new address of ada in shop'],
  'deletion code': ['deletion of ada in shop'],
  'lifecycle code': ['lifecycle of shop'],
  'passkey sign-in challenge': ['passkey sign-in'],
  'passkey registration challenge': ['new passkey of ada in shop'],
  'state of a sign-in at the provider': ['return from the provider'],
  'state of a link to the provider': ['return from the provider'],
  'setup token': ['setup'],
  'device code': ['device of shop'],
  'user code': ['approval of ada in shop', 'approval of bob in shop'],
};

/** A page redirects the browser with the result. */
const isTaken = ({ status, headers }: Answer) =>
  status === 200 || (status === 302 && /#(token|linked)=/.test(headers.get('location') ?? ''));

describe('a single-use value', () => {
  let world: Awaited<ReturnType<typeof createWorld>>;
  beforeAll(async () => void (world = await createWorld()));

  test('has a place that accepts it, and every such place exists', () => {
    expect(Object.keys(HOME).sort()).toEqual(Object.keys(world.values).sort());
    for (const homes of Object.values(HOME)) for (const home of homes) expect(world.places).toHaveProperty([home]);
  });

  // The last values end what the others need.
  const ORDER = Object.keys(HOME).filter((name) => !['address code', 'deletion code', 'lifecycle code'].includes(name));
  test.each([...ORDER, 'address code', 'lifecycle code', 'deletion code'])('%s', async (name) => {
    const isLast = name === 'lifecycle code' || name === 'deletion code';
    // An archived application accepts nothing, so its last values are tried in a separate world.
    const { values, places, outcomes, scene } = isLast ? await createWorld() : world;
    scene.provider.claims = { sub: name, email: ADA, email_verified: true };
    const value = await values[name]!();
    const homes = HOME[name]!;
    const before = outcomes();
    const taken: string[] = [];
    for (const [place, give] of Object.entries(places))
      if (!homes.includes(place) && isTaken(await give(value))) taken.push(place);
    expect(taken).toEqual([]);
    expect(outcomes()).toEqual(before);
    const home = await places[homes[0]!]!(value);
    expect([name, isTaken(home), home.status, isTaken(home) ? '' : home.text]).toEqual([name, true, home.status, '']);
    const again = await places[homes[0]!]!(value);
    // A repeated approval is accepted and has no effect.
    if (name !== 'user code') expect([name, isTaken(again)]).toEqual([name, false]);
  });
});

test('a code is valid only for its own challenge, purpose, person and application', async () => {
  const { as, people, shop, other, tenant, signInCode, call, instance } = await createWorld();
  type Who = keyof typeof people;
  const confirm = (path: string, who: Who) => (body: object) => as(who)('POST', path, body);
  const verify = (body: object) => call('POST', '/api/v1/auth/otp/verify', body);
  const proofOf = async (who: Who, email: string): Promise<Value> => ({
    id: (await as(who)('POST', '/api/account/proof')).json.data.challengeId,
    secret: instance.codeFor(email),
  });
  type Made = [name: string, make: () => Promise<Value>, give: (body: object) => Promise<Answer>];
  const made: Made[] = [
    ['sign-in of ada to shop', () => signInCode(shop.clientId, ADA), verify],
    ['sign-in of bob to shop', () => signInCode(shop.clientId, BOB), verify],
    ['sign-in of ada to other', () => signInCode(other.clientId, ADA), verify],
    ['sign-in of ada to another workspace', () => signInCode(tenant.application.clientId, ADA), verify],
    ...(Object.keys(people) as Who[]).map((who): Made => {
      const email = who.startsWith('ada') ? ADA : BOB;
      return [`proof of ${who}`, () => proofOf(who, email), confirm('/api/account/proof/confirm', who)];
    }),
  ];
  const values: Value[] = [];
  for (const [, make] of made) {
    let value = await make();
    // Two codes are equal by chance one time in a million.
    while (values.some(({ secret }) => secret === value.secret)) value = await make();
    values.push(value);
  }
  const taken: string[] = [];
  for (const [at, [name, , give]] of made.entries())
    for (const [from, [source]] of made.entries()) {
      if (from === at) continue;
      const { json } = await give({ challengeId: values[at]!.id, code: values[from]!.secret });
      if (json.error !== 'code_invalid') taken.push(`code of ${source} for ${name}: ${json.error}`);
    }
  expect(taken).toEqual([]);
  for (const [at, [name, , give]] of made.entries()) {
    const { status } = await give({ challengeId: values[at]!.id, code: values[at]!.secret });
    expect([name, status]).toEqual([name, 200]);
  }
});
