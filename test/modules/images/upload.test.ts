/** Uploading and removing pictures: refusals, storage, events and concurrency. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { HOUR } from '@/core/clock.ts';
import type { AppError } from '@/core/error.ts';
import { MAX_HELD_PER_CALLER, uploadIntake } from '@/http/upload.ts';
import * as given from '../../support/given.ts';
import { dumpTables } from '../../support/stored.ts';
import { animatedGif, BLUE, isNear, jpeg, pixelsOf, png, RED, webp } from './pictures.ts';
import { type Answered, type Body, createWorld, type Kind, type World } from './world.ts';

setDefaultTimeout(120_000);

const MIB = 1024 * 1024;
const red = png(300, 200, () => RED);
const blue = png(300, 200, () => BLUE);

const codeOf = ({ status, json }: Answered) => [status, json.error];

/** Expects an error of the field `file`, and an unchanged database. */
async function expectRefused(world: World, send: () => Promise<Answered>, remedy: RegExp): Promise<void> {
  const before = dumpTables(world.instance);
  const answer = await send();
  expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  expect(answer.json.fields).toEqual([{ path: 'file', message: expect.stringMatching(remedy) }]);
  expect(dumpTables(world.instance)).toEqual(before);
}

const signOut = ({ instance, application, userId }: World) =>
  instance.services.users.revokeSessions(SYSTEM_ACTOR, application, userId);

function form(...files: [name: string, content: Uint8Array | string][]): FormData {
  const data = new FormData();
  for (const [name, content] of files)
    if (typeof content === 'string') data.append(name, content);
    else data.append(name, new Blob([new Uint8Array(content)]), 'photo.png');
  return data;
}

function chunked(bytes: number): { stream: ReadableStream<Uint8Array>; sent(): number } {
  let sent = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = Math.min(64 * 1024, bytes - sent);
      if (size <= 0) return controller.close();
      sent += size;
      controller.enqueue(new Uint8Array(size));
    },
  });
  return { stream, sent: () => sent };
}

/** Returns a body that ends only when the test releases it. */
function heldBack(bytes: Uint8Array, first = 10) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(new Uint8Array(bytes.subarray(0, first)));
      await promise;
      controller.enqueue(new Uint8Array(bytes.subarray(first)));
      controller.close();
    },
  });
  return { stream, release: resolve };
}

const started = () => new Promise((resolve) => setImmediate(resolve));

describe('an uploaded picture', () => {
  test.each(['avatar', 'banner'] as const)(
    'is stored as %s in three sizes, with an event for each application',
    async (kind) => {
      const world = await createWorld();
      const { instance, application, other, userId } = world;
      const sizes = kind === 'avatar' ? [128, 256, 1200] : [768, 1500, 2400];
      const { status, json, headers } = await world.put(kind, red);
      const v = instance.clock.now();
      const updatedAt = new Date(v).toISOString();
      const urlIn = (slug: string, size: number) =>
        `http://localhost:8080/cdn/${slug}/users/${userId}/${kind}-${size}.webp?v=${v}`;
      expect([status, headers.get('ratelimit-limit')]).toEqual([200, '30']);
      expect(json).toEqual({
        success: true,
        data: {
          url: urlIn('shop', sizes[1]!),
          sizes,
          updatedAt,
          variants: sizes.map((size) => ({ size, url: urlIn('shop', size) })),
        },
      });
      expect(world.stored(kind).map((row) => [row.size, row.updatedAt])).toEqual(sizes.map((size) => [size, v]));
      const event = (slug: string) => ({
        type: `user.${kind}_changed`,
        data: { userId, url: urlIn(slug, sizes[1]!), sizes, updatedAt },
      });
      expect(instance.events(application.id).slice(1)).toEqual([event('shop')]);
      expect(instance.events(other.id).slice(1)).toEqual([event('other')]);
      expect(instance.auditKinds().filter((name) => name.startsWith('account.'))).toEqual([`account.${kind}_changed`]);
      expect(await world.verify()).toMatchObject({
        avatarUrl: kind === 'avatar' ? urlIn('shop', 256) : null,
        avatarSizes: kind === 'avatar' ? sizes : null,
        avatarUpdatedAt: kind === 'avatar' ? updatedAt : null,
        bannerSizes: kind === 'banner' ? sizes : null,
        bannerUpdatedAt: kind === 'banner' ? updatedAt : null,
      });
    },
  );

  test('is accepted raw in four types, in a form or in chunks, with any declared type', async () => {
    const world = await createWorld();
    const bodies: [Body, string][] = [
      [red, 'image/png'],
      [await jpeg(red), 'image/jpeg'],
      [await webp(red), 'image/webp'],
      [animatedGif(20, 10), 'image/gif'],
      [red, 'image/gif'],
      [red, 'IMAGE/JPEG; q=1'],
      [form(['file', red]), ''],
    ];
    for (const [body, type] of bodies)
      expect([type, (await world.put('avatar', body, { type })).status]).toEqual([type, 200]);
    const held = heldBack(red);
    held.release();
    expect((await world.put('avatar', held.stream)).status).toBe(200);
  });

  test('gets a new version each time, even within one millisecond and after a removal', async () => {
    const world = await createWorld();
    const versions: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const file of [red, red, blue])
        versions.push(Date.parse((await world.put('avatar', file)).json.data.updatedAt));
      await world.remove('avatar');
    }
    expect(versions[0]).toBe(world.instance.clock.now());
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });

  test('replaces the previous one completely, even with concurrent uploads', async () => {
    const world = await createWorld();
    const sent = (file: Buffer) => ({ headers: { 'content-length': String(file.length) } });
    const answers = await Promise.all([red, blue, red, blue].map((file) => world.put('avatar', file, sent(file))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const stored = world.stored('avatar');
    expect(stored.map(({ size }) => size)).toEqual([128, 256, 1200]);
    const last = Math.max(...answers.map(({ json }) => Date.parse(json.data.updatedAt)));
    expect(new Set(stored.map(({ updatedAt }) => updatedAt))).toEqual(new Set([last]));
    const pixels = await Promise.all(stored.map(async ({ bytes }) => (await pixelsOf(bytes)).at(50, 50)));
    const colour = isNear(pixels[0]!, RED) ? RED : BLUE;
    expect(pixels.every((pixel) => isNear(pixel, colour))).toBe(true);
    expect((await world.verify())['avatarUpdatedAt']).toBe(new Date(last).toISOString());
  });

  test('is stored with its audit record and events, or not at all', async () => {
    const world = await createWorld();
    const before = dumpTables(world.instance);
    for (const table of ['events', 'audit_records', 'user_images']) {
      const repair = given.brokenWrites(world.instance, `INSERT ON ${table}`);
      expect([table, (await world.put('avatar', red)).status]).toEqual([table, 500]);
      repair();
      expect(dumpTables(world.instance)).toEqual(before);
    }
  });
});

describe('removing a picture', () => {
  test('falls back to the provider’s avatar, emits one event, and changes nothing when repeated', async () => {
    const world = await createWorld();
    const { instance, application, other, userId } = world;
    await given.person(instance, userId, { providerAvatarUrl: 'https://provider.example/ada.png' });
    await world.put('avatar', red);
    await world.put('banner', red);
    const before = [instance.events(application.id).length, instance.events(other.id).length] as const;
    for (let time = 0; time < 2; time += 1)
      expect((await world.remove('avatar')).json).toEqual({ success: true, data: null });
    const expectedEvents = [{ type: 'user.avatar_changed', data: { userId, url: null, sizes: null, updatedAt: null } }];
    expect(instance.events(application.id).slice(before[0])).toEqual(expectedEvents);
    expect(instance.events(other.id).slice(before[1])).toEqual(expectedEvents);
    expect([world.stored('avatar').length, world.stored('banner').length]).toEqual([0, 3]);
    expect(await world.verify()).toMatchObject({
      avatarUrl: 'https://provider.example/ada.png',
      avatarSizes: null,
      avatarUpdatedAt: null,
      bannerSizes: [768, 1500, 2400],
    });
    expect(instance.auditKinds().filter((kind) => kind === 'account.avatar_changed')).toHaveLength(2);
  });

  test('changes nothing when there is none', async () => {
    const world = await createWorld();
    const before = dumpTables(world.instance);
    expect((await world.remove('banner')).status).toBe(200);
    expect(dumpTables(world.instance)).toEqual(before);
  });
});

describe('an upload', () => {
  test.each([
    ['image/svg+xml'],
    ['text/html'],
    ['application/json'],
    ['application/octet-stream'],
    ['application/x-www-form-urlencoded'],
    ['image/heic'],
    ['image/*'],
    [''],
    [null],
  ])('of another media type is refused with the four accepted ones named: %j', async (type) => {
    const world = await createWorld();
    const before = dumpTables(world.instance);
    const answer = await world.put('avatar', new Uint8Array(red), { type });
    expect(codeOf(answer)).toEqual([415, 'unsupported_media_type']);
    expect(answer.json.message).toBe(
      'Send the file as image/jpeg, image/png, image/webp, image/gif, or in a form as multipart/form-data.',
    );
    expect(dumpTables(world.instance)).toEqual(before);
  });

  test.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', /no JPEG, PNG, WebP or GIF/],
    ['HTML', '<!doctype html><script>alert(1)</script>', /no JPEG, PNG, WebP or GIF/],
    ['half a picture', red.subarray(0, red.length / 2), /truncated or damaged/],
    ['nothing', '', /empty/],
  ])('of %s declared as image/png is refused, raw and in a form', async (_, content, remedy) => {
    const world = await createWorld();
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    await expectRefused(world, () => world.put('avatar', bytes), remedy);
    await expectRefused(world, () => world.put('banner', form(['file', bytes])), remedy);
  });

  test('without a body is refused', async () => {
    const world = await createWorld();
    await expectRefused(world, () => world.put('avatar', null), /empty/);
  });

  test.each<[string, FormData]>([
    ['no field', form()],
    ['another field', form(['photo', red])],
    ['two files', form(['file', red], ['file', red])],
    ['a field besides the file', form(['file', red], ['note', 'hello'])],
  ])('of a form with %s is refused', async (what, body) => {
    const world = await createWorld();
    const remedy = what === 'no field' ? /one file in the field "file"|broken/ : /one file in the field "file"/;
    await expectRefused(world, () => world.put('avatar', body), remedy);
  });

  const head = 'Content-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n';
  const picture = red.toString('latin1');

  test.each([
    ['without a boundary', '', `--x\r\n${head}${picture}\r\n--x--\r\n`],
    ['with another boundary', '; boundary=y', `--x\r\n${head}${picture}\r\n--x--\r\n`],
    ['with a boundary too long', `; boundary=${'x'.repeat(71)}`, `--${'x'.repeat(71)}\r\n${head}${picture}\r\n`],
    ['that never ends', '; boundary=x', `--x\r\n${head}${picture}`],
    ['whose part has no end of its headers', '; boundary=x', '--x\r\nContent-Disposition: form-data\r\n--x--\r\n'],
    ['of headers without end', '; boundary=x', `--x\r\nX-Long: ${'y'.repeat(9000)}\r\n${head}${picture}\r\n--x--`],
    ['that is only its boundary', '; boundary=x', '--x'],
    ['that is no form', '; boundary=x', 'hello'],
  ])('of a form %s is refused as broken', async (_, parameters, text) => {
    const world = await createWorld();
    const type = `multipart/form-data${parameters}`;
    await expectRefused(world, () => world.put('avatar', Buffer.from(text, 'latin1'), { type }), /broken/);
  });

  test('accepts a form with a preamble, an epilogue, a quoted boundary and a line break in the picture', async () => {
    const world = await createWorld();
    const gif = `${animatedGif(20, 10).toString('latin1')}\r\n--xy\r\n`;
    const text = `a preamble\r\n--x y\r\n${head}${gif}\r\n--x y--\r\nan epilogue`;
    const body = Buffer.from(text, 'latin1');
    const { status } = await world.put('avatar', body, { type: 'multipart/form-data; boundary="x y"' });
    expect(status).toBe(200);
  });

  test('over 10 MiB is refused: at once when declared, else while it is received', async () => {
    const world = await createWorld();
    const before = dumpTables(world.instance);
    const declared = chunked(11 * MIB);
    const headers = { 'content-length': String(11 * MIB) };
    const first = await world.put('avatar', declared.stream, { headers });
    expect([...codeOf(first), first.json.message]).toEqual([
      413,
      'payload_too_large',
      'The file is too large; send at most 10 MiB.',
    ]);
    expect(declared.sent()).toBeLessThanOrEqual(64 * 1024);
    const counted = chunked(64 * MIB);
    expect(codeOf(await world.put('banner', counted.stream))).toEqual([413, 'payload_too_large']);
    expect(counted.sent()).toBeLessThan(12 * MIB);
    // A file of exactly 10 MiB is judged by its content.
    expect(codeOf(await world.put('avatar', chunked(10 * MIB).stream))).toEqual([400, 'invalid_request']);
    expect(dumpTables(world.instance)).toEqual(before);
  });

  test('is refused to every API key', async () => {
    const world = await createWorld();
    const { token } = await world.instance.createKey(world.application.id);
    for (const kind of ['avatar', 'banner'] as Kind[])
      for (const key of [token, world.instance.workspaceKey])
        expect(codeOf(await world.put(kind, red, { token: key }))).toEqual([403, 'forbidden']);
    expect(world.stored('avatar')).toEqual([]);
  });

  test('is limited to thirty changes an hour, including removals', async () => {
    const world = await createWorld();
    for (let count = 0; count < 29; count += 1) await world.remove('avatar');
    expect((await world.put('banner', red)).status).toBe(200);
    const { status, headers } = await world.put('avatar', red);
    expect([status, Number(headers.get('retry-after'))]).toEqual([429, 3600 - 60]);
    expect((await world.verify())['ok']).toBe(true);
    world.instance.clock.advance(HOUR);
    expect((await world.put('avatar', red)).status).toBe(200);
  });

  test('is refused when the person is signed out, banned or deleted while the body arrives', async () => {
    for (const end of [
      signOut,
      ({ instance, application, userId }: World) =>
        instance.services.users.act(SYSTEM_ACTOR, application, userId, 'ban'),
      ({ instance, userId }: World) => given.person(instance, userId, { deletedAt: 1 }),
    ]) {
      const world = await createWorld();
      const { stream, release } = heldBack(red);
      const answer = world.put('avatar', stream);
      await started();
      await end(world);
      release();
      expect([401, 403]).toContain((await answer).status);
      expect(world.stored('avatar')).toEqual([]);
    }
  });

  test('is refused when the person is signed out while the picture is rendered', async () => {
    const world = await createWorld();
    // The change of the first that is rendered, since a request could take as long as rendering.
    const signOut = 'UPDATE sessions SET revoked_at = 1';
    world.instance.sqlite.run(`CREATE TRIGGER sign_out AFTER INSERT ON user_images BEGIN ${signOut}; END`);
    const answers = await Promise.all([world.put('avatar', red), world.put('avatar', blue)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(world.stored('avatar')).toHaveLength(3);
  });
});

test('times out when its body trickles', async () => {
  const { stream } = chunked(MIB);
  const request = new Request('http://localhost/', {
    method: 'PUT',
    body: stream,
    headers: { 'content-type': 'image/png' },
  });
  const upload = uploadIntake({ minReadingMs: -1 }).open(request, { maxBytes: MIB, mediaTypes: ['image/png'] }, 'ada');
  const error = await upload.read().catch((thrown: unknown) => thrown);
  expect((error as AppError).code).toBe('request_timeout');
});

describe('concurrent uploads', () => {
  test('are limited per person: excess ones are refused unread and may be retried later', async () => {
    const world = await createWorld();
    const held = Array.from({ length: MAX_HELD_PER_CALLER }, () => heldBack(red));
    const headers = { 'content-length': String(red.length) };
    const waiting = held.map(({ stream }) => world.put('avatar', stream, { headers }));
    await started();
    const extra = chunked(MIB);
    const refused = await world.put('banner', extra.stream, { headers: { 'content-length': String(MIB) } });
    expect([...codeOf(refused), refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '2']);
    expect(extra.sent()).toBeLessThanOrEqual(64 * 1024);
    for (const { release } of held) release();
    for (const answer of waiting) expect((await answer).status).toBe(200);
    expect((await world.put('banner', red)).status).toBe(200);
  });

  test('are limited by their total bytes, which refused and finished ones release', async () => {
    const world = await createWorld();
    const people: string[] = [];
    for (let index = 0; index < 3; index += 1)
      people.push((await world.instance.signIn(world.application.clientId, `p${index}@example.com`)).token);
    const large = Buffer.concat([red, Buffer.alloc(10 * MIB - red.length)]);
    const held = [heldBack(large, large.length - 1), heldBack(large, large.length - 1)];
    const waiting = held.map(({ stream }, index) => world.put('avatar', stream, { token: people[index]! }));
    await started();
    for (let time = 0; time < 3; time += 1) {
      const { status } = await world.put('avatar', chunked(2 * MIB).stream, { token: people[2]! });
      expect(status).toBe(503);
    }
    const small = { token: people[2]!, headers: { 'content-length': String(red.length) } };
    expect((await world.put('avatar', red, small)).status).toBe(200);
    held[0]!.release();
    await waiting[0];
    expect((await world.put('avatar', chunked(2 * MIB).stream, { token: people[2]! })).status).toBe(400);
    expect((await world.put('avatar', chunked(11 * MIB).stream, { token: people[2]! })).status).toBe(413);
    expect((await world.put('avatar', chunked(2 * MIB).stream, { token: people[2]! })).status).toBe(400);
    held[1]!.release();
    await waiting[1];
  });

  test('that trickle do not block others, since only received bytes count', async () => {
    const uploads = uploadIntake({ graceMs: -1000 });
    const rule = { maxBytes: 10 * MIB, mediaTypes: ['image/png'] };
    const headers = { 'content-type': 'image/png', 'content-length': String(10 * MIB) };
    const open = (caller: string, body: BodyInit) =>
      uploads.open(new Request('http://localhost', { method: 'PUT', headers, body }), rule, caller);
    const slow = Array.from({ length: 20 }, (_, index) => {
      const { stream, release } = heldBack(red);
      const upload = open(`slow${index}`, stream);
      return { upload, release, read: upload.read() };
    });
    await started();
    const quick = open('ada', new Uint8Array(red));
    expect((await quick.read()).byteLength).toBe(red.length);
    quick.close();
    for (const { upload, release, read } of slow) {
      release();
      expect((await read).byteLength).toBe(red.length);
      upload.close();
    }
  });
});
