/** Guessing codes: how many guesses are checked, from any number of clients, and who can still sign in during an attack. */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR, MINUTE, SECOND } from '@/core/clock.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import { type Answer, createInstance, type Instance } from '../support/instance.ts';

const VICTIM = 'ada@example.com';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' };
/** Lifts every limit but the lockout budgets. */
const ONLY_BUDGETS = {
  GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100000',
  GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '100000',
  GATEHOUSE_LIMIT_TRIES_PER_CODE: '20',
  GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '100000',
};

interface Guess {
  readonly email?: string;
  readonly peer?: string;
  readonly cookie?: string;
}

async function setUp(environment: Record<string, string> = {}) {
  const instance = await createInstance({ environment });
  const { clientId, id } = await instance.createApplication();
  return { instance, clientId, applicationId: id };
}

const headersOf = (cookie?: string) => (cookie === undefined ? {} : { headers: { ...OWN_PAGE, cookie } });
const requestCode = (instance: Instance, clientId: string, email: string, cookie?: string) =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId }, ...headersOf(cookie) });
const enterCode = (instance: Instance, challengeId: string, code: string, cookie?: string) =>
  instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code }, ...headersOf(cookie) });
const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

/** Makes one guess with a code of its own. @returns the refusal of the guess or of the request for a code. */
async function guess(instance: Instance, clientId: string, { email = VICTIM, peer, cookie }: Guess): Promise<Answer> {
  if (peer !== undefined) instance.peer = peer;
  const asked = await requestCode(instance, clientId, email, cookie);
  if (asked.status !== 200) return asked;
  return enterCode(instance, asked.json.data.challengeId, wrong(instance.codeFor(email)), cookie);
}

/** Yields client addresses, no two in one /64 prefix. */
function* clients(): Generator<string> {
  for (let at = 0; ; at += 1) yield `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
}

/** Guesses as often as allowed until the time is up. @returns the times of the judged guesses. */
async function guessFor(instance: Instance, ms: number, attempt: () => Promise<Answer>): Promise<number[]> {
  const end = instance.clock.now() + ms;
  const judged: number[] = [];
  while (instance.clock.now() < end) {
    const { status, json, headers } = await attempt();
    if (json.error === 'code_invalid') judged.push(instance.clock.now());
    else expect([status, json.error]).toEqual([429, 'rate_limited']);
    const waitMs = status === 429 ? Number(headers.get('retry-after')) * SECOND : 30 * SECOND;
    instance.clock.advance(Math.max(waitMs, SECOND));
  }
  return judged;
}

/** Returns the highest number of times within any 24 hours. */
const mostInADay = (times: readonly number[]) =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + DAY).length));

/** Signs the person in on the hosted page in a browser. @returns its cookie. */
async function knownBrowser(instance: Instance, clientId: string, email = VICTIM, before = ''): Promise<string> {
  const asked = await requestCode(instance, clientId, email);
  const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor(email) };
  const headers = { ...OWN_PAGE, ...(before && { cookie: before }) };
  const { headers: answered } = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers });
  instance.clock.advance(MINUTE);
  return answered
    .getSetCookie()
    .find((cookie) => cookie.startsWith('gatehouse-known='))!
    .split(';')[0]!;
}

describe('the judged guesses', () => {
  test('one address gets 24 judged guesses in any 24 hours, from any number of clients', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    const peers = clients();
    const judged = await guessFor(instance, 4 * DAY, () =>
      guess(instance, clientId, { peer: peers.next().value as string }),
    );
    const start = judged[0]!;
    expect(judged.filter((at) => at < start + DAY)).toHaveLength(24);
    expect(mostInADay(judged)).toBe(24);
  }, 120_000);

  test('one address gets at most 24 a day even at a pace tuned to stay below the limits', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    const peers = clients();
    const judged: number[] = [];
    for (const end = instance.clock.now() + 3 * DAY; instance.clock.now() < end; instance.clock.advance(70 * MINUTE)) {
      const { json } = await guess(instance, clientId, { peer: peers.next().value as string });
      if (json.error === 'code_invalid') judged.push(instance.clock.now());
    }
    expect(mostInADay(judged)).toBeLessThanOrEqual(24);
  });

  test('one /64 prefix gets 54 judged guesses a day over ever new addresses', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    let count = 0;
    const judged = await guessFor(instance, 2 * DAY, () => {
      count += 1;
      return guess(instance, clientId, {
        email: `person${count}@example.com`,
        peer: `2001:db8:0:7::${count.toString(16)}`,
      });
    });
    const start = judged[0]!;
    expect(judged.filter((at) => at < start + DAY)).toHaveLength(54);
    expect(mostInADay(judged)).toBe(54);
  }, 120_000);

  test('guesses of codes requested elsewhere are counted for the guesser’s own /64 prefix', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    const statuses: number[] = [];
    for (let at = 0; at < 60; at += 1) {
      const email = `person${at}@example.com`;
      instance.peer = `198.51.100.${at}`;
      const { challengeId } = (await requestCode(instance, clientId, email)).json.data;
      instance.peer = '203.0.113.66';
      statuses.push((await enterCode(instance, challengeId, wrong(instance.codeFor(email)))).status);
    }
    expect(statuses).toEqual([...Array(50).fill(400), ...Array(10).fill(429)]);
  });

  test('above the hourly limit of the instance are limited to a tenth per address, and nobody is locked out', async () => {
    const { instance, clientId } = await setUp({
      ...ONLY_BUDGETS,
      GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '30',
      GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '20',
    });
    const peers = clients();
    const at = (count: number, peer: string) =>
      guess(instance, clientId, { email: `person${count}@example.com`, peer });
    const first = instance.clock.now();
    for (let count = 0; count < 30; count += 1) {
      expect((await at(count, peers.next().value as string)).status).toBe(400);
      instance.clock.advance(SECOND);
    }
    instance.peer = '203.0.113.1';
    const { challengeId } = (await requestCode(instance, clientId, 'new@example.com')).json.data;
    expect((await enterCode(instance, challengeId, wrong(instance.codeFor('new@example.com')))).status).toBe(400);
    expect((await enterCode(instance, challengeId, instance.codeFor('new@example.com'))).status).toBe(200);

    const fromOne = (count: number) => at(count, '2001:db8:0:7::1');
    expect([(await fromOne(31)).status, (await fromOne(32)).status]).toEqual([400, 400]);
    const refused = await fromOne(33);
    expect([refused.status, refused.headers.get('ratelimit-limit')]).toEqual([429, '2']);
    expect(refused.json.message).toContain('on this server');
    // The guesses of the first minute expire after an hour, which lifts the limit.
    const retryMs = Number(refused.headers.get('retry-after')) * SECOND;
    expect(instance.clock.now() + retryMs).toBeLessThanOrEqual(first + HOUR + 30 * SECOND);
    instance.clock.advance(HOUR);
    for (let count = 34; count < 40; count += 1) expect((await fromOne(count)).status).toBe(400);
  });

  test('a few addresses that exhaust the instance’s limit do not lock out anyone else', async () => {
    const { instance, clientId } = await setUp({
      ...ONLY_BUDGETS,
      GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '1000',
    });
    const end = instance.clock.now() + HOUR;
    let judged = 0;
    for (let block = 0; block < 25; block += 1)
      for (let count = 0; count < 55 && instance.clock.now() < end; count += 1)
        if (
          (
            await guess(instance, clientId, {
              email: `p${block}-${count}@example.com`,
              peer: `2001:db8:0:${(block + 1).toString(16)}::${count + 1}`,
            })
          ).json.error === 'code_invalid'
        )
          judged += 1;
    // 20 addresses use their 50, then five use a tenth of it.
    expect(judged).toBe(20 * 50 + 5 * 5);
    for (const peer of ['203.0.113.1', '203.0.113.2', '2001:db8:1::1']) {
      instance.peer = peer;
      expect((await instance.trySignIn(clientId, `first-time-${peer.length}-${peer.at(-1)}@example.com`)).status).toBe(
        200,
      );
    }
  }, 120_000);

  test('200 concurrent guesses are judged only as far as the budget allows, for each budget', async () => {
    for (const [setting, judged] of [
      ['GATEHOUSE_LIMIT_TRIES_PER_CODE', 5],
      ['GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL', 7],
      ['GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS', 6],
      // A tenth of the 50 that one client has.
      ['GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL', 5],
    ] as const) {
      const { instance, clientId } = await setUp({ ...ONLY_BUDGETS, [setting]: String(judged) });
      const { challengeId } = (await requestCode(instance, clientId, VICTIM)).json.data;
      const code = wrong(instance.codeFor(VICTIM));
      const answers = await Promise.all(Array.from({ length: 200 }, () => enterCode(instance, challengeId, code)));
      expect([setting, answers.filter(({ json }) => json.error === 'code_invalid').length]).toEqual([setting, judged]);
    }
  });

  test('count in one client budget, also for changes to an account or an application', async () => {
    const { instance, clientId } = await setUp({ GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '2' });
    const { token } = await instance.signIn(clientId, VICTIM);
    instance.peer = '203.0.113.66';
    const proof = await instance.call('POST', '/api/account/proof', { token });
    const body = { challengeId: proof.json.data.challengeId, code: wrong(instance.codeFor(VICTIM)) };
    const confirm = () => instance.call('POST', '/api/account/proof/confirm', { token, body });
    expect([(await confirm()).status, (await confirm()).status, (await confirm()).status]).toEqual([400, 400, 429]);
    expect((await guess(instance, clientId, { email: 'bob@example.com' })).status).toBe(429);
  });
});

describe('a lockout', () => {
  test('doubles with each further wrong code, up to a day, and survives a restart', async () => {
    let { instance, clientId } = await setUp(ONLY_BUDGETS);
    const peers = clients();
    const next = () => guess(instance, clientId, { peer: peers.next().value as string });
    for (let count = 0; count < 20; count += 1) {
      if (count > 0) instance.clock.advance(30 * SECOND);
      expect((await next()).json.error).toBe('code_invalid');
    }
    const pauses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      instance = await instance.restart();
      const seconds = Number((await next()).headers.get('retry-after'));
      pauses.push(seconds / 3600);
      instance.clock.advance(seconds * SECOND - 1);
      expect((await next()).status).toBe(429);
      instance.clock.advance(1);
      expect((await next()).json.error).toBe('code_invalid');
    }
    // 31 hours later the first twenty are forgotten.
    expect(pauses).toEqual([1, 2, 4, 8, 16]);
    expect((await requestCode(instance, clientId, VICTIM)).status).toBe(200);
  });

  test('ends after a day at the latest', async () => {
    const { instance, clientId } = await setUp({
      ...ONLY_BUDGETS,
      GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1',
      GATEHOUSE_LIMIT_CODE_PAUSE_MINUTES: '1440',
    });
    expect((await guess(instance, clientId, {})).status).toBe(400);
    expect((await guess(instance, clientId, {})).headers.get('retry-after')).toBe(String(DAY / SECOND));
  });

  test('names the exceeded limit, its size and the time to retry', async () => {
    const broken = async (environment: Record<string, string>, cookie = false) => {
      const { instance, clientId } = await setUp({ ...ONLY_BUDGETS, ...environment });
      const known = cookie ? { cookie: await knownBrowser(instance, clientId) } : {};
      expect((await guess(instance, clientId, known)).status).toBe(400);
      const { status, json, headers } = await guess(instance, clientId, known);
      expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([429, '1', '0']);
      expect(headers.get('ratelimit-reset')).toBe(headers.get('retry-after'));
      expect(headers.get('retry-after')).toBe('3600');
      return json.message as string;
    };
    const messages = [
      await broken({ GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1' }),
      await broken({ GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '1' }),
      await broken({ GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '1', GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '10' }),
      await broken({ GATEHOUSE_LIMIT_WRONG_CODES_PER_BROWSER: '1' }, true),
    ];
    expect(messages[0]).toContain('for this e-mail');
    expect(messages[1]).toContain('from this network address');
    expect(messages[2]).toContain('on this server');
    expect(messages[3]).toContain('in this browser');
  });

  test('is the same for a known and an unknown address, answer by answer', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    await instance.signIn(clientId, 'known@example.com');
    instance.clock.advance(DAY);
    const trace = async (email: string) => {
      const peers = clients();
      const answers: unknown[] = [];
      for (let count = 0; count < 22; count += 1) {
        const { status, json, headers } = await guess(instance, clientId, {
          email,
          peer: peers.next().value as string,
        });
        answers.push([status, { ...json, requestId: null }, headers.get('retry-after'), [...headers.keys()].sort()]);
        instance.clock.advance(30 * SECOND);
      }
      return answers;
    };
    expect(await trace('known@example.com')).toEqual(await trace('unknown@example.com'));
  });

  test('does not affect passkeys, or codes of other people, applications and purposes', async () => {
    const { instance, clientId } = await setUp({ ...ONLY_BUDGETS, GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1' });
    const other = await instance.createApplication({ name: 'Other' });
    const { token } = await instance.signIn(clientId, VICTIM);
    const { passkey } = await register(instance, token);
    instance.clock.advance(MINUTE);
    await guess(instance, clientId, {});
    expect((await requestCode(instance, clientId, VICTIM)).status).toBe(429);
    expect((await signInWith(instance, clientId, passkey)).status).toBe(200);
    expect((await instance.call('POST', '/api/account/proof', { token })).status).toBe(200);
    expect((await instance.trySignIn(other.clientId, VICTIM)).status).toBe(200);
    expect((await instance.trySignIn(clientId, 'bob@example.com')).status).toBe(200);
  });
});

describe('a browser in which the person has signed in before', () => {
  const PAUSED = {
    ...ONLY_BUDGETS,
    GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '3',
    GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '3',
    GATEHOUSE_LIMIT_WRONG_CODES_IN_ALL: '3',
    GATEHOUSE_LIMIT_WRONG_CODES_PER_BROWSER: '2',
  };
  async function pause(instance: Instance, clientId: string): Promise<void> {
    for (let count = 0; count < 3; count += 1) {
      await guess(instance, clientId, {});
      instance.clock.advance(30 * SECOND);
    }
    expect((await requestCode(instance, clientId, VICTIM)).status).toBe(429);
  }

  test('lets them sign in by code while codes are locked for everyone else', async () => {
    const { instance, clientId } = await setUp(PAUSED);
    const cookie = await knownBrowser(instance, clientId);
    await pause(instance, clientId);
    const asked = await requestCode(instance, clientId, VICTIM, cookie);
    expect(asked.status).toBe(200);
    const code = instance.codeFor(VICTIM);
    // The code alone does not suffice in another browser.
    expect((await enterCode(instance, asked.json.data.challengeId, code)).status).toBe(429);
    expect((await enterCode(instance, asked.json.data.challengeId, code, cookie)).status).toBe(200);
  });

  test('has its own lockout budget: a stolen cookie gives its few guesses and nothing else', async () => {
    const { instance, clientId } = await setUp({ ...ONLY_BUDGETS, GATEHOUSE_LIMIT_WRONG_CODES_PER_BROWSER: '10' });
    const cookie = await knownBrowser(instance, clientId);
    const peers = clients();
    const judged = await guessFor(instance, 2 * DAY, () =>
      guess(instance, clientId, { cookie, peer: peers.next().value as string }),
    );
    expect(judged.filter((at) => at < judged[0]! + DAY)).toHaveLength(14);
    expect(mostInADay(judged)).toBe(14);
    // The thief used up only the stolen browser's budget, not the open one.
    expect((await guess(instance, clientId, {})).status).toBe(400);
    const { headers, status } = await instance.call('POST', '/api/v1/session', { headers: { cookie } });
    expect([status, headers.get('set-cookie')]).toEqual([401, null]);
    expect((await instance.call('GET', '/api/account', { headers: { ...OWN_PAGE, cookie } })).status).toBe(401);
  }, 120_000);

  test('shares one budget with the person’s other known browsers, however many there are', async () => {
    const { instance, clientId } = await setUp(ONLY_BUDGETS);
    const cookies: string[] = [];
    for (let count = 0; count < 40; count += 1) cookies.push(await knownBrowser(instance, clientId));
    expect(new Set(cookies).size).toBe(40);
    let judged = 0;
    for (const cookie of cookies) {
      judged += (await guess(instance, clientId, { cookie })).json.error === 'code_invalid' ? 1 : 0;
      instance.clock.advance(30 * SECOND);
    }
    expect(judged).toBe(20);
  });

  test('is known only for the people who have signed in there', async () => {
    const { instance, clientId } = await setUp(PAUSED);
    const bob = await knownBrowser(instance, clientId, 'bob@example.com');
    const both = await knownBrowser(instance, clientId, VICTIM, bob);
    await pause(instance, clientId);
    expect((await requestCode(instance, clientId, VICTIM, bob)).status).toBe(429);
    expect((await requestCode(instance, clientId, VICTIM, both)).status).toBe(200);
    expect((await requestCode(instance, clientId, 'bob@example.com', both)).status).toBe(200);
  });

  test('is recognised only by an intact, unexpired cookie that this instance signed', async () => {
    const { instance, clientId } = await setUp(PAUSED);
    const cookie = await knownBrowser(instance, clientId);
    const elsewhere = await setUp();
    const foreign = await knownBrowser(elsewhere.instance, elsewhere.clientId);
    await pause(instance, clientId);
    const [, id, until, mac] = /=([^.]+)\.([^.]+)\.(.+)$/.exec(cookie)!;
    const forged = [
      foreign,
      `gatehouse-known=${id}.${until}.${'A'.repeat(mac!.length)}`,
      `gatehouse-known=${id}.zzzzzz.${mac}`,
      `gatehouse-known=${'A'.repeat(id!.length)}.${until}.${mac}`,
      `gatehouse-known=${id}.${until}`,
      `gatehouse-known=${'x.y.z~'.repeat(2000)}`,
      'gatehouse-known=',
    ];
    for (const each of forged)
      expect([each, (await requestCode(instance, clientId, VICTIM, each)).status]).toEqual([each, 429]);
    expect((await requestCode(instance, clientId, VICTIM, cookie)).status).toBe(200);
    instance.clock.advance(400 * DAY);
    await pause(instance, clientId);
    expect((await requestCode(instance, clientId, VICTIM, cookie)).status).toBe(429);
  });

  test('gets a cookie hidden from scripts and other sites that names nobody; other sites’ pages get none', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_BASE_URL: 'https://auth.example.com' } });
    const { clientId } = await instance.createApplication();
    const signIn = async (headers: Record<string, string>) => {
      const { challengeId } = (await requestCode(instance, clientId, VICTIM)).json.data;
      const body = { challengeId, code: instance.codeFor(VICTIM) };
      const answer = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers });
      expect(answer.status).toBe(200);
      instance.clock.advance(MINUTE);
      return { userId: answer.json.data.userId as string, cookies: answer.headers.getSetCookie() };
    };
    expect((await signIn({})).cookies).toEqual([]);
    expect((await signIn({ origin: 'https://shop.example.com', 'sec-fetch-site': 'cross-site' })).cookies).toEqual([]);
    const { userId, cookies } = await signIn({ origin: 'https://auth.example.com', 'sec-fetch-site': 'same-origin' });
    expect(cookies).toHaveLength(1);
    const [value, ...attributes] = cookies[0]!.split('; ');
    expect(value).toStartWith('__Host-gatehouse-known=');
    expect(attributes.map((each) => each.replace(/=(?=\d).*/, '')).sort()).toEqual([
      'HttpOnly',
      'Max-Age',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ]);
    for (const known of [userId, VICTIM, Buffer.from(VICTIM).toString('base64url')]) expect(value).not.toContain(known);
  });

  test('is known after a passkey sign-in too, and alongside the console’s session', async () => {
    const { instance, clientId } = await setUp(PAUSED);
    const { token } = await instance.signIn(clientId, VICTIM);
    const { passkey } = await register(instance, token);
    const signedIn = await signInWith(instance, clientId, passkey, {}, OWN_PAGE);
    expect(signedIn.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual(['gatehouse-known']);
    instance.clock.advance(MINUTE);
    const { challengeId } = (await requestCode(instance, 'console', 'owner@example.com')).json.data;
    const body = { challengeId, code: instance.codeFor('owner@example.com') };
    const owner = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers: OWN_PAGE });
    expect(owner.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual([
      'gatehouse',
      'gatehouse-known',
    ]);
  });
});

describe('a right code', () => {
  test('invalidates all other codes of the same person, purpose and application', async () => {
    const { instance, clientId } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const sent: { challengeId: string; code: string }[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { challengeId } = (await requestCode(instance, clientId, VICTIM)).json.data;
      sent.push({ challengeId, code: instance.codeFor(VICTIM) });
      instance.clock.advance(30 * SECOND);
    }
    const { challengeId } = (await requestCode(instance, other.clientId, VICTIM)).json.data;
    const elsewhere = { challengeId, code: instance.codeFor(VICTIM) };
    const bobs = (await requestCode(instance, clientId, 'bob@example.com')).json.data.challengeId as string;
    expect((await enterCode(instance, sent[1]!.challengeId, sent[1]!.code)).status).toBe(200);
    for (const { challengeId: id, code } of sent) expect((await enterCode(instance, id, code)).status).not.toBe(200);
    expect((await enterCode(instance, elsewhere.challengeId, elsewhere.code)).status).toBe(200);
    expect((await enterCode(instance, bobs, instance.codeFor('bob@example.com'))).status).toBe(200);
  });

  test('a code for an action invalidates the other codes for it, and keeps codes for other actions', async () => {
    const { instance, clientId } = await setUp();
    const { token } = await instance.signIn(clientId, VICTIM);
    const asked = async (path: string) => {
      const { challengeId } = (await instance.call('POST', path, { token })).json.data;
      return { challengeId, code: instance.codeFor(VICTIM) };
    };
    const first = await asked('/api/account/proof');
    const second = await asked('/api/account/proof');
    const deletion = await asked('/api/account/deletion');
    const confirm = (method: string, path: string, body: object) => instance.call(method, path, { token, body });
    expect((await confirm('POST', '/api/account/proof/confirm', second)).status).toBe(200);
    expect((await confirm('POST', '/api/account/proof/confirm', first)).json.error).toBe('code_expired');
    expect((await confirm('DELETE', '/api/account', deletion)).status).toBe(200);
  });
});

test('one mistyped code each does not lock out an office; guesses without a right code do', async () => {
  const { instance, clientId } = await setUp({ GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '3' });
  for (let count = 0; count < 8; count += 1) {
    const email = `colleague${count}@example.com`;
    const { challengeId } = (await requestCode(instance, clientId, email)).json.data;
    const code = instance.codeFor(email);
    expect((await enterCode(instance, challengeId, wrong(code))).json.error).toBe('code_invalid');
    expect((await enterCode(instance, challengeId, code)).status).toBe(200);
  }
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    // A right code for one's own account forgives no guesses at other accounts.
    statuses.push((await guess(instance, clientId, { email: `victim${count}@example.com` })).status);
    if (count < 2) await instance.signIn(clientId, `own${count}@example.com`);
  }
  expect(statuses).toEqual([400, 400, 400, 429]);
});

describe('an office behind one address', () => {
  const OFFICE = '203.0.113.9';
  async function lockedOffice(environment: Record<string, string> = {}) {
    const scene = await setUp({ ...ONLY_BUDGETS, GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '3', ...environment });
    const { instance, clientId } = scene;
    instance.peer = OFFICE;
    await instance.signIn(clientId, 'ann@example.com');
    instance.clock.advance(40 * DAY);
    const visitor = (count: number) => guess(instance, clientId, { email: `visitor${count}@example.com` });
    return { ...scene, visitor };
  }

  test('is locked for guessing visitors, but not for people who have signed in from there', async () => {
    const { instance, clientId, visitor } = await lockedOffice();
    for (let count = 0; count < 3; count += 1) expect((await visitor(count)).status).toBe(400);
    expect((await visitor(3)).status).toBe(429);
    expect((await guess(instance, clientId, { email: 'ann@example.com' })).json.error).toBe('code_invalid');
    instance.clock.advance(30 * SECOND);
    expect((await instance.trySignIn(clientId, 'ann@example.com')).status).toBe(200);
    expect((await visitor(4)).status).toBe(429);
    // Her exemption does not apply at a locked address from which she has never signed in.
    instance.peer = '198.51.100.1';
    for (let count = 5; count < 8; count += 1) expect((await visitor(count)).status).toBe(400);
    instance.clock.advance(30 * SECOND);
    expect((await requestCode(instance, clientId, 'ann@example.com')).status).toBe(429);
  });

  test('stays open to newcomers when its own people mistype; each person keeps their own limit', async () => {
    const { instance, clientId, visitor } = await lockedOffice({ GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '6' });
    const own = () => guess(instance, clientId, { email: 'ann@example.com' });
    for (let count = 0; count < 6; count += 1) {
      expect((await own()).json.error).toBe('code_invalid');
      instance.clock.advance(30 * SECOND);
    }
    expect((await own()).status).toBe(429);
    expect((await visitor(1)).status).toBe(400);
    expect((await instance.trySignIn(clientId, 'new@example.com')).status).toBe(200);
  });

  test('covers a whole /64 prefix', async () => {
    const { instance, clientId } = await setUp({ ...ONLY_BUDGETS, GATEHOUSE_LIMIT_WRONG_CODES_PER_ADDRESS: '1' });
    instance.peer = '2001:db8:0:7::1';
    await instance.signIn(clientId, VICTIM);
    instance.clock.advance(MINUTE);
    expect((await guess(instance, clientId, { email: 'bob@example.com', peer: '2001:db8:0:7::2' })).status).toBe(400);
    expect((await guess(instance, clientId, { email: 'cid@example.com', peer: '2001:db8:0:7::3' })).status).toBe(429);
    instance.peer = '2001:db8::7:0:0:0:4';
    expect((await instance.trySignIn(clientId, VICTIM)).status).toBe(200);
  });

  test('recognises a browser in which the person has signed in elsewhere', async () => {
    const { instance, clientId, visitor } = await lockedOffice();
    instance.peer = '198.51.100.1';
    const cookie = await knownBrowser(instance, clientId, 'bob@example.com');
    instance.peer = OFFICE;
    for (let count = 0; count < 4; count += 1) await visitor(count);
    expect((await requestCode(instance, clientId, 'bob@example.com')).status).toBe(429);
    expect((await requestCode(instance, clientId, 'bob@example.com', cookie)).status).toBe(200);
  });
});

describe('the activity of an application', () => {
  test('contains each wrong code, with its e-mail address only if the person is a member', async () => {
    const { instance, clientId, applicationId } = await setUp({ GATEHOUSE_LIMIT_WRONG_CODES_PER_EMAIL: '1' });
    const other = await instance.createApplication({ name: 'Other' });
    const { userId } = await instance.signIn(clientId, VICTIM);
    await instance.signIn(other.clientId, 'elsewhere@example.com');
    instance.clock.advance(MINUTE);
    for (const email of [VICTIM, 'elsewhere@example.com', 'nobody@example.com'])
      expect((await guess(instance, clientId, { email, peer: '203.0.113.66' })).status).toBe(400);
    const { json } = await instance.call('GET', `/api/applications/${applicationId}/activity/list?status=error`, {
      token: instance.workspaceKey,
    });
    const told = json.data.items as { kind: string; ok: boolean; detail: unknown; userId: string | null }[];
    const detail = { reason: 'code_invalid', pausedUntil: expect.any(String) };
    expect(told.map(({ kind, ok }) => [kind, ok])).toEqual(Array(3).fill(['signin.code_refused', false]));
    expect(told.map((record) => record.detail)).toEqual(Array(3).fill(detail));
    expect(told.map((record) => record.userId)).toEqual([null, null, userId]);
    const rows = instance.sqlite
      .query("SELECT user_id, email FROM audit_records WHERE kind = 'signin.code_refused' ORDER BY rowid")
      .all();
    expect(rows).toEqual([
      { user_id: userId, email: VICTIM },
      { user_id: null, email: null },
      { user_id: null, email: null },
    ]);
  });
});

describe('device codes', () => {
  test('are guessed ten times by one client on the page, even in 200 concurrent requests', async () => {
    const { instance } = await setUp();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => instance.call('GET', '/device?code=BBBB-BBBB')),
    );
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(190);
  });

  test('are guessed as often as one client may, even by many people concurrently', async () => {
    const { instance, clientId } = await setUp({ GATEHOUSE_LIMIT_USER_CODES_PER_ADDRESS: '8' });
    const tokens: string[] = [];
    for (let count = 0; count < 10; count += 1)
      tokens.push((await instance.signIn(clientId, `guesser${count}@example.com`)).token);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        instance.call('GET', '/api/account/device?user_code=BBBB-BBBB', { token: tokens[at % 10] }),
      ),
    );
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(8);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(32);
    instance.peer = '203.0.113.8';
    expect((await instance.call('GET', '/api/account/device?user_code=BBBB-BBBB', { token: tokens[0] })).status).toBe(
      404,
    );
  });
});
