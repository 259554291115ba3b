/** Reads a PNG's chunks (W3C PNG §5) to its end: size and turn. The first frame of an animated one is the picture. */
import { crc32 } from 'node:zlib';
import { orientationOf } from './exif.ts';
import { Bytes, damaged, type Orientation, type Picture } from './picture.ts';

const SIGNATURE = '\x89PNG\r\n\x1a\n';
/** Length, type and checksum. */
const FRAMING = 12;
const [WIDTH, HEIGHT] = [16, 20];
/** A file of 10 MiB in pieces of 4 KiB has 2,500; more are there to keep us busy. */
const MAX_CHUNKS = 20_000;

export function isPng(bytes: Bytes): boolean {
  return bytes.hasText(0, SIGNATURE);
}

export function readPng(bytes: Bytes): Picture {
  let orientation: Orientation = 1;
  let hasPixels = false;
  let isOpaque = !hasAlpha(bytes.byte(25));
  if (!bytes.hasText(12, 'IHDR')) throw damaged();
  for (let at = SIGNATURE.length, chunks = 0; ; chunks += 1) {
    if (chunks === MAX_CHUNKS) throw damaged();
    const length = bytes.number32(at);
    // All of the chunk must be there.
    bytes.slice(at, FRAMING + length);
    if (bytes.hasText(at + 4, 'eXIf')) orientation = orientationOf(bytes, at + 8);
    if (bytes.hasText(at + 4, 'tRNS')) isOpaque = false;
    if (bytes.hasText(at + 4, 'IDAT')) hasPixels = true;
    if (bytes.hasText(at + 4, 'IEND')) break;
    at += FRAMING + length;
  }
  const [width, height] = [bytes.number32(WIDTH), bytes.number32(HEIGHT)];
  if (!hasPixels || width === 0 || height === 0) throw damaged();
  const isInterlaced = bytes.byte(28) !== 0;
  return {
    bytes: bytes.all,
    width,
    height,
    orientation,
    isOpaque,
    decoderBytesPerPixel: 0,
    isReducible: false,
    keepLines: isInterlaced ? null : (lines) => writeHeight(bytes, lines),
  };
}

/** With the checksum of the header, type included. */
function writeHeight(bytes: Bytes, height: number): void {
  bytes.write32(HEIGHT, height);
  bytes.write32(29, crc32(bytes.slice(12, 17)));
}

/** Grey and colour with alpha are types 4 and 6. */
function hasAlpha(colourType: number): boolean {
  return (colourType & 4) !== 0;
}
