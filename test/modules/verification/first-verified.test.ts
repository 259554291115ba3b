/** The first verification of an application's token, and the last refusal before it. */
import { describe, expect, test } from 'bun:test';
import { isoTime, SECOND } from '@/core/clock.ts';
import { firstVerified } from '@/modules/verification/first-verified.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { createScene } from '../oauth/scene.ts';

const NOTHING = { firstVerifiedAt: null, verificationRefusal: null };
const refused = (error: string, at = START) => ({
  firstVerifiedAt: null,
  verificationRefusal: { error, at: isoTime(at) },
});
const verifiedAt = (at: number) => ({ firstVerifiedAt: isoTime(at), verificationRefusal: null });

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const person = await instance.signIn(application.clientId, 'ada@example.com');
  const key = await instance.createKey(application.id, { access: 'read' });
  const verify = (token: string, caller = key.token) =>
    instance.call('POST', '/api/v1/verify', { token: caller, body: { token } });
  return { instance, application, person, key, verify, shown: () => shownOf(instance, application.id) };
}

/** Returns the record after the jobs have run. */
async function shownOf(instance: Instance, id: string) {
  await instance.services.verification.flushFirstVerified();
  const { json } = await instance.call('GET', `/api/applications/${id}`, { token: instance.workspaceKey });
  const { firstVerifiedAt, verificationRefusal } = json.data;
  return { firstVerifiedAt, verificationRefusal };
}

describe('the first verification', () => {
  test('is the first that succeeds; a refusal is shown only until then', async () => {
    const { instance, person, verify, shown } = await setUp();
    expect(await shown()).toEqual(NOTHING);
    expect((await verify('undefined')).json.errorMessage).toBe('invalid_token');
    expect(await shown()).toEqual(refused('invalid_token'));
    instance.clock.advance(SECOND);
    expect((await verify(person.token)).json.success).toBe(true);
    instance.clock.advance(SECOND);
    await verify(person.token);
    expect(await shown()).toEqual(verifiedAt(START + SECOND));
    await verify('undefined');
    await verify(person.token);
    expect(await shown()).toEqual(verifiedAt(START + SECOND));
  });

  test('is written by a job within a second and keeps the time of the last change', async () => {
    const { instance, application, person, verify } = await setUp();
    const record = async () =>
      (await instance.call('GET', `/api/applications/${application.id}`, { token: instance.workspaceKey })).json.data;
    const before = await record();
    await verify(person.token);
    expect(await record()).toEqual(before);
    instance.clock.advance(SECOND);
    await instance.services.scheduler.runAll();
    expect(await record()).toEqual({ ...before, firstVerifiedAt: isoTime(START) });
  });

  test('is also one by the session itself, or by introspection', async () => {
    const bySession = await setUp();
    await bySession.instance.call('POST', '/api/v1/session', { token: bySession.person.token });
    expect(await bySession.shown()).toEqual(verifiedAt(START));

    const { instance, application, ada, introspect } = await createScene();
    expect((await introspect('est_nothing')).json).toEqual({ active: false });
    expect(await shownOf(instance, application.id)).toEqual(refused('invalid_token'));
    expect((await introspect(ada.token)).json.active).toBe(true);
    expect(await shownOf(instance, application.id)).toEqual(verifiedAt(START));
  });

  test('is neither a call that only uses a session nor one with a backend’s key as the token', async () => {
    const { instance, person, key, verify, shown } = await setUp();
    expect((await instance.call('GET', '/api/me/roles', { token: person.token })).status).toBe(200);
    expect((await verify(key.token)).json.success).toBe(true);
    expect(await shown()).toEqual(NOTHING);
  });

  test('belongs to the application of the token, for any calling key', async () => {
    const { instance, application, person, verify } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    await verify(person.token, instance.workspaceKey);
    expect(await shownOf(instance, application.id)).toEqual(verifiedAt(START));
    expect(await shownOf(instance, other.id)).toEqual(NOTHING);
  });
});

describe('a refusal', () => {
  test('a refused token within the caller’s reach shows the reason in the token’s application', async () => {
    const { instance, application, person, verify } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    await given.member(instance, application.id, person.userId, { status: 'banned' });
    expect((await verify(person.token, instance.workspaceKey)).json.errorMessage).toBe('membership_blocked');
    expect(await shownOf(instance, application.id)).toEqual(refused('membership_blocked'));
    expect(await shownOf(instance, other.id)).toEqual(NOTHING);
  });

  test('a refused token of another application is recorded for the caller’s application, not the token’s', async () => {
    const { instance, application, person, verify } = await setUp();
    const tenant = await given.tenant(instance);
    const foreign = await instance.call('POST', `/api/applications/${tenant.application.id}/api-keys`, {
      token: tenant.workspaceKey,
      body: { name: 'Theirs', access: 'read' },
    });
    await verify(person.token, foreign.json.data.token);
    expect(await shownOf(instance, application.id)).toEqual(NOTHING);
    const { json } = await instance.call('GET', `/api/applications/${tenant.application.id}`, {
      token: tenant.workspaceKey,
    });
    expect(json.data.verificationRefusal).toEqual({ error: 'invalid_token', at: isoTime(START) });
  });

  test('a refused unknown token counts for a workspace key only if it reaches a single application', async () => {
    const { instance, application, verify, shown } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const both = await given.workspaceKey(instance, { applicationIds: [application.id, other.id] });
    for (const token of [instance.workspaceKey, both.token]) await verify('unknown', token);
    expect([await shown(), await shownOf(instance, other.id)]).toEqual([NOTHING, NOTHING]);
    const only = await given.workspaceKey(instance, { applicationIds: [application.id] });
    await verify('unknown', only.token);
    expect([await shown(), await shownOf(instance, other.id)]).toEqual([refused('invalid_token'), NOTHING]);
  });

  test('a refused caller or malformed call does not count', async () => {
    const { instance, key, shown } = await setUp();
    const call = (token: string, body: unknown) => instance.call('POST', '/api/v1/verify', { token, body });
    expect((await call('eak_unknown', { token: 'x' })).status).toBe(401);
    expect((await call(key.token, { tokn: 'x' })).status).toBe(400);
    expect((await instance.call('POST', '/api/v1/session', { token: 'est_x' })).status).toBe(401);
    expect(await shown()).toEqual(NOTHING);
  });

  test('is written once in ten seconds if repeated, and at once with another reason', async () => {
    const { instance, person, application, verify, shown } = await setUp();
    const changes = () => instance.db.metrics.changes;
    await verify('x');
    expect(await shown()).toEqual(refused('invalid_token'));
    const before = changes();
    for (let second = 1; second < 10; second += 1) {
      instance.clock.advance(SECOND);
      await verify('x');
      expect(await shown()).toEqual(refused('invalid_token'));
    }
    expect(changes()).toEqual(before);
    await given.member(instance, application.id, person.userId, { status: 'banned' });
    await verify(person.token);
    expect(await shown()).toEqual(refused('membership_blocked', START + 9 * SECOND));
    instance.clock.advance(SECOND);
    await verify('x');
    expect(await shown()).toEqual(refused('invalid_token', START + 10 * SECOND));
  });
});

describe('after a restart', () => {
  test('the first verification stays the first, and later calls write nothing', async () => {
    const { instance, application, person, verify, shown } = await setUp();
    await verify(person.token);
    expect(await shown()).toEqual(verifiedAt(START));
    const restarted = firstVerified(instance.db);
    const changes = () => instance.db.metrics.changes;
    const before = changes();
    restarted.verified(application.id, START + SECOND);
    await restarted.flush();
    restarted.refused(application.id, 'expired', START + SECOND);
    await restarted.flush();
    expect(changes()).toEqual(before);
    expect(await shown()).toEqual(verifiedAt(START));
  });

  test('a refusal of a verified application writes nothing', async () => {
    const { instance, application, person, verify, shown } = await setUp();
    await verify(person.token);
    expect(await shown()).toEqual(verifiedAt(START));
    const restarted = firstVerified(instance.db);
    restarted.refused(application.id, 'expired', START + SECOND);
    await restarted.flush();
    expect(await shown()).toEqual(verifiedAt(START));
  });

  test('a clean stop has written pending notes', async () => {
    const { instance, application, person, verify } = await setUp();
    await verify(person.token);
    await instance.services.flushAll();
    const { json } = await instance.call('GET', `/api/applications/${application.id}`, {
      token: instance.workspaceKey,
    });
    expect(json.data.firstVerifiedAt).toBe(isoTime(START));
  });
});

test('a note that failed to be written is written later, with the time of its call', async () => {
  const { instance, person, verify, shown } = await setUp();
  const repair = given.brokenWrites(instance, 'UPDATE ON applications');
  await verify(person.token);
  await expect(instance.services.verification.flushFirstVerified()).rejects.toThrow('disk full');
  await verify('x');
  repair();
  instance.clock.advance(SECOND);
  expect(await shown()).toEqual(verifiedAt(START));
});
