/** Reads a WebP's chunks (RFC 9649 §2), extracts the first frame of an animation, and removes colour profiles. */
import { turnIn, UPRIGHT } from './exif.ts';
import { damaged, type Picture } from './picture.ts';

const [PROFILE_FLAG, ALPHA_FLAG] = [0x20, 0x10];
/** RIFF, size, WEBP, and the VP8X chunk. */
const HEAD_BYTES = 30;
/** Position, size, duration and flags of a frame, before its own chunks. */
const FRAME_HEAD_BYTES = 16;
/** A picture has fewer than ten before its first frame; more are meant to waste CPU. */
const MAX_CHUNKS = 100;

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  /** With header and padding. */
  readonly whole: Buffer;
}

/** @throws {AppError} invalid_request; RangeError past the end. */
export function inspectWebp(bytes: Buffer): Picture {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw damaged();
  const chunks = chunksOf(bytes.subarray(12, end));
  const exif = chunks.find(({ type }) => type === 'EXIF');
  const turn = exif ? turnIn(exif.data) : UPRIGHT;
  const frame = chunks.find(({ type }) => type === 'ANMF');
  return { bytes: frame ? fileOf(frame.data) : bytes, turn, isReducible: false, heldBytesPerPixel: 0 };
}

/** Returns the chunks up to the first frame. */
function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 0; at + 8 <= bytes.length && chunks.at(-1)?.type !== 'ANMF';) {
    const end = at + 8 + bytes.readUInt32LE(at + 4);
    if (end > bytes.length || chunks.length === MAX_CHUNKS) throw damaged();
    const next = end + (end & 1);
    const type = bytes.toString('latin1', at, at + 4);
    chunks.push({ type, data: bytes.subarray(at + 8, end), whole: bytes.subarray(at, next) });
    at = next;
  }
  return chunks;
}

/** Wraps a frame as a file. */
function fileOf(frame: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF');
  head.write('WEBPVP8X', 8);
  head.writeUInt32LE(10, 16);
  head.writeUInt8(ALPHA_FLAG, 20);
  // Width and height, each minus one, in three bytes.
  frame.copy(head, 24, 6, 12);
  const parts = chunksOf(frame.subarray(FRAME_HEAD_BYTES)).filter(({ type }) => /^(ALPH|VP8 |VP8L)$/.test(type));
  return sized(Buffer.concat([head, ...parts.map(({ whole }) => whole)]));
}

/** Removes the colour profile, which `Bun.Image` passes on: it is metadata that can contain text. */
export function withoutProfile(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', HEAD_BYTES, HEAD_BYTES + 4) !== 'ICCP') return bytes;
  const length = bytes.readUInt32LE(HEAD_BYTES + 4);
  const bare = Buffer.concat([bytes.subarray(0, HEAD_BYTES), bytes.subarray(HEAD_BYTES + 8 + length + (length & 1))]);
  bare.writeUInt8(bare.readUInt8(20) & ~PROFILE_FLAG, 20);
  return sized(bare);
}

function sized(file: Buffer): Buffer {
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}
