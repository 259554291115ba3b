/** Reads a GIF's blocks (GIF89a §15 to §26) to the end of its first frame, which is the picture. */
import { Bytes, damaged, type Picture } from './picture.ts';

const [EXTENSION, FRAME] = [0x21, 0x2c];
/** 10 MiB in full blocks are 41,000; more are there to keep us busy. */
const MAX_BLOCKS = 100_000;
const MAX_EXTENSIONS = 100;

export function isGif(bytes: Bytes): boolean {
  return bytes.hasText(0, 'GIF87a') || bytes.hasText(0, 'GIF89a');
}

export function readGif(bytes: Bytes): Picture {
  const [screenWidth, screenHeight] = [bytes.number16(6, true), bytes.number16(8, true)];
  let at = 13 + colourTableBytes(bytes.byte(10));
  for (let extensions = 0; bytes.byte(at) === EXTENSION; extensions += 1) {
    if (extensions === MAX_EXTENSIONS) throw damaged();
    at = endOfBlocks(bytes, at + 2);
  }
  if (bytes.byte(at) !== FRAME) throw damaged();
  const [width, height] = [bytes.number16(at + 5, true), bytes.number16(at + 7, true)];
  // One byte of code size stands before the frame's data.
  endOfBlocks(bytes, at + 10 + colourTableBytes(bytes.byte(at + 9)) + 1);
  if (width === 0 || height === 0) throw damaged();
  return {
    bytes: bytes.all,
    width: Math.max(screenWidth, width),
    height: Math.max(screenHeight, height),
    orientation: 1,
    isOpaque: false,
    decoderBytesPerPixel: 1,
    isReducible: false,
    keepLines: null,
  };
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** Where the blocks of data that begin here end. */
function endOfBlocks(bytes: Bytes, from: number): number {
  let at = from;
  for (let blocks = 0; blocks < MAX_BLOCKS; blocks += 1) {
    const length = bytes.byte(at);
    at += 1 + length;
    if (length === 0) return at;
  }
  throw damaged();
}
