/** The event stream of an API key, whose principal changes like a user. */
import { describe, expect, test } from 'bun:test';
import { DAY, HOUR } from '@/core/clock.ts';
import * as given from '../../support/given.ts';
import { sceneOf } from '../devices/scene.ts';
import { addPerson, MEMBERS } from '../workspace/people.ts';
import { findConsole } from '@/store/applications.ts';
import { listen, streamRequest } from './listen.ts';
import { createWorld, listening, type World } from './world.ts';

type Made = { id: string; token: string; userId: string };

async function withKey() {
  const world = await createWorld();
  const key: Made = (await world.manage('POST', '/api-keys', { name: 'backend', roles: ['developer'] })).json.data;
  return { ...world, key };
}

const refusalOf = async ({ instance }: Pick<World, 'instance'>, token: string) => {
  const answer = await instance.app.fetch(streamRequest(token));
  return [answer.status, ((await answer.json()) as { ok: boolean; error: string }).error];
};

describe('the stream of an API key', () => {
  test('begins with the envelope of a verification, and sends the changes of its principal', async () => {
    const { instance, application, key, manage } = await withKey();
    const stream = await listen(instance, key.token);
    const verified = await instance.call('POST', '/api/v1/verify', {
      token: instance.workspaceKey,
      body: { token: key.token },
    });
    expect(await stream.told()).toEqual([{ event: 'session', data: verified.json.data }]);
    await manage('POST', '/scopes', { slug: 'orders:read' });
    await manage('POST', '/memberships', { slug: 'berlin' });
    await manage('PUT', `/users/${key.userId}/roles`, { slugs: ['user'] });
    await manage('PUT', `/users/${key.userId}/scopes`, { slugs: ['orders:read'] });
    await manage('PUT', `/users/${key.userId}/memberships`, { slugs: ['berlin'] });
    expect(await stream.told()).toEqual([
      { event: 'roles', data: { roles: ['user'] } },
      { event: 'scopes', data: { scopes: ['orders:read'] } },
      { event: 'memberships', data: { memberships: ['berlin'] } },
    ]);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(application.id).toBe(verified.json.data.applicationId);
  });

  test('ends at once when the key is revoked', async () => {
    const { instance, key, manage } = await withKey();
    const stream = await listening(instance, key);
    await manage('DELETE', `/api-keys/${key.id}`);
    expect(await stream.told()).toEqual([{ event: 'revoked', data: { reason: 'key_ended' } }]);
    expect(stream.isClosed()).toBe(true);
    expect(instance.services.live.count()).toBe(0);
  });

  test('ends at once when the key is rotated, and not when it is renamed', async () => {
    const { instance, key, manage } = await withKey();
    const stream = await listening(instance, key);
    await manage('PATCH', `/api-keys/${key.id}`, { name: 'renamed' });
    expect(await stream.told()).toEqual([]);
    const { token } = (await manage('POST', `/api-keys/${key.id}/rotate`)).json.data;
    expect(await stream.told()).toEqual([{ event: 'revoked', data: { reason: 'key_ended' } }]);
    await listening(instance, { ...key, token });
  });

  test('ends when the principal is banned, and at a heartbeat after the key expired', async () => {
    const { instance, key, manage } = await withKey();
    const banned = await listening(instance, key);
    await manage('POST', `/users/${key.userId}/ban`);
    expect((await banned.told()).map(({ event }) => event)).toEqual(['revoked']);

    const expiresAt = new Date(instance.clock.now() + HOUR).toISOString();
    const brief: Made = (await manage('POST', '/api-keys', { name: 'brief', expiresAt })).json.data;
    const graceful: Made = (await manage('POST', '/api-keys', { name: 'graceful' })).json.data;
    const [ending, rotated] = [await listening(instance, brief), await listening(instance, graceful)];
    await manage('POST', `/api-keys/${graceful.id}/rotate-with-grace`);
    await instance.services.live.heartbeat();
    expect([await ending.told(), await rotated.told()]).toEqual([[], []]);
    expect(ending.text()).toEndWith(': heartbeat\n\n');
    instance.clock.advance(DAY);
    await instance.services.live.heartbeat();
    for (const stream of [ending, rotated])
      expect(await stream.told()).toEqual([{ event: 'revoked', data: { reason: 'key_ended' } }]);
  });

  test('of a device sends its person’s changes, and ends when the device is disconnected', async () => {
    const { instance, application, ada, manage } = await withKey();
    const device = await sceneOf(instance, application).connect(ada);
    const stream = await listening(instance, { token: device.token, userId: ada.userId });
    await manage('PUT', `/users/${ada.userId}/roles`, { slugs: ['developer', 'user'] });
    await instance.call('PATCH', '/api/account/profile/identity', { token: ada.token, body: { fullName: 'Ada' } });
    const received = await stream.told();
    expect(received.map(({ event }) => event)).toEqual(['roles', 'profile']);
    expect(received[1]!.data.fullName).toBe('Ada');
    await instance.call('DELETE', '/api/v1/session', { token: ada.token });
    expect(await stream.told()).toEqual([]);
    const again = await instance.signIn(application.clientId, 'ada@example.com');
    await instance.call('DELETE', `/api/account/devices/${device.id}`, { token: again.token });
    expect((await stream.told()).map(({ event }) => event)).toEqual(['revoked']);
  });

  test('of a key created by a device ends with the device', async () => {
    const { instance } = await withKey();
    const console = sceneOf(instance, (await findConsole(instance.db.reader))!);
    const admin = await addPerson(instance, 'admin@example.com', 'admin');
    const device = await console.connect(admin);
    const body = { name: 'of a device' };
    const made = (await instance.call('POST', '/api/workspace/api-keys', { token: device.token, body })).json.data;
    const stream = await listening(instance, made);
    await instance.call('DELETE', `${MEMBERS}/${admin.memberId}`, { token: instance.workspaceKey });
    await instance.services.live.heartbeat();
    expect((await stream.told()).map(({ event }) => event)).toEqual(['revoked']);
  });

  test('of a workspace key has the envelope of a member of the console', async () => {
    const { instance } = await withKey();
    const stream = await listen(instance, (await given.workspaceKey(instance)).token);
    expect((await stream.told())[0]!.data.applicationId).toBe(instance.services.workspaces.consoleId());
  });

  test('is refused with the verdict of a verification, and counts as a call of the key', async () => {
    const world = await withKey();
    const { instance, manage } = world;
    const make = async (input: object): Promise<Made> =>
      (await manage('POST', '/api-keys', { name: 'made', ...input })).json.data;
    const [revoked, rotated, brief, scarce] = [
      await make({}),
      await make({}),
      await make({ expiresAt: new Date(instance.clock.now() + HOUR).toISOString() }),
      await make({ rateLimits: { perMinute: 1, perDay: 9 } }),
    ];
    await manage('DELETE', `/api-keys/${revoked.id}`);
    await manage('POST', `/api-keys/${rotated.id}/rotate`);
    instance.clock.advance(2 * HOUR);
    expect(await refusalOf(world, revoked.token)).toEqual([403, 'membership_blocked']);
    expect(await refusalOf(world, rotated.token)).toEqual([401, 'invalid_token']);
    expect(await refusalOf(world, brief.token)).toEqual([401, 'expired']);
    expect(await refusalOf(world, 'eak_nonsense')).toEqual([401, 'invalid_token']);
    await listening(instance, scarce);
    expect(await refusalOf(world, scarce.token)).toEqual([429, 'rate_limited']);
  });

  test('is limited to twenty per key', async () => {
    const world = await withKey();
    const { instance, manage } = world;
    const rateLimits = { perMinute: 100, perDay: 1000 };
    const key: Made = (await manage('POST', '/api-keys', { name: 'many', rateLimits })).json.data;
    for (let count = 0; count < 20; count += 1) await listening(instance, key);
    expect(await refusalOf(world, key.token)).toEqual([429, 'rate_limited']);
  });
});
