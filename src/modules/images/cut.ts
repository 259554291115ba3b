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

/** Above it an opaque picture is worked on as JPEG, which can be decoded at a fraction of its size. */
const LARGE_PIXELS = 4_000_000;
/** Of what is made out of it, which is reduced and compressed further. */
const WORKING_QUALITY = 95;
/** Libjpeg writes no longer one. */
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
  const isLarge = size.width * size.height > LARGE_PIXELS;
  const isPhoto = isLarge && picture.isOpaque && Math.max(size.width, size.height) <= MAX_JPEG_SIDE;

  /** Encodes what has been worked on, and gives back the memory of what it was made of. */
  async function worked(from: Buffer, change: (image: Bun.Image) => Bun.Image): Promise<Buffer> {
    const image = change(new Bun.Image(from, { maxPixels: size.width * size.height, autoOrient: false }));
    const encoded = isPhoto
      ? image.jpeg({ quality: WORKING_QUALITY })
      : image.png({ compressionLevel: isLarge ? 2 : 0 });
    const bytes = await encoded.buffer();
    free(from);
    return bytes;
  }

  let { bytes } = picture;
  const held = size.width * size.height * (picture.heldBytesPerPixel ?? 0);
  if (isPhoto && !isJpeg(bytes)) bytes = await worked(bytes, (image) => image);
  const scale = Math.min(1, widest / middleOf(size, ratio).width);
  const small = isPhoto ? reducedByDecoder(size, scale, held) : reduced(size, scale, ratio);
  bytes = await worked(bytes, (image) => (small.width < size.width ? image.resize(small.width, small.height) : image));
  const middle = middleOf(small, ratio);
  const isNarrower = middle.width < small.width;
  if (isNarrower) bytes = await worked(bytes, (image) => image.rotate(90));
  const [lines, kept] = isNarrower ? [small.width, middle.width] : [small.height, middle.height];
  if (kept < lines) {
    keepLines(bytes, Math.floor((lines - kept) / 2) + kept);
    bytes = await worked(bytes, (image) => image.rotate(180));
    keepLines(bytes, kept);
  }
  return { ...middle, bytes, rotate: isNarrower ? 90 : kept < lines ? 180 : 0 };
}

function middleOf({ width, height }: Size, ratio: number): Size {
  return { width: clamp(Math.round(height * ratio), width), height: clamp(Math.round(width / ratio), height) };
}

/** In eighths: so a JPEG's decoder reduces without ever holding the whole. */
function reducedByDecoder({ width, height }: Size, scale: number, held: number): Size {
  // What is decoded stands beside the coefficients first, and twice beside nothing when it is turned.
  const room = Math.min(MAX_WORKING_BYTES - held, MAX_WORKING_BYTES / 3) / BYTES_PER_PIXEL;
  const most = Math.floor(8 * Math.sqrt(room / (width * height)));
  const eighths = clamp(Math.min(Math.ceil(scale * 8), most), 8);
  return { width: Math.ceil((width * eighths) / 8), height: Math.ceil((height * eighths) / 8) };
}

/** The rest is decoded as a whole. Reducing takes as much again, by the share `most`, and the result three times. */
function reduced({ width, height }: Size, scale: number, ratio: number): Size {
  const share = MAX_WORKING_BYTES / (width * height * BYTES_PER_PIXEL);
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

const isJpeg = (file: Buffer) => file[0] === 0xff;
const clamp = (value: number, most: number) => Math.max(1, Math.min(value, most));
