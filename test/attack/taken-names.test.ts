/** Slugs, from which picture addresses are built: no name passes from one tenant to another. */
import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import * as given from '../support/given.ts';
import { createWorld, type World } from '../modules/images/world.ts';
import { png, RED } from '../modules/images/pictures.ts';

const rename = ({ instance }: World, id: string, slug: string, token = instance.workspaceKey) =>
  instance.call('PATCH', `/api/applications/${id}`, { token, body: { slug } });
const create = ({ instance }: World, body: Record<string, unknown>, token = instance.workspaceKey) =>
  instance.call('POST', '/api/applications', { token, body });

describe('a slug that an application has given up', () => {
  test('still leads to its pictures and to no others', async () => {
    const world = await createWorld();
    const { json } = await world.put(
      'avatar',
      png(300, 300, () => RED),
    );
    const path = new URL(json.data.url).pathname;
    expect(path).toStartWith('/cdn/shop/');
    expect((await world.get(path)).status).toBe(200);
    await rename(world, world.application.id, 'boutique');
    await rename(world, world.application.id, 'store');
    for (const slug of ['shop', 'boutique', 'store'])
      expect([slug, (await world.get(path.replace('/shop/', `/${slug}/`))).status]).toEqual([slug, 200]);
    expect((await world.get(path.replace('/shop/', '/shops/'))).status).toBe(404);
  });

  test('is taken for every other application, chosen or derived, and free for its own', async () => {
    const world = await createWorld();
    const { instance, application } = world;
    const tenant = await given.tenant(instance);
    await rename(world, application.id, 'boutique');
    for (const answer of [
      await create(world, { name: 'Thief', slug: 'shop' }, tenant.workspaceKey),
      await create(world, { name: 'Sibling', slug: 'shop' }),
      await rename(world, tenant.application.id, 'shop', tenant.workspaceKey),
      await rename(world, world.other.id, 'shop'),
    ])
      expect([answer.status, answer.json.error]).toEqual([409, 'conflict']);
    expect((await create(world, { name: 'Shop' }, tenant.workspaceKey)).json.data.slug).toBe('shop-2');
    for (const slug of ['shop', 'boutique', 'shop'])
      expect((await rename(world, application.id, slug)).status).toBe(200);
    expect((await rename(world, tenant.application.id, 'boutique', tenant.workspaceKey)).status).toBe(409);
  });

  test('is refused with the same message as one in use, which reveals nobody', async () => {
    const world = await createWorld();
    const tenant = await given.tenant(world.instance);
    await rename(world, world.application.id, 'boutique');
    const answers = await Promise.all(
      ['shop', 'boutique', 'gatehouse-console'].map((slug) => create(world, { name: 'X', slug }, tenant.workspaceKey)),
    );
    expect(new Set(answers.map(({ json: { requestId: _, ...rest } }) => JSON.stringify(rest))).size).toBe(1);
    expect(answers[0]!.json.message).toBe('This slug is taken; choose another.');
  });

  test('counts as one of ten per day; the limit resets the next day, and no old address is lost', async () => {
    const world = await createWorld();
    const { json } = await world.put(
      'avatar',
      png(300, 300, () => RED),
    );
    const path = new URL(json.data.url).pathname;
    const { instance, application } = world;
    const names = Array.from({ length: 40 }, (_, at) => `name-${at}`);
    const answers = await Promise.all(names.map((slug) => rename(world, application.id, slug)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 200);
    // The setting is GATEHOUSE_LIMIT_SLUGS_PER_APPLICATION.
    for (const { status, headers, json: told } of refused)
      expect([status, headers.get('ratelimit-limit'), headers.get('retry-after'), told.error]).toEqual([
        429,
        '10',
        '86400',
        'rate_limited',
      ]);
    const kept = instance.sqlite.query('SELECT slug FROM former_slugs WHERE application_id = ?').values(application.id);
    expect(kept).toHaveLength(10);
    for (const [slug] of kept)
      expect([slug, (await world.get(path.replace('/shop/', `/${slug}/`))).status]).toEqual([slug, 200]);
    // An unchanged slug costs nothing, and another application has its own limit.
    expect((await rename(world, world.other.id, 'another')).status).toBe(200);
    instance.clock.advance(DAY);
    expect((await rename(world, application.id, 'tomorrow')).status).toBe(200);
    expect((await world.get(path)).status).toBe(200);
  });

  test('goes to one of two concurrent requests', async () => {
    const world = await createWorld();
    const tenant = await given.tenant(world.instance);
    const answers = await Promise.all([
      rename(world, world.other.id, 'prize'),
      rename(world, tenant.application.id, 'prize', tenant.workspaceKey),
      create(world, { name: 'Third', slug: 'prize' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});
