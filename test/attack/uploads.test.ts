/** Files of two formats at once, decompression bombs, and path traversal by file names. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { deflateSync, gzipSync } from 'node:zlib';
import { jpeg, png, pngChunk, RED, withSegment } from '../modules/images/pictures.ts';
import { animatedGif } from '../modules/images/pictures.ts';
import { type Body, createWorld, type World } from '../modules/images/world.ts';
import { dumpTables } from '../support/stored.ts';

setDefaultTimeout(120_000);

const MIB = 1024 * 1024;
const PAYLOAD = '<script>alert(document.domain)</script><?php system($_GET[0]); ?>';
const red = png(60, 40, () => RED);
const world = await createWorld();

/** A GIF that is also a script: its first bytes name a variable, and a comment hides the rest. */
function gifThatIsAScript(): Buffer {
  const gif = animatedGif(20, 10);
  const hidden = Buffer.concat([Buffer.from([0x21, 0xfe, PAYLOAD.length]), Buffer.from(PAYLOAD), Buffer.from([0])]);
  const end = gif.length - 1;
  return Buffer.concat([gif.subarray(0, end), hidden, gif.subarray(end), Buffer.from(`*/=1;alert(1)//${PAYLOAD}`)]);
}

const POLYGLOTS: Record<string, () => Promise<Buffer>> = {
  'a GIF that is a script': async () => gifThatIsAScript(),
  'a JPEG with a page in its comment': async () => withSegment(await jpeg(red), 0xfe, Buffer.from(PAYLOAD)),
  'a JPEG with a page behind its end': async () => Buffer.concat([await jpeg(red), Buffer.from(PAYLOAD)]),
  'a JPEG that is an archive': async () =>
    Buffer.concat([await jpeg(red), Buffer.from('PK\x03\x04'), Buffer.from(PAYLOAD), Buffer.from('PK\x05\x06')]),
  'a PNG with a page in a text': async () =>
    png(60, 40, () => RED, { extra: [pngChunk('tEXt', Buffer.from(`Comment\0${PAYLOAD}`))] }),
  'a PNG with a page behind its end': async () => Buffer.concat([red, Buffer.from(PAYLOAD)]),
  'a PNG with a page in a chunk of its own': async () =>
    png(60, 40, () => RED, { extra: [pngChunk('ruSt', Buffer.from(PAYLOAD))] }),
};

/** Every variant as served to a browser. */
async function served({ get, application, userId, stored }: World) {
  const variants = stored('avatar');
  return Promise.all(
    variants.map(async ({ size }) => {
      const response = await get(`/cdn/${application.slug}/users/${userId}/avatar-${size}.webp`);
      return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    }),
  );
}

describe('a picture that is also another format', () => {
  test.each(Object.entries(POLYGLOTS))('%s: is redrawn and served only as a picture', async (_, make) => {
    const file = await make();
    expect(file.includes('alert(')).toBe(true);
    const { status } = await world.put('avatar', file);
    expect(status).toBe(200);
    const variants = await served(world);
    expect(variants.length).toBeGreaterThan(0);
    for (const { headers, bytes } of variants) {
      expect(bytes.subarray(8, 12).toString()).toBe('WEBP');
      for (const part of ['alert', 'script', '<?', 'PK\x03\x04']) expect(bytes.includes(part)).toBe(false);
      expect(headers.get('content-type')).toBe('image/webp');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('sandbox');
    }
  });
});

describe('a decompression bomb', () => {
  const zeros = (mebibytes: number) => deflateSync(Buffer.alloc(mebibytes * MIB), { level: 9 });
  const BOMBS: Record<string, () => Buffer> = {
    'a PNG with a compressed text of 200 MiB': () =>
      png(60, 40, () => RED, { extra: [pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), zeros(200)]))] }),
    'a PNG with a colour profile of 200 MiB': () =>
      png(60, 40, () => RED, { extra: [pngChunk('iCCP', Buffer.concat([Buffer.from('profile\0\0'), zeros(200)]))] }),
    'a GIF of a screen of 65,535 × 65,535': () => {
      const gif = animatedGif(20, 10);
      gif.writeUInt16LE(65_535, 6);
      gif.writeUInt16LE(65_535, 8);
      return gif;
    },
  };

  test.each(Object.entries(BOMBS))('%s: is answered without using its unpacked size in memory', async (_, make) => {
    const file = make();
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const { status } = await world.put('avatar', file);
    expect([200, 400]).toContain(status);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * MIB);
  });

  test('compressed bodies, of pictures or JSON, are not decompressed', async () => {
    const before = dumpTables(world.instance);
    const bomb = gzipSync(Buffer.alloc(200 * MIB), { level: 9 });
    for (const encoding of ['gzip', 'deflate', 'br', 'zstd']) {
      const headers = { 'content-encoding': encoding };
      expect((await world.put('avatar', bomb.subarray(0, 300_000), { headers })).status).toBe(400);
      const json = await world.instance.call('POST', '/api/applications', {
        token: world.instance.workspaceKey,
        body: gzipSync('{"name":"Unpacked"}').toString('latin1'),
        headers,
      });
      expect([json.status, json.json.error]).toEqual([400, 'invalid_request']);
    }
    expect(dumpTables(world.instance)).toEqual(before);
  });
});

describe('a path traversal', () => {
  const NAMES = [
    '../../../etc/passwd',
    '..\\..\\boot.ini',
    '/etc/cron.d/x',
    'a.php',
    'a.svg',
    'a\0.html',
    'con',
    'x'.repeat(5000),
  ];

  test.each(NAMES)('a file name %j is ignored', async (name) => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(red)], { type: 'text/html' }), name);
    const { status, json } = await world.put('avatar', body as Body);
    expect([status, json.data?.url ?? '']).toEqual([200, expect.stringMatching(/\/avatar-256\.webp\?v=\d+$/)]);
    const images = world.instance.sqlite.query('SELECT * FROM user_images').all();
    expect(Buffer.from(JSON.stringify(images)).includes('passwd')).toBe(false);
  });

  const { application, userId } = world;
  const users = `/cdn/${application.slug}/users/${userId}`;
  test.each([
    `${users}/..%2f..%2f..%2fetc%2fpasswd`,
    `${users}/%2e%2e%2favatar-256.webp`,
    `${users}/avatar-256.webp%00.html`,
    `${users}/avatar-256.svg`,
    `${users}/avatar-256.webp%2f`,
    `${users}/avatar--256.webp`,
    `${users}/avatar-0x100.webp`,
    `${users}/avatar-256.0.webp`,
    `${users}/avatar-%32%35%36.php`,
    `/cdn/..%2f${application.slug}/users/${userId}/avatar-256.webp`,
    `/cdn/${application.slug}/users/..%2f${userId}/avatar-256.webp`,
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e%2f%2e%2e%2fgatehouse.db',
    '/assets/__proto__',
    '/assets/constructor',
  ])('a path to %s finds nothing', async (path) => {
    await world.put('avatar', red);
    expect((await world.get(path)).status).toBe(404);
  });
});
