/** Reads a JPEG's segments (ITU-T T.81 annex B) to the end of the picture: size, turn, and what decoding will cost. */
import { orientationOf } from './exif.ts';
import { Bytes, damaged, type Orientation, type Picture } from './picture.ts';

/** Segments, fill bytes and restarts between scans; a photo has some dozens. */
const MAX_STEPS = 20_000;
/** Of 10 MiB of noise about 41,000 bytes are escaped. */
const MAX_ESCAPES = 500_000;
/** A progressive file has about ten scans. Each is a pass over all of the picture, and can be made of a few bytes. */
const MAX_SCANS = 64;

const [SOI, EOI, SOS, APP1] = [0xd8, 0xd9, 0xda, 0xe1];
const NO_FRAMES = [0xc4, 0xc8, 0xcc];
const PROGRESSIVE = [0xc2, 0xc6, 0xca, 0xce];

interface Frame {
  readonly heightAt: number;
  readonly width: number;
  readonly height: number;
  readonly components: number;
  /** Of what a decoder keeps, when it cannot show each block as it comes: two bytes a sample. */
  readonly coefficientBytesPerPixel: number;
  readonly isProgressive: boolean;
}

export function isJpeg(bytes: Bytes): boolean {
  return bytes.hasText(0, '\xff\xd8\xff');
}

export function readJpeg(bytes: Bytes): Picture {
  let frame: Frame | null = null;
  let orientation: Orientation = 1;
  let scans = 0;
  let isBuffered = false;
  for (let at = 0, steps = 0; ; steps += 1) {
    if (bytes.byte(at) !== 0xff || steps === MAX_STEPS) throw damaged();
    const marker = bytes.byte(at + 1);
    // What follows the end of the picture (previews, depth maps) is not looked at.
    if (marker === EOI) break;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === SOI || isStandalone(marker)) {
      at += 2;
      continue;
    }
    const length = bytes.number16(at + 2);
    const data = at + 4;
    if (marker === APP1 && bytes.hasText(data, 'Exif\0\0')) orientation = orientationOf(bytes, data + 6);
    if (isFrame(marker)) {
      if (frame) throw damaged();
      frame = readFrame(bytes, data, marker);
    }
    at += 2 + length;
    if (marker !== SOS) continue;
    scans += 1;
    if (!frame || scans > MAX_SCANS) throw damaged();
    if (frame.isProgressive || bytes.byte(data) < frame.components) isBuffered = true;
    at = endOfScan(bytes, at);
  }
  if (!frame || scans === 0 || frame.width === 0 || frame.height === 0) throw damaged();
  const { heightAt } = frame;
  return {
    bytes: bytes.all,
    width: frame.width,
    height: frame.height,
    orientation,
    isOpaque: true,
    decoderBytesPerPixel: isBuffered ? frame.coefficientBytesPerPixel : 0,
    isReducible: true,
    keepLines: (lines) => bytes.write16(heightAt, lines),
  };
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
}

/** Without a length and data: restarts, and TEM. */
function isStandalone(marker: number): boolean {
  return (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01;
}

function readFrame(bytes: Bytes, data: number, marker: number): Frame {
  const components = bytes.byte(data + 5);
  const samplings = Array.from({ length: components }, (_, index) => bytes.byte(data + 7 + index * 3));
  const blocks = samplings.map((sampling) => (sampling >> 4) * (sampling & 15));
  return {
    heightAt: data + 1,
    height: bytes.number16(data + 1),
    width: bytes.number16(data + 3),
    components,
    coefficientBytesPerPixel: (2 * blocks.reduce((sum, count) => sum + count, 0)) / Math.max(1, ...blocks),
    isProgressive: PROGRESSIVE.includes(marker),
  };
}

/** Where the next marker stands: in a scan's data 0xff is followed by 0 or a restart. */
function endOfScan(bytes: Bytes, from: number): number {
  let escapes = 0;
  for (let at = bytes.all.indexOf(0xff, from); at !== -1; at = bytes.all.indexOf(0xff, at + 1)) {
    if (++escapes > MAX_ESCAPES) throw damaged();
    const next = bytes.byte(at + 1);
    if (next !== 0 && next !== 0xff && !isStandalone(next)) return at;
  }
  throw damaged();
}
