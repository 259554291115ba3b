/** The variants of a picture, checked pixel by pixel. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { AppError } from '@/core/error.ts';
import { render, type Variant } from '@/modules/images/render.ts';
import { SHAPES } from '@/modules/images/variants.ts';
import type { ImageKind } from '@/store/images.ts';
import { isLong } from '../../support/long.ts';
import {
  animatedGif,
  animatedWebp,
  BLUE,
  type Colour,
  exif,
  flatPng,
  GREEN,
  hugePng,
  isNear,
  jpeg,
  type Paint,
  pixelsOf,
  png,
  pngChunk,
  RED,
  stripedPng,
  webp,
  webpWithExif,
  WHITE,
  withExif,
  withSegment,
} from './pictures.ts';

// Pictures of many megapixels take long to make and compress.
setDefaultTimeout(120_000);

/** Renders a copy, since rendering may change its input. */
const renderAs = (kind: ImageKind, file: Uint8Array) => render(new Uint8Array(file), SHAPES[kind]);

async function sizesOf(variants: readonly Variant[]) {
  return Promise.all(
    variants.map(async ({ size, bytes }) => {
      const { width, height, format } = await new Bun.Image(bytes).metadata();
      return [size, width, height, format];
    }),
  );
}

/** Checks colours at positions given as fractions of width and height. */
async function expectPixels({ bytes }: Variant, ...expected: (readonly [x: number, y: number, colour: Colour])[]) {
  const { width, height, at } = await pixelsOf(bytes);
  for (const [x, y, colour] of expected) {
    const pixel = at(Math.floor(x * width), Math.floor(y * height));
    expect(isNear(pixel, colour), `${pixel} at ${x}, ${y} is not ${colour}`).toBe(true);
  }
}

/** Returns the error message for a refused file. */
async function refusalOf(file: Uint8Array, kind: ImageKind = 'avatar'): Promise<string> {
  const error = await renderAs(kind, file).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AppError);
  const { code, fields } = error as AppError;
  expect([code, fields?.map(({ path }) => path)]).toEqual(['invalid_request', ['file']]);
  return fields![0]!.message;
}

const thirds: Paint = (x) => (x < 40 ? RED : x < 80 ? GREEN : BLUE);
const upright: Paint = (x, y) => (y < 20 ? (x < 30 ? RED : GREEN) : x < 30 ? BLUE : WHITE);
const SMALL = png(60, 40, upright);

describe('the variants of a picture', () => {
  test.each([
    ['a landscape', 4000, 3000],
    ['a portrait', 3000, 4000],
    ['a square', 3000, 3000],
  ])('of %s with enough pixels have exactly their sizes', async (_, width, height) => {
    const file = await jpeg(flatPng(width, height));
    expect(await sizesOf(await renderAs('avatar', file))).toEqual([
      [128, 128, 128, 'webp'],
      [256, 256, 256, 'webp'],
      [1200, 1200, 1200, 'webp'],
    ]);
    expect(await sizesOf(await renderAs('banner', file))).toEqual([
      [768, 768, 256, 'webp'],
      [1500, 1500, 500, 'webp'],
      [2400, 2400, 800, 'webp'],
    ]);
  });

  test('are never enlarged beyond the resolution of the cropped picture', async () => {
    const file = png(300, 200, thirds);
    expect(await sizesOf(await renderAs('avatar', file))).toEqual([
      [128, 128, 128, 'webp'],
      [256, 200, 200, 'webp'],
      [1200, 200, 200, 'webp'],
    ]);
    expect(await sizesOf(await renderAs('banner', file))).toEqual([
      [768, 300, 100, 'webp'],
      [1500, 300, 100, 'webp'],
      [2400, 300, 100, 'webp'],
    ]);
  });

  test.each([
    [1, 1, 1, [1, 1]],
    [1, 5000, 1, [1, 1]],
    [5000, 1, 1, [3, 1]],
    [2, 3, 2, [2, 1]],
    [60_000, 1, 1, [3, 1]],
  ] as const)('exist even for %d × %d pixels', async (width, height, side, [wide, high]) => {
    const files = [flatPng(width, height), await jpeg(flatPng(width, height))];
    for (const file of files) {
      expect((await sizesOf(await renderAs('avatar', file))).map((size) => size.slice(1, 3))).toEqual(
        Array(3).fill([side, side]),
      );
      expect((await sizesOf(await renderAs('banner', file))).map((size) => size.slice(1, 3))).toEqual(
        Array(3).fill([wide, high]),
      );
    }
  });

  test('are cropped around the centre, in width and in height', async () => {
    const [wide, high] = [png(120, 40, thirds), png(40, 120, (x, y) => thirds(y, x))];
    const corners = [0.08, 0.92].flatMap((x) => [0.08, 0.92].map((y) => [x, y, GREEN] as const));
    for (const lossless of [wide, high])
      for (const file of [lossless, await jpeg(lossless), await webp(lossless)]) {
        const [avatar] = await renderAs('avatar', file);
        await expectPixels(avatar!, ...corners);
      }
    const [banner] = await renderAs('banner', high);
    await expectPixels(banner!, ...corners);
  });

  test('of a large picture show the same crop for every format and memory-saving path', async () => {
    const [width, height] = [3000, 4000];
    const bands = (y: number) => (y < height / 3 ? RED : y < (2 * height) / 3 ? GREEN : BLUE);
    const opaque = stripedPng(width, height, bands);
    const files = {
      png: opaque,
      turned: withExif(await new Bun.Image(opaque).rotate(270).jpeg({ quality: 90 }).buffer(), 6),
      ...(isLong && {
        clear: stripedPng(width, height, bands, { hasAlpha: true }),
        jpeg: await jpeg(opaque),
        progressive: await jpeg(opaque, { quality: 90, progressive: true }),
        webp: await webp(opaque),
      }),
    };
    for (const [name, file] of Object.entries(files)) {
      const banner = (await renderAs('banner', file))[2]!;
      expect([name, ...(await sizesOf([banner]))[0]!.slice(1, 3)]).toEqual([name, 2400, 800]);
      await expectPixels(banner, ...[0.01, 0.5, 0.99].map((y) => [0.5, y, GREEN] as const));
      // The square is the middle three quarters of the height: the bands change at 5/18 and 13/18 of it.
      const avatar = (await renderAs('avatar', file))[2]!;
      const edges = [
        [0.27, RED],
        [0.285, GREEN],
        [0.715, GREEN],
        [0.73, BLUE],
      ] as const;
      await expectPixels(avatar, ...edges.map(([y, colour]) => [0.5, y, colour] as const));
    }
  });

  test('keep transparency', async () => {
    const half = png(64, 64, (x) => (x < 32 ? [255, 0, 0, 0] : [0, 0, 255, 128]), { hasAlpha: true });
    const lossless = await webp(half, { lossless: true });
    const files = [half, await webp(half), lossless, animatedWebp(64, 64, await webp(half), lossless)];
    for (const file of files) {
      const [small] = await renderAs('avatar', file);
      const pixels = await pixelsOf(small!.bytes);
      expect(pixels.at(4, 32)[3]).toBeLessThan(8);
      expect(isNear(pixels.at(60, 32), [0, 0, 255, 128])).toBe(true);
    }
  });

  test('of an animation show its first frame', async () => {
    const gif = animatedGif(20, 10);
    const [red, blue] = [await webp(png(20, 10, () => RED)), await webp(png(20, 10, () => BLUE))];
    for (const file of [gif, animatedWebp(20, 10, red, blue)]) {
      const variants = await renderAs('banner', file);
      expect((await sizesOf(variants))[0]).toEqual([768, 20, 7, 'webp']);
      await expectPixels(variants[0]!, [0.5, 0.5, RED]);
    }
  });
});

describe('the EXIF orientation', () => {
  /** The stored pixels of an upright picture under each orientation (EXIF 2.3 §4.6.4). */
  const stored: Record<number, (width: number, height: number, paint: Paint) => [number, number, Paint]> = {
    1: (w, h, paint) => [w, h, paint],
    2: (w, h, paint) => [w, h, (x, y) => paint(w - 1 - x, y)],
    3: (w, h, paint) => [w, h, (x, y) => paint(w - 1 - x, h - 1 - y)],
    4: (w, h, paint) => [w, h, (x, y) => paint(x, h - 1 - y)],
    5: (w, h, paint) => [h, w, (x, y) => paint(y, x)],
    6: (w, h, paint) => [h, w, (x, y) => paint(w - 1 - y, x)],
    7: (w, h, paint) => [h, w, (x, y) => paint(w - 1 - y, h - 1 - x)],
    8: (w, h, paint) => [h, w, (x, y) => paint(y, h - 1 - x)],
  };

  const expectUpright = async (file: Buffer) => {
    const banner = await renderAs('banner', file);
    expect((await sizesOf(banner)).map((size) => size.slice(1, 3))).toEqual(Array(3).fill([60, 20]));
    const avatar = await renderAs('avatar', file);
    for (const variants of [banner, avatar])
      await expectPixels(variants[2]!, [0.2, 0.2, RED], [0.8, 0.2, GREEN], [0.2, 0.8, BLUE], [0.8, 0.8, WHITE]);
  };

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('%d is applied for JPEG, PNG and WebP', async (orientation) => {
    const [width, height, paint] = stored[orientation]!(60, 40, upright);
    const file = png(width, height, paint);
    await expectUpright(withExif(await jpeg(file), orientation));
    await expectUpright(png(width, height, paint, { extra: [pngChunk('eXIf', exif(orientation))] }));
    await expectUpright(webpWithExif(await webp(file), width, height, exif(orientation)));
  });

  test('is ignored when it is invalid or in a broken block', async () => {
    const file = await jpeg(SMALL);
    const block = Buffer.from('Exif\0\0', 'latin1');
    for (const broken of [withExif(file, 0), withExif(file, 9), withSegment(file, 0xe1, block)])
      await expectUpright(broken);
    const endless = Buffer.concat([block, Buffer.from('MM\0*\xff\xff\xff\xff', 'latin1')]);
    await expectUpright(withSegment(file, 0xe1, endless));
  });
});

test('the variants contain no metadata: no position, profile or comment', async () => {
  const SECRET = /GPS|secret|Exif|EXIF|ICCP|XMP|http/;
  const profile = Buffer.from('ICC_PROFILE\0\x01\x01secret profile', 'latin1');
  const xmp = Buffer.from('http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>secret</x:xmpmeta>', 'latin1');
  const file = await jpeg(SMALL);
  const marked = [
    withSegment(withSegment(withExif(file, 1), 0xe1, xmp), 0xfe, Buffer.from('secret')),
    withSegment(withExif(file, 6), 0xe2, profile),
    png(60, 40, upright, { extra: [pngChunk('tEXt', Buffer.from('Comment\0secret')), pngChunk('eXIf', exif(1))] }),
    webpWithExif(await webp(SMALL), 60, 40, exif(3)),
  ];
  for (const one of marked) {
    expect(one.toString('latin1')).toMatch(SECRET);
    for (const kind of ['avatar', 'banner'] as const)
      for (const { bytes } of await renderAs(kind, one)) {
        expect(bytes.toString('latin1')).not.toMatch(SECRET);
        expect(bytes.toString('latin1', 0, 16)).toMatch(/^RIFF....WEBPVP8[ X]$/s);
      }
  }
});

describe('rendering', () => {
  const whole = async () => ({
    jpeg: await jpeg(SMALL),
    progressive: await jpeg(SMALL, { quality: 90, progressive: true }),
    png: SMALL,
    webp: await webp(SMALL),
    clear: await webp(png(60, 40, () => [1, 2, 3, 100], { hasAlpha: true })),
    gif: animatedGif(20, 10),
  });

  test('refuses a truncated picture', async () => {
    for (const [format, file] of Object.entries(await whole())) {
      // The first frame of an animation suffices, but not half of it.
      const most = format === 'gif' ? 0.4 : 0.99;
      for (const share of [0.1, 0.3, 0.4, 0.7, 0.9, 0.99].filter((part) => part <= most)) {
        const message = await refusalOf(file.subarray(0, Math.floor(file.length * share)));
        expect([format, share, message]).toEqual([
          format,
          share,
          expect.stringMatching(/truncated or damaged; save it again|no JPEG, PNG, WebP or GIF/),
        ]);
      }
    }
  });

  test.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['SVG behind a declaration', '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['HTML behind the name of a GIF', 'GIF89a<script>alert(1)</script>'],
    ['a BMP', 'BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0'],
    ['a TIFF', 'II*\0\x08\0\0\0'],
    ['HEIC', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
    ['the signature of a PNG and nothing else', '\x89PNG\r\n\x1a\n'],
    ['the beginning of a JPEG', '\xff\xd8\xff\xe0'],
    ['a JPEG without a picture', '\xff\xd8\xff\xd9'],
    ['a WebP without a picture', 'RIFF\x04\0\0\0WEBP'],
  ])('refuses a file that is not a picture: %s', async (_, text) => {
    expect(await refusalOf(Buffer.from(text, 'latin1'))).toMatch(/send|save/);
  });

  test('refuses noise after the header of any format', async () => {
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 251));
    for (const file of Object.values(await whole())) await refusalOf(Buffer.concat([file.subarray(0, 24), noise]));
  });

  test('refuses 16,384 × 16,384 pixels at once, whether real or only declared', async () => {
    const claimed = flatPng(1, 1);
    claimed.writeUInt32BE(16_384, 16);
    claimed.writeUInt32BE(16_384, 20);
    const real = hugePng();
    expect(real.length).toBeLessThan(2_000_000);
    for (const file of [claimed, real]) {
      const startedAt = performance.now();
      expect(await refusalOf(file)).toMatch(
        /^This picture has 16384 × 16384 pixels; reduce it to at most [\d.]+ megapixels\.$/,
      );
      expect(performance.now() - startedAt).toBeLessThan(500);
    }
  });

  test('refuses a picture with more content than its header declares', async () => {
    const file = await jpeg(flatPng(1000, 1000));
    const [first] = await renderAs('avatar', file);
    expect(first!.size).toBe(128);
    // Decoders differ in which of two headers they believe.
    const frame = file.indexOf(Buffer.from([0xff, 0xc0]));
    const second = Buffer.from(file.subarray(frame, frame + 2 + file.readUInt16BE(frame + 2)));
    second.writeUInt16BE(16_000, 5);
    await refusalOf(Buffer.concat([file.subarray(0, frame), second, file.subarray(frame)]));
  });

  test('refuses a JPEG with very many scans', async () => {
    const file = await jpeg(SMALL, { quality: 90, progressive: true });
    const scan = file.lastIndexOf(Buffer.from([0xff, 0xda]));
    const last = file.subarray(scan, file.length - 2);
    const many = (count: number) =>
      Buffer.concat([file.subarray(0, file.length - 2), ...Array<Buffer>(count).fill(last), file.subarray(-2)]);
    await refusalOf(many(1000));
  });
});
