/**
 * Cuts the middle out of a picture. `Bun.Image` has no crop, but it reads no more lines than a header says: the picture is
 * turned upside down between two shortenings of its height. Every pixel stays on the threads of `Bun.Image`.
 */
import { crc32 } from 'node:zlib';
import { free } from '../../core/buffer.ts';
import type { Picture } from './picture.ts';

/** What a picture may take while it is worked on, the file itself aside; test/bench/images.ts measures what it comes to. */
const MAX_WORKING_BYTES = 130_000_000;
const BYTES_PER_PIXEL = 4;

/** Up to here pixels are handed on as they are, which takes three times their room. */
const COMFORTABLE_PIXELS = 3_400_000;
/** Of the JPEG that a larger picture is between two steps; what comes of it is reduced and compressed further. */
const WORKING_QUALITY = 95;
/** No JPEG can be longer, as `Bun.Image` writes it. */
const MAX_JPEG_SIDE = 65_500;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The middle of a picture, stored lying on a side or on its head. */
export interface Middle extends Size {
  /** JPEG or PNG. */
  readonly bytes: Buffer;
  /** Undoes how it lies: clockwise, in degrees. */
  readonly rotate: number;
}

/**
 * The largest part of that shape around the centre, a pixel at least. It is reduced where it is wider than is asked for,
 * and a little further where a long picture would take too much memory otherwise.
 *
 * @param picture its buffer is used up.
 * @param size of the picture, as it is stored; so are `ratio` (width over height) and `widest`.
 * @throws what `Bun.Image` throws.
 */
export async function cutMiddle(picture: Picture, size: Size, ratio: number, widest: number): Promise<Middle> {
  let { bytes } = picture;

  /** @param result what comes of the change. */
  async function work(result: Size, change: (image: Bun.Image) => Bun.Image): Promise<void> {
    const before = bytes;
    const image = change(new Bun.Image(before, { maxPixels: areaOf(size), autoOrient: false }));
    bytes = await inBetween(image, result, picture.isOpaque).buffer();
    free(before);
  }

  // Once it is a JPEG, its decoder can reduce it.
  if (!isJpeg(bytes) && isKeptAsJpeg(size, picture.isOpaque)) await work(size, (image) => image);
  const scale = Math.min(1, widest / middleOf(size, ratio).width);
  const small = isJpeg(bytes) ? reducedByDecoder(size, scale) : reduced(size, scale, ratio);
  await work(small, (image) => image.resize(small.width, small.height));
  const middle = middleOf(small, ratio);
  let lying = small;
  if (middle.width < small.width) {
    lying = { width: small.height, height: small.width };
    await work(lying, (image) => image.rotate(90));
  }
  const kept = middle.width < small.width ? middle.width : middle.height;
  if (kept === lying.height) return { ...middle, bytes, rotate: 0 };
  const lines = Math.floor((lying.height - kept) / 2) + kept;
  keepLines(bytes, lines);
  await work({ ...lying, height: lines }, (image) => image.rotate(180));
  keepLines(bytes, kept);
  return { ...middle, bytes, rotate: lying === small ? 180 : 90 };
}

/** How a picture is handed from one step to the next. */
function inBetween(image: Bun.Image, result: Size, isOpaque: boolean): Bun.Image {
  if (isKeptAsJpeg(result, isOpaque)) return image.jpeg({ quality: WORKING_QUALITY });
  return image.png({ compressionLevel: areaOf(result) > COMFORTABLE_PIXELS ? 2 : 0 });
}

function isKeptAsJpeg(size: Size, isOpaque: boolean): boolean {
  return isOpaque && areaOf(size) > COMFORTABLE_PIXELS && Math.max(size.width, size.height) <= MAX_JPEG_SIDE;
}

function middleOf({ width, height }: Size, ratio: number): Size {
  return { width: clamp(Math.round(height * ratio), width), height: clamp(Math.round(width / ratio), height) };
}

/** In eighths: so a JPEG's decoder reduces without ever holding the whole. There is room for it, for turning, and a rest. */
function reducedByDecoder(size: Size, scale: number): Size {
  const { width, height } = size;
  const most = Math.floor(8 * Math.sqrt(MAX_WORKING_BYTES / (3 * BYTES_PER_PIXEL * areaOf(size))));
  const eighths = clamp(Math.min(Math.ceil(scale * 8), most), 8);
  return { width: Math.ceil((width * eighths) / 8), height: Math.ceil((height * eighths) / 8) };
}

/** The rest is decoded as a whole. Reducing takes as much again, by the share `most`, and the result three times. */
function reduced(size: Size, scale: number, ratio: number): Size {
  const { width, height } = size;
  const share = MAX_WORKING_BYTES / (areaOf(size) * BYTES_PER_PIXEL);
  // Solves 1 + most + 3 * most ** 2 = share.
  const most = (Math.sqrt(12 * share - 11) - 1) / 6;
  const isNarrowed = height * ratio < width;
  // What only loses lines can stay as it is: half of it is gone before it is turned.
  const by = scale <= most ? scale : isNarrowed ? most : 1;
  return { width: clamp(Math.ceil(width * by), width), height: clamp(Math.ceil(height * by), height) };
}

/** Shortens a PNG or JPEG of `Bun.Image` by its header alone: what stands below is not read. */
function keepLines(file: Buffer, lines: number): void {
  if (!isJpeg(file)) {
    file.writeUInt32BE(lines, 20);
    file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
    return;
  }
  const FRAME = 0xc0;
  let at = 2;
  while (file[at + 1] !== FRAME) at += 2 + file.readUInt16BE(at + 2);
  file.writeUInt16BE(lines, at + 5);
}

const areaOf = ({ width, height }: Size) => width * height;
const isJpeg = (file: Buffer) => file[0] === 0xff;
const clamp = (value: number, most: number) => Math.max(1, Math.min(value, most));
