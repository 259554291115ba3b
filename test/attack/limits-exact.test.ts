/** Limits under concurrent calls and after a restart: exactly the configured number of calls is admitted. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import { LIMITS, type LimitName } from '@/http/limits.ts';
import { ENGINE } from '../support/engine.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

setDefaultTimeout(120_000);

/** The configured limit, and the number of concurrent calls. */
const ALLOWED = 7;
const AT_ONCE = 25;

/** Raises every other limit of the same call, and lets clients register. */
const OTHERS = {
  GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000',
  GATEHOUSE_LIMIT_USER_CODES_PER_SESSION: '1000',
  GATEHOUSE_LIMIT_USER_CODES_PER_PERSON: '1000',
  GATEHOUSE_OPENID_REGISTRATION: 'on',
};

interface Scene {
  readonly clientId: string;
  readonly applicationId: string;
  /** The token of a member's session. */
  readonly session: string;
  /** The client secret of the application. */
  readonly secret: string;
}

type Attempt = (instance: Instance, scene: Scene, index: number) => Promise<Answer>;

const post = (path: string, body: (scene: Scene, index: number) => object): Attempt => {
  return (instance, scene, index) =>
    instance.call('POST', path.replace(':id', scene.applicationId), { body: body(scene, index) });
};
const get =
  (path: string, headers: Record<string, string> = {}): Attempt =>
  (instance) =>
    instance.call('GET', path, { headers });
const asPerson =
  (method: string, path: string): Attempt =>
  (instance, { session }) =>
    instance.call(method, path, { token: session });

const introspect = (instance: Instance, clientId: string, secret: string) =>
  instance.call('POST', '/api/v1/introspect', {
    body: { token: 'est_nonsense', client_id: clientId, client_secret: secret },
  });

const UNKNOWN_CODE = 'BBBB-BBBB';

const WAITING = 'waiting@example.com';
const tickets = new Map<string, Promise<string>>();

/** Returns the ticket of a refused sign-in, made once per application. */
function ticketOf(instance: Instance, { applicationId, clientId }: Scene): Promise<string> {
  const found = tickets.get(applicationId) ?? refused();
  tickets.set(applicationId, found);
  return found;

  async function refused(): Promise<string> {
    const gate = { token: instance.workspaceKey, body: { gate: 'closed' } };
    await instance.call('POST', `/api/applications/${applicationId}/signin-gate`, gate);
    return (await instance.trySignIn(clientId, WAITING)).json.interest.ticket;
  }
}

/** One use of each counted limit; `RECORDED_ELSEWHERE` names the tests of the others. */
const USES: Partial<Record<LimitName, Attempt>> = {
  sessionPerMinute: asPerson('POST', '/api/v1/session'),
  failuresPerAddressPerMinute: (instance) => instance.call('POST', '/api/v1/session', { token: 'est_nonsense' }),
  clientPerMinute: (instance, { clientId, secret }) => introspect(instance, clientId, secret),
  wrongClientsPerAddress: (instance, { clientId }) => introspect(instance, clientId, 'ecs_nonsense'),
  codesPerAddress: post('/api/v1/auth/otp/send', ({ clientId }, index) => ({
    email: `guest${index}@example.com`,
    clientId,
  })),
  passkeysPerAddress: post('/api/v1/auth/passkey/options', ({ clientId }) => ({ clientId })),
  providerPerAddress: get('/api/auth/google/start'),
  deviceCodesPerAddress: post('/api/v1/device/code', ({ clientId }) => ({ client_id: clientId })),
  wrongDeviceCodesPerAddress: get(`/device?code=${UNKNOWN_CODE}`),
  wrongUserCodesPerSession: asPerson('GET', `/api/account/device?user_code=${UNKNOWN_CODE}`),
  wrongUserCodesPerPerson: asPerson('GET', `/api/account/device?user_code=${UNKNOWN_CODE}`),
  wrongUserCodesPerAddress: asPerson('GET', `/api/account/device?user_code=${UNKNOWN_CODE}`),
  registrationsPerAddress: post('/oauth/register', () => ({ redirect_uris: ['https://agent.example.com/back'] })),
  setupPerAddressPerMinute: post('/api/setup', () => ({ token: 'nonsense', email: 'me@example.com' })),
  interestPerEmail: post('/api/applications/:id/public/access-interest', () => ({
    kind: 'request',
    email: 'guest@example.com',
  })),
  interestPerAddress: post('/api/applications/:id/public/access-interest', (_, index) => ({
    kind: 'request',
    email: `guest${index}@example.com`,
  })),
  standingsPerEmail: async (instance, scene) => {
    const body = { email: WAITING, ticket: await ticketOf(instance, scene) };
    return instance.call('POST', `/api/applications/${scene.applicationId}/public/access-state`, { body });
  },
  imagesPerPerson: asPerson('DELETE', '/api/account/self/images/avatar'),
  exportsPerPerson: asPerson('GET', '/api/account/export'),
};

/** Limits whose uses are rows, with the test file that covers each. */
const RECORDED_ELSEWHERE: Partial<Record<LimitName, string>> = {
  wrongCodesPerEmail: 'attack/guessing-codes.test.ts',
  wrongCodesPerBrowser: 'attack/guessing-codes.test.ts',
  wrongCodesPerAddress: 'attack/guessing-codes.test.ts',
  wrongCodesInAll: 'attack/guessing-codes.test.ts',
  codePauseMinutes: 'attack/guessing-codes.test.ts',
  slugsPerApplication: 'attack/taken-names.test.ts',
  mailsPerWorkspace: 'attack/mail-budget.test.ts',
  workspacesPerAccount: 'attack/workspace-limit.test.ts',
  workspacesPerDay: 'attack/workspace-limit.test.ts',
  devicePollSeconds: 'http/limits.test.ts',
  requestsAtOnce: 'binary/slow-clients.test.ts',
  bodySeconds: 'binary/slow-clients.test.ts',
  slowBodiesPerAddress: 'binary/slow-clients.test.ts',
  slowBodiesInAll: 'http/slow-bodies.test.ts',
  anonymousBodiesMib: 'http/body-reader.test.ts',
  authenticatedBodiesMib: 'http/body-reader.test.ts',
  streamsPerPerson: 'http/stream-slots.test.ts',
  streamsPerAddress: 'http/stream-slots.test.ts',
};

async function setScene(environment: Record<string, string>): Promise<{ instance: Instance; scene: Scene }> {
  const instance = await createInstance({ environment: { ...OTHERS, ...environment } });
  const { id, clientId } = await instance.createApplication();
  // Starts a new window after the setup's own calls, and not at its very edge.
  const { token } = await instance.signIn(clientId, 'ada@example.com');
  instance.clock.advance(DAY + SECOND);
  const { json } = await instance.call('POST', `/api/applications/${id}/rotate-secret`, {
    token: instance.workspaceKey,
  });
  return { instance, scene: { applicationId: id, clientId, session: token, secret: json.data.clientSecret } };
}

/** Returns the instances that are called at once: on PostgreSQL a second one on the same database as well. */
async function instancesOf(instance: Instance): Promise<readonly [Instance, ...Instance[]]> {
  return ENGINE === 'postgres' ? [instance, await instance.sibling()] : [instance];
}

/** Returns how many of `AT_ONCE` concurrent calls, to the instances in turn, are not answered 429. */
async function countAccepted(
  instances: readonly [Instance, ...Instance[]],
  scene: Scene,
  attempt: Attempt,
  from = 0,
): Promise<number> {
  const at = (index: number) => instances[index % instances.length] ?? instances[0];
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => attempt(at(index), scene, from + index)),
  );
  expect(answers.filter(({ status }) => status >= 500).map(({ json }) => json)).toEqual([]);
  for (const { status, headers } of answers)
    if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  return answers.filter(({ status }) => status !== 429).length;
}

test('every limit is tested here or in a named test file', () => {
  const missing = (Object.keys(LIMITS) as LimitName[]).filter(
    (name) => !(name in USES) && !(name in RECORDED_ELSEWHERE) && !(name in HERE),
  );
  expect(missing).toEqual([]);
  for (const [name, file] of Object.entries(RECORDED_ELSEWHERE)) {
    const setting = LIMITS[name as LimitName].env.replace('GATEHOUSE_LIMIT_', '');
    expect(readFileSync(resolve(import.meta.dir, '..', file!), 'utf8')).toMatch(
      new RegExp(`\\b${name}\\b|${setting}\\b`),
    );
  }
});

describe('concurrent calls', () => {
  test.each(Object.entries(USES) as [LimitName, Attempt][])(
    '%s: exactly as many get through as configured, none after a restart, and as many in the next window',
    async (name, attempt) => {
      const { env, windowMs } = LIMITS[name] as { env: string; windowMs: number };
      const { instance, scene } = await setScene({ [env]: String(ALLOWED) });
      const instances = await instancesOf(instance);
      expect(await countAccepted(instances, scene, attempt)).toBe(ALLOWED);
      expect(await countAccepted(instances, scene, attempt, 100)).toBe(0);
      const restarted = await instance.restart();
      expect(await countAccepted([restarted], scene, attempt, 200)).toBe(0);
      instance.clock.advance(windowMs);
      expect(await countAccepted([restarted], scene, attempt, 300)).toBe(ALLOWED);
    },
  );

  test.each([
    ['perMinute', MINUTE, { perMinute: ALLOWED, perDay: 1000 }],
    ['perDay', DAY, { perMinute: 1000, perDay: ALLOWED }],
  ])(
    'a key’s %s: exactly as many get through, and the minute’s refusals do not count for the day',
    async (_, windowMs, rateLimits) => {
      const { instance, scene } = await setScene({});
      const { token } = await instance.createKey(scene.applicationId, { rateLimits });
      const use: Attempt = (at) => at.call('GET', `/api/applications/${scene.applicationId}`, { token });
      expect(await countAccepted(await instancesOf(instance), scene, use)).toBe(ALLOWED);
      const restarted = await instance.restart();
      expect(await countAccepted([restarted], scene, use)).toBe(0);
      instance.clock.advance(windowMs);
      expect(await countAccepted([restarted], scene, use)).toBe(ALLOWED);
    },
  );
});

/** One test for each limit whose uses are rows. */
const HERE: Partial<Record<LimitName, () => Promise<void>>> = {
  async codeCooldownSeconds() {
    const { instance, scene } = await setScene({});
    await sendAtOnce(instance, scene);
    expect(codeMails(instance)).toBe(1);
    instance.clock.advance(30 * SECOND);
    await sendAtOnce(await instance.restart(), scene);
    expect(codeMails(instance)).toBe(2);
  },
  async codesPerEmail() {
    const { instance, scene } = await setScene({ GATEHOUSE_LIMIT_CODES_PER_EMAIL: '3' });
    for (let round = 0; round < 6; round += 1) {
      await sendAtOnce(round % 2 ? await instance.restart() : instance, scene);
      instance.clock.advance(31 * SECOND);
    }
    expect(codeMails(instance)).toBe(3);
  },
  async wrongTriesPerCode() {
    const { instance, scene } = await setScene({
      GATEHOUSE_LIMIT_TRIES_PER_CODE: '4',
      GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1000',
      GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '1000',
    });
    const body = { email: 'guest@example.com', clientId: scene.clientId };
    const { challengeId } = (await instance.call('POST', '/api/v1/auth/otp/send', { body })).json.data;
    const right = instance.codeFor('guest@example.com');
    const guesses = Array.from({ length: AT_ONCE }, (_, index) =>
      String((Number(right) + 1 + index) % 1_000_000).padStart(6, '0'),
    );
    const verify = async (at: Instance, code: string) =>
      (await at.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } })).json.error;
    const errors = await Promise.all(guesses.map((code) => verify(instance, code)));
    expect(errors.filter((error) => error === 'code_invalid')).toHaveLength(4);
    expect(errors.filter((error) => error === 'code_exhausted')).toHaveLength(AT_ONCE - 4);
    expect(await verify(await instance.restart(), right)).toBe('code_exhausted');
  },
  async actionCodesPerEmail() {
    const { instance, scene } = await setScene({ GATEHOUSE_LIMIT_ACTION_CODES_PER_EMAIL: String(ALLOWED) });
    const token = instance.workspaceKey;
    const ask: Attempt = (at) =>
      at.call('POST', `/api/applications/${scene.applicationId}/lifecycle/send`, { token, body: { kind: 'archive' } });
    expect(await countAccepted(await instancesOf(instance), scene, ask)).toBe(ALLOWED);
    expect(await countAccepted([await instance.restart()], scene, ask)).toBe(0);
  },
  async accountCodesPerPerson() {
    const { instance, scene } = await setScene({ GATEHOUSE_LIMIT_ACCOUNT_CODES_PER_PERSON: String(ALLOWED) });
    const ask = asPerson('POST', '/api/account/proof');
    expect(await countAccepted(await instancesOf(instance), scene, ask)).toBe(ALLOWED);
    expect(await countAccepted([await instance.restart()], scene, ask)).toBe(0);
  },
};

const sendAtOnce = (instance: Instance, { clientId }: Scene) =>
  Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'guest@example.com', clientId } }),
    ),
  );

function codeMails({ sqlite }: Instance): number {
  const row = sqlite.query("SELECT count(*) AS n FROM mails WHERE recipient = 'guest@example.com'").get();
  return (row as { n: number }).n;
}

describe('concurrent calls of which each use is stored', () => {
  test.each(Object.entries(HERE))(
    '%s: exactly as many get through as configured, even after a restart',
    async (_, prove) => {
      await prove();
    },
  );
});
