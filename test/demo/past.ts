/** An instance in the past: a data folder opened in this process, with a clock that follows the story. */
import pino from 'pino';
import { createApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { SECOND, type WorldClock } from '../../src/core/clock.ts';
import { systemRandom } from '../../src/core/random.ts';
import { type Dependencies, openData } from '../../src/dependencies.ts';
import { accessLog } from '../../src/http/access-log.ts';
import { createServices } from '../../src/services.ts';
import { type SoftPasskey, usePasskey } from '../support/authenticator.ts';
import { type Chance, chance } from './chance.ts';
import type { Person } from './people.ts';
import { receivers } from './receivers.ts';

export interface Past {
  readonly workspaceId: string;
  readonly random: Chance;
  now(): number;
  /** Moves neither backwards nor past the end. */
  moveTo(at: number): void;
  pass(seconds: number): void;
  /** Calls as a signed-in person. @throws if the answer is no success. @returns its data. */
  call(signed: Signed, method: string, path: string, body?: unknown): Promise<any>;
  /** Returns any answer. */
  ask(method: string, path: string, options?: AskOptions): Promise<{ status: number; json: any }>;
  /** Requests a code and enters it, as a page does. @returns the session; null if it is refused. */
  signIn(person: Person, clientId: string | undefined, how?: SignInHow): Promise<Signed | null>;
  /** Returns the code of the newest mail to an address. */
  codeFor(email: string): Promise<string>;
  /** Signs in by a passkey, which needs no mail. */
  signInByPasskey(person: Person, passkey: SoftPasskey, clientId: string): Promise<Signed | null>;
  /** Sends due webhooks. */
  deliver(): Promise<void>;
  /** Runs the server's jobs, such as expiry and retention. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface Signed {
  readonly person: Person;
  readonly token: string;
  readonly userId: string;
}

export interface SignInHow {
  /** The number of wrong codes before the right one. */
  readonly mistakes?: number;
  /** Only requests the code. */
  readonly isCodeLeft?: boolean;
  /** Enters the code after this delay. */
  readonly afterSeconds?: number;
}

interface AskOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly person?: Person;
}

const PROXY = '127.0.0.1';
const RECEIVERS = 7;
const COUNTRY_HEADER = 'x-country';

export interface PastOptions {
  /** The time of the instance's first start. */
  readonly startAt: number;
  /** The end of the story. */
  readonly endAt: number;
  readonly ownerEmail: string;
  readonly random: Chance;
}

export async function openPast(folder: string, { startAt, endAt, ownerEmail, random }: PastOptions): Promise<Past> {
  let at = startAt;
  const clock: WorldClock = { now: () => at, real: () => at };
  const config = loadConfig(
    {
      GATEHOUSE_OWNER_EMAIL: ownerEmail,
      GATEHOUSE_TRUSTED_PROXIES: PROXY,
      GATEHOUSE_COUNTRY_HEADER: COUNTRY_HEADER,
    },
    { mode: 'dev' },
  );
  const data = await openData(folder, { clock, isDurable: false });
  const codes = new Map<string, string>();
  const dependencies: Dependencies = {
    config,
    clock,
    db: data.db,
    random: systemRandom,
    instanceKey: data.instanceKey,
    leaseHolder: 'demo',
    mail: { onCapture: ({ recipient, code }) => void (code !== null && codes.set(recipient, code)) },
    // Separate random values, since the requests' times do not depend on the story alone.
    outbound: receivers(clock, chance(RECEIVERS), endAt),
    log: pino({ level: 'error' }),
    accessLog: accessLog(null),
    baseUrl: () => 'http://localhost:8080',
    peerAddress: () => PROXY,
    keepOpen: () => {},
    isStopping: () => false,
    testClock: null,
  };
  const services = await createServices(dependencies);
  const app = createApp(dependencies, services);

  const moveTo = (to: number) => void (at = Math.max(at, Math.floor(Math.min(to, endAt))));
  const pass = (seconds: number) => moveTo(at + seconds * SECOND);

  async function ask(method: string, path: string, { token, body, person }: AskOptions = {}) {
    const response = await app.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(person && {
            'x-forwarded-for': person.ip,
            [COUNTRY_HEADER]: person.country,
            'user-agent': person.userAgent,
            'accept-language': person.locale,
          }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, json: (await response.json()) as any };
  }

  async function codeFor(email: string): Promise<string> {
    await services.mail.runOnce();
    const code = codes.get(email);
    if (code === undefined) throw new Error(`there is no code for ${email}`);
    return code;
  }

  return {
    workspaceId: services.workspaceId,
    random,
    now: () => at,
    moveTo,
    pass,
    ask,
    codeFor,
    async call({ token, person }, method, path, body) {
      const { status, json } = await ask(method, path, { token, person, ...(body !== undefined && { body }) });
      if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
      return json.data;
    },
    async signIn(person, clientId, { mistakes = 0, isCodeLeft = false, afterSeconds } = {}) {
      const { email, locale, timezone } = person;
      const sent = await ask('POST', '/api/v1/auth/otp/send', { person, body: { email, clientId, locale } });
      // They requested a code a moment ago.
      if (sent.status === 429) return null;
      if (sent.status !== 200) throw new Error(`${email} got no code: ${JSON.stringify(sent.json)}`);
      const code = await codeFor(email);
      if (isCodeLeft) return null;
      pass(afterSeconds ?? random.whole(9, 70));
      const { challengeId } = sent.json.data;
      const give = (given: string) =>
        ask('POST', '/api/v1/auth/otp/verify', { person, body: { challengeId, code: given, timezone } });
      for (let made = 0; made < mistakes; made += 1) {
        await give(code === '000000' ? '000001' : '000000');
        pass(random.whole(6, 20));
      }
      const { status, json } = await give(code);
      return status === 200 ? { ...json.data, person } : null;
    },
    async signInByPasskey(person, passkey, clientId) {
      const asked = await ask('POST', '/api/v1/auth/passkey/options', { person, body: { clientId } });
      const { challengeId, options } = asked.json.data;
      pass(random.whole(3, 9));
      const body = { challengeId, credential: usePasskey(passkey, options) };
      const { status, json } = await ask('POST', '/api/v1/auth/passkey/verify', { person, body });
      return status === 200 ? { ...json.data, person } : null;
    },
    deliver: () => services.deliveries.runOnce(),
    tidy: () => services.scheduler.runAll(),
    async close() {
      await services.deliveries.runOnce();
      await services.mail.runOnce();
      await services.tasks.runOnce();
      await services.stop();
      await services.flushAll();
      await data.close();
    },
  };
}
