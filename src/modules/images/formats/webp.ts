/** Reads a WebP's chunks (RFC 9649 §2): size, turn and, of an animated one, the first frame as a file of its own. */
import { orientationOf } from './exif.ts';
import { Bytes, damaged, type Orientation, type Picture } from './picture.ts';

const ALPHA_FLAG = 0x10;
/** Position, size, duration and flags of a frame, before its own chunks. */
const FRAME_HEAD = 16;
/** A picture has fewer than ten before its first frame; more are there to keep us busy. */
const MAX_CHUNKS = 100;

interface Chunk {
  readonly type: string;
  /** Where its data stand, and how many bytes they are. */
  readonly at: number;
  readonly length: number;
}

interface Still {
  readonly width: number;
  readonly height: number;
  readonly isOpaque: boolean;
  readonly decoderBytesPerPixel: number;
}

export function isWebp(bytes: Bytes): boolean {
  return bytes.hasText(0, 'RIFF') && bytes.hasText(8, 'WEBP');
}

export function readWebp(bytes: Bytes): Picture {
  const end = 8 + bytes.number32(4, true);
  const chunks = chunksIn(bytes, 12, end);
  const exif = chunks.find(({ type }) => type === 'EXIF');
  const orientation: Orientation = exif ? orientationOf(bytes, exif.at) : 1;
  const frame = chunks.find(({ type }) => type === 'ANMF');
  if (!frame)
    return { bytes: bytes.all, orientation, isReducible: false, keepLines: null, ...readStill(bytes, chunks) };
  const parts = chunksIn(bytes, frame.at + FRAME_HEAD, frame.at + frame.length);
  const still = readStill(bytes, parts);
  return { bytes: fileOf(bytes, parts, still), orientation, isReducible: false, keepLines: null, ...still };
}

/**
 * The chunks up to the first frame; what follows that is not read.
 *
 * @throws {AppError} invalid_request for a chunk that does not end within its place, and for more than any picture has.
 */
function chunksIn(bytes: Bytes, from: number, end: number): Chunk[] {
  if (end > bytes.length) throw damaged();
  const chunks: Chunk[] = [];
  for (let at = from; at + 8 <= end;) {
    const length = bytes.number32(at + 4, true);
    const type = bytes.text(at, 4);
    if (at + 8 + length > end || chunks.length === MAX_CHUNKS) throw damaged();
    chunks.push({ type, at: at + 8, length });
    if (type === 'ANMF') break;
    at += 8 + length + (length & 1);
  }
  return chunks;
}

function readStill(bytes: Bytes, chunks: readonly Chunk[]): Still {
  const lossless = chunks.find(({ type }) => type === 'VP8L');
  if (lossless) {
    // Behind a signature of one byte: fourteen bits each of width and height less one, and whether there is alpha.
    const bits = bytes.number32(lossless.at + 1, true);
    return {
      width: 1 + (bits & 0x3fff),
      height: 1 + ((bits >> 14) & 0x3fff),
      isOpaque: ((bits >> 28) & 1) === 0,
      decoderBytesPerPixel: 4,
    };
  }
  const lossy = chunks.find(({ type }) => type === 'VP8 ');
  if (!lossy) throw damaged();
  const [width, height] = [bytes.number16(lossy.at + 6, true) & 0x3fff, bytes.number16(lossy.at + 8, true) & 0x3fff];
  if (width === 0 || height === 0) throw damaged();
  const hasAlpha = chunks.some(({ type }) => type === 'ALPH');
  return { width, height, isOpaque: !hasAlpha, decoderBytesPerPixel: hasAlpha ? 2 : 0 };
}

/** A frame's chunks as a file; the decoder takes no animation. */
function fileOf(bytes: Bytes, parts: readonly Chunk[], { width, height }: Still): Uint8Array {
  const head = Buffer.alloc(30);
  head.write('RIFF');
  head.write('WEBPVP8X', 8);
  head.writeUInt32LE(10, 16);
  head.writeUInt8(ALPHA_FLAG, 20);
  head.writeUIntLE(width - 1, 24, 3);
  head.writeUIntLE(height - 1, 27, 3);
  const kept = parts.filter(({ type }) => type === 'ALPH' || type === 'VP8 ' || type === 'VP8L');
  const body = kept.flatMap(({ at, length }) => [
    bytes.slice(at - 8, 8 + length),
    ...(length & 1 ? [new Uint8Array(1)] : []),
  ]);
  const file = Buffer.concat([head, ...body]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}
