/** A device, and people who may approve it: every step of the grant, as the device and the page take it. */
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import type { MembershipStatus } from '@/store/members.ts';
import * as given from '../../support/given.ts';
import { type Answer, createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';

export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
export const CODE_PATH = '/api/v1/device/code';
export const TOKEN_PATH = '/api/v1/device/token';

export interface Person {
  readonly token: string;
  readonly userId: string;
}

export interface Codes {
  readonly device_code: string;
  readonly user_code: string;
}

export type Scene = Awaited<ReturnType<typeof createScene>>;

export async function createScene(options: InstanceOptions = {}) {
  const instance = await createInstance({
    ...options,
    environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000', ...options.environment },
  });
  const application = await instance.createApplication();
  const scene = sceneOf(instance, application);
  return { ...scene, ada: await scene.signIn('ada@example.com') };
}

/** Returns the same steps for another application. */
export function sceneOf(instance: Instance, application: Application) {
  const { clientId } = application;

  const sendForm = (path: string, fields: Record<string, string>) =>
    instance.call('POST', path, {
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  const signIn = async (email: string): Promise<Person> => {
    instance.clock.advance(MINUTE);
    instance.peer = `198.51.100.${Math.floor(instance.clock.now() / MINUTE) % 250}`;
    return instance.signIn(clientId, email);
  };

  const begin = async (fields: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Codes> => {
    const answer = await instance.call('POST', CODE_PATH, { body: { client_id: clientId, ...fields }, headers });
    if (answer.status !== 200) throw new Error(`device/code answered ${answer.status}: ${answer.text}`);
    return answer.json;
  };

  const poll = ({ device_code }: Pick<Codes, 'device_code'>, fields: Record<string, unknown> = {}): Promise<Answer> =>
    instance.call('POST', TOKEN_PATH, { body: { device_code, client_id: clientId, ...fields } });

  /** Polls once, and returns the error, or `Bearer` when it issued a key. */
  const outcome = async (codes: Pick<Codes, 'device_code'>): Promise<string> => {
    const { json } = await poll(codes);
    return json.error ?? json.token_type;
  };

  const look = (userCode: string, { token }: Pick<Person, 'token'>): Promise<Answer> =>
    instance.call('GET', `/api/account/device?user_code=${encodeURIComponent(userCode)}`, { token });

  const decide = (decision: 'approve' | 'deny', userCode: string, { token }: Pick<Person, 'token'>): Promise<Answer> =>
    instance.call('POST', `/api/account/device/${decision}`, { token, body: { user_code: userCode } });

  /** Runs the whole grant, and returns a key of this person. */
  const connect = async (person: Pick<Person, 'token'>, fields: Record<string, unknown> = {}) => {
    const codes = await begin(fields);
    await decide('approve', codes.user_code, person);
    const { status, text, json } = await poll(codes);
    if (status !== 200) throw new Error(`device/token answered ${status}: ${text}`);
    const row = instance.sqlite.query('SELECT id FROM api_keys ORDER BY rowid DESC LIMIT 1').get();
    return { token: json.access_token as string, id: (row as { id: string }).id };
  };

  const setStatus = (userId: string, status: MembershipStatus): Promise<void> =>
    given.member(instance, application.id, userId, { status });

  return { instance, application, signIn, begin, poll, outcome, look, decide, connect, sendForm, setStatus };
}

/** Reads every grant as it is stored. */
export function grants({ sqlite }: Instance): Record<string, unknown>[] {
  return sqlite.query('SELECT * FROM device_grants ORDER BY rowid').all() as Record<string, unknown>[];
}

export function countKeys({ sqlite }: Instance): number {
  return (sqlite.query("SELECT count(*) AS n FROM api_keys WHERE source = 'device'").get() as { n: number }).n;
}
