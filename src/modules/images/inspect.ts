/**
 * Reads what `Bun.Image` does not report before decoding: completeness, orientation and decoding cost. `Bun.Image`
 * fills missing parts of a JPEG, PNG or GIF with grey, and accepts any number of scans.
 */
import { turnIn, UPRIGHT } from './exif.ts';
import { inspectJpeg } from './jpeg.ts';
import { damaged, noPicture, type Picture } from './picture.ts';
import { inspectWebp } from './webp.ts';

const READERS: Partial<Record<Bun.Image.Format, (bytes: Buffer) => Picture>> = {
  jpeg: inspectJpeg,
  png: inspectPng,
  webp: inspectWebp,
  gif: inspectGif,
};

export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;

/** Takes some ms, however many parts a file has. @throws {AppError} invalid_request if unsupported or incomplete */
export function inspect(file: Uint8Array, format: Bun.Image.Format): Picture {
  const read = READERS[format];
  if (!read) throw noPicture();
  try {
    return read(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  } catch (error) {
    // Read past the end: the file is truncated.
    throw error instanceof RangeError ? damaged() : error;
  }
}

/** A file of 10 MiB in chunks of 4 KiB has 2,500; more are meant to waste CPU. */
const MAX_PNG_CHUNKS = 20_000;

/** W3C PNG §5: chunks of length, type, data and checksum. Only the first frame of an animation is used. */
function inspectPng(bytes: Buffer): Picture {
  let turn = UPRIGHT;
  for (let at = 8, chunks = 0; ; chunks += 1) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length || chunks === MAX_PNG_CHUNKS) throw damaged();
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IEND') return { bytes, turn, isReducible: false, heldBytesPerPixel: 0 };
    if (type === 'eXIf') turn = turnIn(bytes.subarray(at + 8, end - 4));
    at = end;
  }
}

const [GIF_EXTENSION, GIF_FRAME] = [0x21, 0x2c];
/** 10 MiB in full blocks are 41,000; more are meant to waste CPU. */
const MAX_GIF_BLOCKS = 100_000;
const MAX_GIF_EXTENSIONS = 100;

/** GIF89a §15 to §26, up to the end of the first frame, the only one used. */
function inspectGif(bytes: Buffer): Picture {
  let at = 13 + colourTableBytes(bytes.readUInt8(10));
  for (let extensions = 0; bytes.readUInt8(at) === GIF_EXTENSION; extensions += 1) {
    if (extensions === MAX_GIF_EXTENSIONS) throw damaged();
    at = endOfBlocks(bytes, at + 2);
  }
  if (bytes.readUInt8(at) !== GIF_FRAME) throw damaged();
  // One byte of code size precedes the frame's data.
  endOfBlocks(bytes, at + 10 + colourTableBytes(bytes.readUInt8(at + 9)) + 1);
  return { bytes, turn: UPRIGHT, isReducible: false, heldBytesPerPixel: 0 };
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Returns the offset behind the data blocks that start here. */
function endOfBlocks(bytes: Buffer, from: number): number {
  let at = from;
  for (let blocks = 0; blocks < MAX_GIF_BLOCKS; blocks += 1) {
    const length = bytes.readUInt8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
  throw damaged();
}
