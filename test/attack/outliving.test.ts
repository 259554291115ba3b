/** Access that must not outlive its reason: keys made with a device, drafts open to workspace members. */
import { describe, expect, test } from 'bun:test';
import { findConsole } from '@/store/applications.ts';
import * as given from '../support/given.ts';
import type { Instance } from '../support/instance.ts';
import { createScene, sceneOf } from '../modules/devices/scene.ts';

async function createWorld() {
  const { instance, application } = await createScene();
  const console_ = sceneOf(instance, (await findConsole(instance.db.reader))!);
  const owner = await console_.signIn('owner@example.com');
  const { memberId } = await given.consoleMember(instance, 'eve@example.com', 'admin');
  const eve = await console_.signIn('eve@example.com');
  const device = await console_.connect(eve);
  return { instance, application, console: console_, owner, eve, memberId, device };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const mint = async (instance: Instance, token: string, path = '/api/workspace/api-keys') => {
  const { status, json } = await instance.call('POST', path, { token, body: { name: 'left behind', access: 'full' } });
  expect(status).toBe(200);
  return json.data as { id: string; token: string; deviceKeyId: string | null };
};

/** Returns whether the key manages, and whether a backend that verifies it accepts it. */
async function works({ instance, application }: World, token: string): Promise<[number, boolean]> {
  const { status } = await instance.call('GET', `/api/applications/${application.id}`, { token });
  const verdict = await instance.call('POST', '/api/v1/verify', { token: instance.workspaceKey, body: { token } });
  return [status, verdict.json.success];
}

describe('keys made with a console device', () => {
  const ENDS: [how: string, end: (world: World) => Promise<unknown>][] = [
    [
      'is disconnected',
      ({ instance, eve, device }) => instance.call('DELETE', `/api/account/devices/${device.id}`, { token: eve.token }),
    ],
    [
      'belongs to somebody who was taken out of the workspace',
      ({ instance, owner, memberId }) =>
        instance.call('DELETE', `/api/workspace/members/${memberId}`, { token: owner.token }),
    ],
    [
      'belongs to somebody who may only read by now',
      ({ instance, owner, memberId }) =>
        instance.call('PATCH', `/api/workspace/members/${memberId}`, { token: owner.token, body: { role: 'member' } }),
    ],
    ['rests, as its person does', (world) => world.console.setStatus(world.eve.userId, 'paused')],
  ];

  test.each(ENDS)('end when the device %s, and so do keys made with those keys', async (_, end) => {
    const world = await createWorld();
    const { instance, application, device } = world;
    const ofWorkspace = await mint(instance, device.token);
    const ofApplication = await mint(instance, device.token, `/api/applications/${application.id}/api-keys`);
    const inTurn = await mint(instance, ofWorkspace.token);
    const independent = await mint(instance, instance.workspaceKey);
    const made = [ofWorkspace, ofApplication, inTurn];
    expect(made.map(({ deviceKeyId }) => deviceKeyId)).toEqual([device.id, device.id, device.id]);
    for (const { token } of made) expect((await works(world, token))[0]).toBe(200);
    expect(await works(world, ofApplication.token)).toEqual([200, true]);
    await end(world);
    for (const { token } of made) expect(await works(world, token)).toEqual([401, false]);
    expect((await works(world, independent.token))[0]).toBe(200);
  });

  test('are recorded as ended with the device', async () => {
    const { instance, eve, device } = await createWorld();
    const { id } = await mint(instance, device.token);
    await instance.call('DELETE', `/api/account/devices/${device.id}`, { token: eve.token });
    const { json } = await instance.call('GET', '/api/workspace/api-keys', { token: instance.workspaceKey });
    expect(json.data.items.find((key: { id: string }) => key.id === id).revokedAt).toBeString();
  });

  test('are the only keys that the device or they may rotate, since rotating returns a token', async () => {
    const world = await createWorld();
    const { instance, device, owner } = world;
    const independent = await mint(instance, instance.workspaceKey);
    const own = await mint(instance, device.token);
    for (const token of [device.token, own.token])
      for (const way of ['rotate', 'rotate-with-grace']) {
        const path = `/api/workspace/api-keys/${independent.id}/${way}`;
        const { status, json } = await instance.call('POST', path, { token });
        expect([status, json.error]).toEqual([403, 'forbidden']);
      }
    expect((await works(world, independent.token))[0]).toBe(200);
    const path = `/api/workspace/api-keys/${own.id}/rotate-with-grace`;
    const successor = (await instance.call('POST', path, { token: device.token })).json.data;
    expect((await works(world, successor.token))[0]).toBe(200);
    const byOwner = await instance.call('POST', `/api/workspace/api-keys/${independent.id}/rotate`, owner);
    expect(byOwner.status).toBe(200);
    await instance.call('DELETE', `/api/account/devices/${device.id}`, { token: world.eve.token });
    for (const token of [own.token, successor.token]) expect((await works(world, token))[0]).toBe(401);
    expect((await works(world, byOwner.json.data.token))[0]).toBe(200);
  });
});

describe('a person removed from a workspace', () => {
  async function inApplication(world: World, isPublished: boolean) {
    const { instance, owner } = world;
    const { json } = await instance.call('POST', '/api/applications', {
      token: owner.token,
      body: { name: 'Secret plans' },
    });
    const { id, clientId } = json.data;
    if (isPublished) await instance.call('POST', `/api/applications/${id}/publish`, { token: owner.token });
    const scene = sceneOf(instance, { id, clientId } as never);
    const eve = await scene.signIn('eve@example.com');
    return { id, clientId, scene, eve, device: await scene.connect(eve) };
  }

  const see = ({ instance }: World, token: string) => instance.call('POST', '/api/v1/session', { token });
  const me = ({ instance }: World, token: string) => instance.call('GET', '/api/me/roles', { token });

  test('loses its drafts at once: sessions, devices and new sign-ins', async () => {
    const world = await createWorld();
    const draft = await inApplication(world, false);
    expect([(await see(world, draft.eve.token)).status, (await me(world, draft.device.token)).status]).toEqual([
      200, 200,
    ]);
    const { instance, owner, memberId } = world;
    await instance.call('DELETE', `/api/workspace/members/${memberId}`, { token: owner.token });
    expect([(await see(world, draft.eve.token)).status, (await me(world, draft.device.token)).status]).toEqual([
      401, 401,
    ]);
    instance.clock.advance(60_000);
    expect((await instance.trySignIn(draft.clientId, 'eve@example.com')).json.error).toBe('gate_closed');
    const ended = instance.events(draft.id).filter(({ type }) => type === 'user.session_revoked');
    expect(ended.map(({ data }) => (data as { reason: string }).reason)).toEqual(['removed_from_workspace']);
  });

  test('loses a private beta without a place on its waitlist; applications open to everyone stay accessible', async () => {
    const world = await createWorld();
    const beta = await inApplication(world, true);
    await given.application(world.instance, beta.id, { signinGate: 'private_beta' });
    const shop = sceneOf(world.instance, world.application);
    const open = await shop.signIn('eve@example.com');
    await world.instance.call('DELETE', `/api/workspace/members/${world.memberId}`, { token: world.owner.token });
    expect([(await see(world, beta.eve.token)).status, (await see(world, open.token)).status]).toEqual([401, 200]);
  });

  test('keeps the drafts of their other workspace', async () => {
    const world = await createWorld();
    const { instance, owner, memberId } = world;
    const draft = await inApplication(world, false);
    const tenant = await given.tenant(instance);
    const added = await instance.call('POST', '/api/workspace/members', {
      token: tenant.workspaceKey,
      body: { email: 'eve@example.com', role: 'member' },
    });
    await world.console.signIn('eve@example.com');
    await instance.call('DELETE', `/api/workspace/members/${added.json.data.id}`, { token: tenant.workspaceKey });
    expect((await see(world, draft.eve.token)).status).toBe(200);
    await instance.call('DELETE', `/api/workspace/members/${memberId}`, { token: owner.token });
    expect((await see(world, draft.eve.token)).status).toBe(401);
  });
});
