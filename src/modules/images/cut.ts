/**
 * Cuts a part out of a decoded picture. `Bun.Image` has no crop and gives no bare pixels; its PNG of compression level 0
 * holds them as they are, though, between the frames of chunks and stored blocks, and it reads BMP.
 */
import type { Part, Size } from './plan.ts';

const BYTES_PER_PIXEL = 4;
/** Signature, then IHDR: length, type, thirteen bytes, checksum. */
const FIRST_CHUNK = 8;
const CHUNK_FRAMING = 12;
const ZLIB_HEADER = 2;
const BLOCK_HEADER = 5;
const NO_FILTER = 0;
const BMP_HEADER = 122;
/** So far the BMP may run ahead of the PNG it is made from, until the PNG's frames have made up for its header. */
const HEAD_START = 64 * 1024;

/** Bytes of the pixel stream that stand together in the file. */
interface Run {
  readonly at: number;
  readonly length: number;
}

/**
 * Makes a BMP of a part, in place: a second buffer would double what the largest picture takes.
 *
 * @param png of compression level 0 with alpha, as `Bun.Image` writes it; overwritten.
 * @returns the beginning of the same buffer, but for a picture so small that the header would not fit.
 */
export function cutOut(png: Uint8Array, part: Part): Uint8Array {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const whole = { width: view.getUint32(16), height: view.getUint32(20) };
  // All places are noted before the first of them is overwritten.
  const runs = [...storedRuns(png, view)];
  const start = png.slice(0, HEAD_START);
  const bmpLength = BMP_HEADER + part.width * part.height * BYTES_PER_PIXEL;
  const bmp = png.length > HEAD_START ? png : new Uint8Array(bmpLength);
  // Each line begins with the number of its filter.
  const line = 1 + whole.width * BYTES_PER_PIXEL;
  const [left, right] = [1 + part.left * BYTES_PER_PIXEL, 1 + (part.left + part.width) * BYTES_PER_PIXEL];
  const partLine = part.width * BYTES_PER_PIXEL;

  function copy(from: number, length: number, to: number): void {
    const early = Math.max(0, Math.min(length, start.length - from));
    if (early > 0) bmp.set(start.subarray(from, from + early), to);
    if (length > early) bmp.copyWithin(to + early, from + early, from + length);
  }

  const byteAt = (at: number) => (at < start.length ? start[at] : bmp[at]);

  let position = 0;
  for (const run of runs) {
    for (let done = 0; done < run.length;) {
      const row = Math.floor(position / line);
      const column = position - row * line;
      const length = Math.min(run.length - done, line - column);
      if (column === 0 && byteAt(run.at + done) !== NO_FILTER) throw new Error('the lines of the PNG are filtered');
      const [from, to] = [Math.max(column, left), Math.min(column + length, right)];
      if (row >= part.top && row < part.top + part.height && from < to)
        copy(run.at + done + from - column, to - from, BMP_HEADER + (row - part.top) * partLine + from - left);
      done += length;
      position += length;
    }
  }
  if (position !== line * whole.height || part.top + part.height > whole.height)
    throw new Error(`the PNG holds ${position} bytes, not ${line * whole.height}`);
  writeBmpHeader(new DataView(bmp.buffer, bmp.byteOffset), part);
  return bmp.subarray(0, bmpLength);
}

/** Where the stored blocks (RFC 1951 §3.2.4) of the IDAT chunks' stream keep their bytes. */
function* storedRuns(png: Uint8Array, view: DataView): Generator<Run> {
  const [depth, colourType] = [view.getUint8(24), view.getUint8(25)];
  if (depth !== 8 || colourType !== 6) throw new Error(`the PNG has depth ${depth} and colour type ${colourType}`);
  const header: number[] = [];
  let headerLength = ZLIB_HEADER + BLOCK_HEADER;
  let left = 0;
  let isLast = false;
  for (let at = FIRST_CHUNK; at < png.length; at += CHUNK_FRAMING + view.getUint32(at)) {
    if (view.getUint32(at + 4) !== IDAT) continue;
    const end = at + 8 + view.getUint32(at);
    for (let next = at + 8; next < end;) {
      if (left === 0 && isLast) return;
      if (left === 0) {
        header.push(png[next++]!);
        if (header.length < headerLength) continue;
        const [flags = 0, low = 0, high = 0] = header.slice(-BLOCK_HEADER);
        if (flags > 1) throw new Error('the PNG is compressed');
        isLast = flags === 1;
        left = low | (high << 8);
        header.length = 0;
        headerLength = BLOCK_HEADER;
        continue;
      }
      const length = Math.min(left, end - next);
      yield { at: next, length };
      left -= length;
      next += length;
    }
  }
}

const IDAT = 0x49444154;

/** BITMAPV4HEADER: 32 bits a pixel, red first, with alpha, from the top down. */
function writeBmpHeader(view: DataView, { width, height }: Size): void {
  for (let at = 0; at < BMP_HEADER; at += 1) view.setUint8(at, 0);
  const pixelBytes = width * height * BYTES_PER_PIXEL;
  view.setUint16(0, 0x424d);
  view.setUint32(2, BMP_HEADER + pixelBytes, true);
  view.setUint32(10, BMP_HEADER, true);
  view.setUint32(14, BMP_HEADER - 14, true);
  view.setInt32(18, width, true);
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 32, true);
  const BITFIELDS = 3;
  view.setUint32(30, BITFIELDS, true);
  view.setUint32(34, pixelBytes, true);
  view.setUint32(54, 0x000000ff, true);
  view.setUint32(58, 0x0000ff00, true);
  view.setUint32(62, 0x00ff0000, true);
  view.setUint32(66, 0xff000000, true);
}
