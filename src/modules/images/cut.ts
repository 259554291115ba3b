/**
 * Cuts the middle out of a picture. `Bun.Image` has no crop, but reads only as many lines as the header says: the
 * picture is reduced, shortened, turned upside down and shortened again, all on the threads of `Bun.Image`.
 */
import { crc32 } from 'node:zlib';
import { free } from '../../core/buffer.ts';
import type { Picture } from './picture.ts';

/** Memory bound in bytes, the file itself aside; measured by test/bench/images.ts. */
const MAX_WORKING_BYTES = 96_000_000;
const BYTES_PER_PIXEL = 4;
/** Longest side of a JPEG that `Bun.Image` writes. */
const MAX_JPEG_SIDE = 65_500;
/** JPEG quality of intermediate results, which are reduced and compressed further. */
const WORKING_QUALITY = 95;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The middle of a picture, stored rotated. */
export interface Middle extends Size {
  /** JPEG or PNG. */
  readonly bytes: Buffer;
  /** Clockwise rotation that makes it upright, in degrees. */
  readonly rotate: number;
}

/**
 * Cuts the largest centred part with this ratio, at least one pixel, reduced to `widest` and further to fit memory.
 *
 * @param size of the stored picture; `ratio` (width over height) and `widest` refer to it too.
 * @param picture its buffer is consumed. @throws the errors of `Bun.Image`.
 */
export async function cutMiddle(picture: Picture, size: Size, ratio: number, widest: number): Promise<Middle> {
  const { isReducible, heldBytesPerPixel } = picture;
  const maxPixels = size.width * size.height;
  let { bytes } = picture;

  /** Keeps JPEGs as JPEGs: fastest and smallest. */
  async function work(change: (image: Bun.Image) => Bun.Image): Promise<void> {
    const before = bytes;
    const image = change(new Bun.Image(before, { maxPixels, autoOrient: false }));
    bytes = await (
      isReducible ? image.jpeg({ quality: WORKING_QUALITY }) : image.png({ compressionLevel: 2 })
    ).buffer();
    free(before);
  }

  const scale = widest / middleOf(size, ratio).width;
  const small = isReducible ? reducedByDecoder(size, scale, heldBytesPerPixel) : reduced(size, scale, ratio);
  const middle = middleOf(small, ratio);
  await work((image) => image.resize(small.width, small.height));
  const isNarrower = middle.width < small.width;
  if (isNarrower) await work((image) => image.rotate(90));
  const [lines, kept] = isNarrower ? [small.width, middle.width] : [small.height, middle.height];
  if (kept === lines) return { ...middle, bytes, rotate: 0 };
  keepLines(bytes, Math.floor((lines - kept) / 2) + kept);
  await work((image) => image.rotate(180));
  keepLines(bytes, kept);
  return { ...middle, bytes, rotate: isNarrower ? 90 : 180 };
}

function middleOf({ width, height }: Size, ratio: number): Size {
  return { width: clamp(Math.round(height * ratio), width), height: clamp(Math.round(width / ratio), height) };
}

/** Reduces in eighths, so that the JPEG decoder never holds the whole; leaves room for two copies, to rotate. */
function reducedByDecoder(size: Size, scale: number, heldBytesPerPixel: number): Size {
  const area = size.width * size.height;
  const bytes = Math.min(MAX_WORKING_BYTES / 2, MAX_WORKING_BYTES - area * heldBytesPerPixel);
  const most = Math.sqrt(bytes / BYTES_PER_PIXEL / area);
  const longest = MAX_JPEG_SIDE / Math.max(size.width, size.height);
  return scaled(size, Math.min(Math.ceil(scale * 8), Math.floor(Math.min(most, longest) * 8)) / 8);
}

/** `Bun.Image` holds the picture, an already narrowed copy, and the result twice. */
function reduced(size: Size, scale: number, ratio: number): Size {
  // Solves 1 + most + 2 * most ** 2 = share.
  const share = MAX_WORKING_BYTES / BYTES_PER_PIXEL / (size.width * size.height);
  const most = (Math.sqrt(8 * share - 7) - 1) / 4;
  if (scale <= most) return scaled(size, scale);
  // A picture that only loses lines keeps its size: half of it is cut before the rotation.
  return scaled(size, size.height * ratio < size.width ? most : 1);
}

function scaled({ width, height }: Size, by: number): Size {
  return { width: clamp(Math.ceil(width * by), width), height: clamp(Math.ceil(height * by), height) };
}

/** Shortens a PNG or JPEG of `Bun.Image` by changing only its header; decoders do not read the lines below. */
function keepLines(file: Buffer, lines: number): void {
  if (file[0] === 0xff) {
    let at = 2;
    while (file[at + 1] !== 0xc0) at += 2 + file.readUInt16BE(at + 2);
    file.writeUInt16BE(lines, at + 5);
    return;
  }
  file.writeUInt32BE(lines, 20);
  file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
}

const clamp = (value: number, most: number) => Math.max(1, Math.min(value, most));
