/** Reads a JPEG's segments (ITU-T T.81 annex B) to the end of the picture. */
import { turnIn, UPRIGHT } from './exif.ts';
import { damaged, type Picture } from './picture.ts';

/** Segments, fill bytes and restarts between scans; a photo has a few dozen. */
const MAX_STEPS = 20_000;
/** 10 MiB of noise contain about 41,000 escaped bytes. */
const MAX_ESCAPES = 500_000;
/** A progressive file has about ten scans. Each is a pass over the whole picture and costs only a few bytes to add. */
const MAX_SCANS = 64;

const [SOI, EOI, SOS, APP1] = [0xd8, 0xd9, 0xda, 0xe1];
const [BASELINE, EXTENDED] = [0xc0, 0xc1];
const NO_FRAMES = [0xc4, 0xc8, 0xcc];

interface Frame {
  readonly components: number;
  /** Over all components; colours are mostly halved both ways, which gives 1.5. */
  readonly samplesPerPixel: number;
  readonly isSequential: boolean;
}

/** @throws {AppError} invalid_request; RangeError past the end. */
export function inspectJpeg(bytes: Buffer): Picture {
  let turn = UPRIGHT;
  let frame: Frame | null = null;
  let scans = 0;
  let isHeld = false;
  // Ignores everything behind the end of the picture (previews, depth maps).
  for (let at = 2, steps = 0, marker; (marker = markerAt(bytes, at)) !== EOI; steps += 1) {
    if (steps === MAX_STEPS) throw damaged();
    if (marker === 0xff || marker === SOI || isStandalone(marker)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    const data = at + 4;
    at += 2 + bytes.readUInt16BE(at + 2);
    if (marker === APP1 && bytes.toString('latin1', data, data + 6) === 'Exif\0\0')
      turn = turnIn(bytes.subarray(data + 6, at));
    if (isFrame(marker)) frame = readFrame(bytes, data, marker);
    if (marker !== SOS) continue;
    scans += 1;
    if (!frame || scans > MAX_SCANS) throw damaged();
    if (!frame.isSequential || bytes.readUInt8(data) < frame.components) isHeld = true;
    at = endOfScan(bytes, at);
  }
  if (!frame || scans === 0) throw damaged();
  return { bytes, turn, isReducible: true, heldBytesPerPixel: isHeld ? 2 * frame.samplesPerPixel : 0 };
}

function markerAt(bytes: Buffer, at: number): number {
  if (bytes.readUInt8(at) !== 0xff) throw damaged();
  return bytes.readUInt8(at + 1);
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
}

function readFrame(bytes: Buffer, data: number, marker: number): Frame {
  const components = bytes.readUInt8(data + 5);
  const samples = Array.from({ length: components }, (_, index) => {
    const factors = bytes.readUInt8(data + 7 + index * 3);
    return (factors >> 4) * (factors & 15);
  });
  return {
    components,
    samplesPerPixel: samples.reduce((sum, count) => sum + count, 0) / Math.max(1, ...samples),
    isSequential: marker === BASELINE || marker === EXTENDED,
  };
}

/** Markers without length and data: restarts and TEM. */
function isStandalone(marker: number): boolean {
  return (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01;
}

/** Returns the offset of the next marker: within a scan, 0xff is followed by 0 or a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  let escapes = 0;
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    if (++escapes > MAX_ESCAPES) throw damaged();
    const next = bytes.readUInt8(at + 1);
    if (next !== 0 && next !== 0xff && !isStandalone(next)) return at;
  }
  throw damaged();
}
