/** Attack: a thief who signed in with a stolen passkey or through a provider stays in after its removal. */
import { describe, expect, test } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import { as, type Person, problemOf, prove } from '../modules/account/account.ts';
import { sceneOf as devicesOf } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import { fragmentOf } from '../modules/provider/browser.ts';
import { createScene } from '../modules/provider/scene.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ADA = 'ada@example.com';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const sister = await instance.createApplication({ name: 'Sister' });
  const ada = await instance.signIn(application.clientId, ADA);
  const { json, passkey } = await register(instance, ada.token);
  const enter = async (clientId = application.clientId): Promise<Person> =>
    (await signInWith(instance, clientId, passkey, { counter: (counter += 1) })).json.data;
  let counter = 0;
  const remove = (query = '', person: Pick<Person, 'token'> = ada) =>
    as(instance, person)('DELETE', `/passkeys/${json.data.id}${query}`);
  return { instance, application, sister, ada, enter, remove };
}

const isAlive = async (instance: Instance, { token }: Pick<Person, 'token'>) =>
  (await instance.call('POST', '/api/v1/session', { token })).status === 200;

const endsIn = (instance: Instance, applicationId: string) =>
  instance.events(applicationId).flatMap(({ type, data }) => (type === 'user.session_revoked' ? [data] : []));

describe('the removal of a passkey', () => {
  test('ends the sessions made with it, in every application, and no others', async () => {
    const { instance, application, sister, ada, enter, remove } = await setUp();
    const thieves = [await enter(), await enter(sister.clientId)];
    const other = await register(instance, ada.token);
    const own = (await signInWith(instance, application.clientId, other.passkey)).json.data;
    expect((await remove()).json.data).toEqual({ id: expect.stringMatching(/^psk_/), sessionsEnded: 2 });
    for (const thief of thieves) expect(await isAlive(instance, thief)).toBe(false);
    for (const session of [ada, own]) expect(await isAlive(instance, session)).toBe(true);
    for (const { id } of [application, sister])
      expect(endsIn(instance, id)).toEqual([
        { userId: ada.userId, sessionId: expect.stringMatching(/^ses_/), reason: 'credential_removed' },
      ]);
  });

  test('ends the requesting session too if it was made with it', async () => {
    const { instance, enter, remove } = await setUp();
    const session = await enter();
    expect((await remove('', session)).json.data.sessionsEnded).toBe(1);
    expect(await isAlive(instance, session)).toBe(false);
  });

  test('also ends all other sessions that the requesting session can reach, on request', async () => {
    const { instance, sister, ada, enter, remove } = await setUp();
    const tenant = await given.tenant(instance);
    const thief = await enter();
    instance.clock.advance(MINUTE);
    const beside = await instance.signIn(sister.clientId, ADA);
    instance.clock.advance(MINUTE);
    const elsewhere = await instance.signIn(tenant.application.clientId, ADA);
    expect((await remove('?endAllSessions=true')).json.data.sessionsEnded).toBe(2);
    for (const session of [thief, beside]) expect(await isAlive(instance, session)).toBe(false);
    for (const session of [ada, elsewhere]) expect(await isAlive(instance, session)).toBe(true);
  });

  test('refuses an approved device without a key if its session was made with the passkey', async () => {
    const { instance, application, ada, enter, remove } = await setUp();
    const devices = devicesOf(instance, application);
    const [letInByThief, letInByAda] = [await devices.begin(), await devices.begin()];
    await devices.decide('approve', letInByThief.user_code, await enter());
    await devices.decide('approve', letInByAda.user_code, ada);
    await remove();
    expect(await devices.outcome(letInByThief)).toBe('access_denied');
    expect(await devices.outcome(letInByAda)).toBe('Bearer');
  });

  test('ends passkey sessions that do not record which passkey they were made with', async () => {
    const { instance, enter, remove } = await setUp();
    const old = await enter();
    instance.sqlite.run("UPDATE sessions SET credential_id = NULL WHERE method = 'passkey'");
    expect((await remove()).json.data.sessionsEnded).toBe(1);
    expect(await isAlive(instance, old)).toBe(false);
  });

  test('ends all sessions of the person if very many were made with the passkey', async () => {
    const { instance, application, ada, enter, remove } = await setUp();
    const thief = await enter();
    await given.sessions(instance, application, ada.userId, 300);
    const { credential_id: id } = instance.sqlite
      .query('SELECT credential_id FROM sessions WHERE credential_id IS NOT NULL')
      .get() as { credential_id: string };
    instance.sqlite.run('UPDATE sessions SET credential_id = ? WHERE user_agent = ?', [id, 'curl']);
    expect((await remove()).json.data.sessionsEnded).toBe(302);
    expect(await isAlive(instance, thief)).toBe(false);
    expect(await isAlive(instance, ada)).toBe(false);
  });

  test('changes nothing if it is refused', async () => {
    const { instance, enter, remove } = await setUp();
    const session = await enter();
    instance.clock.advance(10 * MINUTE);
    expect(problemOf(await remove())).toEqual([403, 'reauthentication_required']);
    expect(await isAlive(instance, session)).toBe(true);
  });
});

describe('the removal of an identity at a provider', () => {
  test('ends the sessions made with it, including the first, which created it', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const enter = async (claims?: Record<string, unknown>) =>
      fragmentOf(await scene.signIn(claims)) as { token: string };
    const sessions = [await enter(), await enter()];
    const { json } = await instance.call('POST', '/api/v1/session', { token: sessions[0]!.token });
    const byCode = await instance.signIn(application.clientId, json.email);
    expect(byCode.userId).toBe(json.userId);
    const { items } = (await as(instance, byCode)('GET', '/providers')).json.data;
    await prove(instance, byCode, { purpose: 'provider_removal', target: items[0].id });
    const removed = await as(instance, byCode)('DELETE', `/providers/${items[0].id}`);
    expect(removed.json.data).toEqual({ id: items[0].id, sessionsEnded: 2 });
    for (const session of sessions) expect(await isAlive(instance, session)).toBe(false);
    expect(await isAlive(instance, byCode)).toBe(true);
  });
});
