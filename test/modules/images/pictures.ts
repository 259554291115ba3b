/** Builds pictures pixel by pixel and files that resemble pictures, and reads the pixels of any picture. */
import { constants, crc32, deflateRawSync, deflateSync, inflateSync } from 'node:zlib';

export type Colour = readonly [red: number, green: number, blue: number, alpha?: number];
export type Paint = (x: number, y: number) => Colour;

export const RED: Colour = [255, 0, 0];
export const GREEN: Colour = [0, 255, 0];
export const BLUE: Colour = [0, 0, 255];
export const WHITE: Colour = [255, 255, 255];

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, 'latin1');
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** @param compressed the filtered scan lines, of colour type 2 or 6 */
function pngOf(width: number, height: number, colourType: 2 | 6, compressed: Uint8Array, extra: Buffer[] = []) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  head[9] = colourType;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', head),
    ...extra,
    pngChunk('IDAT', compressed),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function png(width: number, height: number, paint: Paint, { hasAlpha = false, extra = [] as Buffer[] } = {}) {
  const channels = hasAlpha ? 4 : 3;
  const lines = Buffer.alloc((width * channels + 1) * height);
  for (let y = 0, at = 0; y < height; y += 1) {
    at += 1;
    for (let x = 0; x < width; x += 1, at += channels) {
      const [red, green, blue, alpha = 255] = paint(x, y);
      lines[at] = red;
      lines[at + 1] = green;
      lines[at + 2] = blue;
      if (hasAlpha) lines[at + 3] = alpha;
    }
  }
  return pngOf(width, height, hasAlpha ? 6 : 2, deflateSync(lines), extra);
}

/** Builds a PNG whose lines have one colour each, which is much faster than pixel by pixel. */
export function stripedPng(width: number, height: number, colourOf: (y: number) => Colour, { hasAlpha = false } = {}) {
  const channels = hasAlpha ? 4 : 3;
  const length = width * channels + 1;
  const lines = Buffer.alloc(length * height);
  for (let y = 0; y < height; y += 1) {
    const pixel = Buffer.from([...colourOf(y), 255].slice(0, channels) as number[]);
    lines.fill(new Uint8Array(pixel), y * length + 1, (y + 1) * length);
  }
  return pngOf(width, height, hasAlpha ? 6 : 2, deflateSync(lines));
}

/** Builds a picture of one colour, which compresses to almost nothing. */
export function flatPng(width: number, height: number): Buffer {
  return pngOf(width, height, 2, deflateSync(Buffer.alloc((width * 3 + 1) * height), { level: 9 }));
}

/** Builds a picture of 16,384 × 16,384 real pixels: 800 MB of zeros in less than 1 MB. */
export function hugePng(side = 16_384): Buffer {
  const MIB = 1024 * 1024;
  const length = (side * 3 + 1) * side;
  // A full flush makes a block independent of earlier ones, so that it can be repeated.
  const block = deflateRawSync(Buffer.alloc(MIB), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const rest = deflateRawSync(Buffer.alloc(length % MIB));
  const checksum = Buffer.alloc(4);
  checksum.writeUInt16BE(length % 65_521);
  checksum.writeUInt16BE(1, 2);
  const blocks = Array<Buffer>(Math.floor(length / MIB)).fill(block);
  return pngOf(side, side, 2, Buffer.concat([Buffer.from([0x78, 0xda]), ...blocks, rest, checksum]));
}

const image = (bytes: Uint8Array) => new Bun.Image(bytes, { autoOrient: false });

export const jpeg = (bytes: Uint8Array, options: { quality?: number; progressive?: boolean } = { quality: 95 }) =>
  image(bytes).jpeg(options).buffer();
export const webp = (bytes: Uint8Array, options: { quality?: number; lossless?: boolean } = { quality: 90 }) =>
  image(bytes).webp(options).buffer();

/** Builds an EXIF block with an orientation and a GPS position. */
export function exif(orientation: number): Buffer {
  const block = Buffer.from(
    '4d4d002a00000008' + // big-endian TIFF, first directory at 8
      '0002' +
      '011200030000000100000000' +
      '882500040000000100000026' +
      '00000000' +
      '0001' +
      '000200050000000300000038' +
      '00000000',
    'hex',
  );
  block[19] = orientation;
  return Buffer.concat([block, Buffer.from('GPS 48.8584N 2.2945E secret place')]);
}

/** Inserts a segment behind the first marker. */
export function withSegment(file: Buffer, marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([file.subarray(0, 2), head, data, file.subarray(2)]);
}

export const withExif = (file: Buffer, orientation: number) =>
  withSegment(file, 0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif(orientation)]));

/** Builds an animation of two frames: the first red, the second blue. */
export function animatedGif(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.write('GIF89a');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  head[10] = 0x80;
  return Buffer.concat([
    head,
    Buffer.from([...RED, ...BLUE] as number[]),
    gifFrame(width, height, 0),
    gifFrame(width, height, 1),
    Buffer.from([0x3b]),
  ]);
}

/** Encodes LZW that clears its table before it would grow: each code has three bits. */
function gifFrame(width: number, height: number, colour: number): Buffer {
  const bits: number[] = [];
  const put = (code: number) => bits.push(code & 1, (code >> 1) & 1, code >> 2);
  for (let index = 0; index < width * height; index += 1) {
    if (index % 2 === 0) put(4);
    put(colour);
  }
  put(5);
  const data = Array.from({ length: Math.ceil(bits.length / 8) }, (_, index) =>
    bits.slice(index * 8, index * 8 + 8).reduce((byte, bit, place) => byte | (bit << place), 0),
  );
  const blocks: number[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.slice(at, at + 255);
    blocks.push(block.length, ...block);
  }
  const descriptor = Buffer.alloc(10);
  descriptor[0] = 0x2c;
  descriptor.writeUInt16LE(width, 5);
  descriptor.writeUInt16LE(height, 7);
  return Buffer.concat([Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]), descriptor, Buffer.from([2, ...blocks, 0])]);
}

function riffChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type);
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length & 1)]);
}

/** Builds an animation of stills of the same size, which is also the size of the canvas. */
export function animatedWebp(width: number, height: number, ...stills: Buffer[]): Buffer {
  const size = Buffer.alloc(6);
  size.writeUIntLE(width - 1, 0, 3);
  size.writeUIntLE(height - 1, 3, 3);
  const frames = stills.map((still) => {
    // A still with alpha has a VP8X chunk before the parts that belong in a frame.
    const parts = still.toString('latin1', 12, 16) === 'VP8X' ? still.subarray(30) : still.subarray(12);
    return riffChunk('ANMF', Buffer.concat([Buffer.alloc(6), size, Buffer.from([100, 0, 0, 0]), parts]));
  });
  return riffFile([
    riffChunk('VP8X', Buffer.concat([Buffer.from([0x12, 0, 0, 0]), size])),
    riffChunk('ANIM', Buffer.alloc(6)),
    ...frames,
  ]);
}

/** Builds a WebP with an EXIF chunk. */
export function webpWithExif(still: Buffer, width: number, height: number, block: Buffer): Buffer {
  const size = Buffer.alloc(6);
  size.writeUIntLE(width - 1, 0, 3);
  size.writeUIntLE(height - 1, 3, 3);
  return riffFile([
    riffChunk('VP8X', Buffer.concat([Buffer.from([0x08, 0, 0, 0]), size])),
    still.subarray(12),
    riffChunk('EXIF', block),
  ]);
}

function riffFile(chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.alloc(8);
  head.write('RIFF');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

export interface Pixels {
  readonly width: number;
  readonly height: number;
  at(x: number, y: number): number[];
}

/** Decodes a picture with Bun.Image and reads its pixels. */
export async function pixelsOf(bytes: Uint8Array): Promise<Pixels> {
  const file = await image(bytes).png({ compressionLevel: 0 }).buffer();
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const data: Buffer[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const lines = inflateSync(Buffer.concat(data));
  const at = (x: number, y: number) => y * (width * 4 + 1) + 1 + x * 4;
  return { width, height, at: (x, y) => [...lines.subarray(at(x, y), at(x, y) + 4)] };
}

/** Returns whether a pixel has a colour, within the error of lossy compression. */
export function isNear(pixel: readonly number[], [red, green, blue, alpha = 255]: Colour, tolerance = 24): boolean {
  return [red, green, blue, alpha].every((value, index) => Math.abs(value - pixel[index]!) <= tolerance);
}
