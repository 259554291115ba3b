/** Files with a small picture and very many empty parts, made to keep the parser busy. */
import { describe, expect, test } from 'bun:test';
import type { AppError } from '@/core/error.ts';
import { inspect } from '@/modules/images/inspect.ts';
import { jpeg, png, RED, webp } from './pictures.ts';

const MIB = 1024 * 1024;

function isRefused(format: Bun.Image.Format, file: Uint8Array): boolean {
  try {
    inspect(new Uint8Array(file), format);
    return false;
  } catch (error) {
    return (error as AppError).code === 'invalid_request';
  }
}

/** Inserts nine MiB of copies of one part at an offset of a file. */
function stuffed(file: Uint8Array, at: number, part: Uint8Array): Buffer {
  const filler = Buffer.concat(Array.from({ length: Math.floor((9 * MIB) / part.length) }, () => part));
  return Buffer.concat([file.subarray(0, at), filler, file.subarray(at)]);
}

describe('a picture stuffed with empty parts', () => {
  const picture = png(8, 8, () => RED);

  test('is refused as WebP with chunks, at the top level and in a frame', async () => {
    const still = Buffer.from(await webp(picture));
    const empty = Buffer.from('JUNK\0\0\0\0', 'latin1');
    const file = stuffed(still, 12, empty);
    file.writeUInt32LE(file.length - 8, 4);
    expect(isRefused('webp', file)).toBe(true);
    const frame = Buffer.concat([Buffer.alloc(16), stuffed(still.subarray(12), 0, empty)]);
    const head = Buffer.from('RIFF\0\0\0\0WEBPVP8X\n\0\0\0\x02\0\0\0\x07\0\0\x07\0\0ANMF\0\0\0\0', 'latin1');
    head.writeUInt32LE(frame.length, head.length - 4);
    const animated = Buffer.concat([head, frame, Buffer.alloc(frame.length & 1)]);
    animated.writeUInt32LE(animated.length - 8, 4);
    expect(isRefused('webp', animated)).toBe(true);
  });

  test('is refused as PNG with chunks', () => {
    expect(isRefused('png', stuffed(picture, 33, Buffer.from('\0\0\0\0tEXt\0\0\0\0', 'latin1')))).toBe(true);
  });

  test('is refused as GIF with extensions or blocks of one byte', () => {
    const screen = Buffer.from('GIF89a\x08\0\x08\0\0\0\0', 'latin1');
    const frame = Buffer.from(',\0\0\0\0\x08\0\x08\0\0\x02\x01\0\0;', 'latin1');
    expect(isRefused('gif', Buffer.concat([screen, frame]))).toBe(false);
    const extension = Buffer.from('!\xfe\0', 'latin1');
    expect(isRefused('gif', stuffed(Buffer.concat([screen, frame]), screen.length, extension))).toBe(true);
    const blocks = stuffed(Buffer.concat([screen, frame]), screen.length + 11, Buffer.from([1, 65]));
    expect(isRefused('gif', blocks)).toBe(true);
    const comment = Buffer.concat([screen, Buffer.from('!\xfe', 'latin1'), Buffer.from('\0', 'latin1'), frame]);
    expect(isRefused('gif', stuffed(comment, screen.length + 2, Buffer.from([1, 65])))).toBe(true);
  });

  test('is refused as JPEG with segments, fill bytes or escapes', async () => {
    const photo = await jpeg(picture);
    expect(isRefused('jpeg', stuffed(photo, 2, Buffer.from([0xff, 0xfe, 0, 2])))).toBe(true);
    expect(isRefused('jpeg', stuffed(photo, 2, Buffer.from([0xff])))).toBe(true);
    expect(isRefused('jpeg', stuffed(photo, photo.length - 2, Buffer.from([0xff, 0])))).toBe(true);
  });
});
