/** How a picture is brought into shape with little memory: what is cut out, and whether before or after reducing. */
import { type Picture, refusedFile } from './formats/picture.ts';
import type { Shape } from './variants.ts';

/**
 * What one picture may take while it is worked on, by the estimates below; test/bench/images.ts measures what it comes
 * to. It is enough for a photo of 12 megapixels in any format, and for the 24 of a phone's JPEG.
 */
const MAX_WORKING_BYTES = 118_000_000;

/** Up to here the way that loses nothing is taken, even where there is one that takes less. */
const COMFORTABLE_BYTES = 64_000_000;

/** Bounds the time, where the memory is small because a JPEG is decoded at a fraction of its size. */
const MAX_PIXELS = 50_000_000;

const BYTES_PER_PIXEL = 4;

/** A photo as JPEG of high quality, with room for noise. */
const JPEG_BYTES_PER_PIXEL = 0.9;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Part extends Size {
  readonly left: number;
  readonly top: number;
}

/** Decode at this size, then cut this part out of what comes. */
export interface Cut {
  readonly kind: 'cut';
  /** Null for the size it has. */
  readonly decodeAs: Size | null;
  /** How many of its lines to decode, from the top; in the size it has. */
  readonly lines: number;
  readonly part: Part;
}

/** Make it an upright JPEG at this size first: that takes far less room than its pixels twice. */
export interface Simplify {
  readonly kind: 'simplify';
  readonly decodeAs: Size | null;
}

export type Plan = Cut | Simplify;

/** The largest part of that shape around the centre; a pixel at least. */
export function centredPart({ width, height }: Size, ratio: number): Part {
  const part = {
    width: clamp(Math.round(height * ratio), width),
    height: clamp(Math.round(width / ratio), height),
  };
  return { ...part, left: Math.floor((width - part.width) / 2), top: Math.floor((height - part.height) / 2) };
}

/** @throws {AppError} invalid_request for a picture that would take too much memory. */
export function planFor(picture: Picture, shape: Shape): Plan {
  const { width, height, decoderBytesPerPixel, isOpaque, isReducible, keepLines } = picture;
  const isTurned = picture.orientation >= 5;
  const ratio = isTurned ? 1 / shape.ratio : shape.ratio;
  const widest = isTurned ? shape.sizes.at(-1)! / shape.ratio : shape.sizes.at(-1)!;
  const scale = Math.min(1, widest / centredPart(picture, ratio).width);
  // It comes reduced by eighths from the start; anything else is decoded as a whole.
  const eighths = isReducible ? Math.ceil(scale * 8) : 8;
  const decoded = inEighths(picture, eighths);
  const part = centredPart(decoded, ratio);
  const lines = keepLines ? clamp(Math.ceil(((part.top + part.height) * 8) / eighths), height) : height;
  const kept = inEighths({ width, height: lines }, eighths);
  // Anything else is decoded as it is, and may be reduced before it is cut.
  const reduced = { width: clamp(Math.round(width * scale), width), height: clamp(Math.round(lines * scale), lines) };

  const pixels = width * height;
  const ofDecoder = decoderBytesPerPixel * pixels;
  const cuttingCost = decoderBytesPerPixel * width * lines + costOfCutting(kept);
  const reducingCost = isReducible ? Infinity : ofDecoder + costOfReducing(kept, reduced);
  const simplifyingCost =
    isOpaque && (!isReducible || isTurned) ? ofDecoder + costOfSimplifying(decoded, isTurned) : Infinity;
  const losslessCost = Math.min(cuttingCost, reducingCost);
  const cost = Math.min(losslessCost, simplifyingCost);
  if (cost > MAX_WORKING_BYTES || pixels > MAX_PIXELS)
    throw tooLarge(picture, Math.min(MAX_PIXELS, (pixels * MAX_WORKING_BYTES) / cost));

  if (simplifyingCost < losslessCost && losslessCost > COMFORTABLE_BYTES)
    return { kind: 'simplify', decodeAs: eighths < 8 ? decoded : null };
  if (cuttingCost <= reducingCost) return { kind: 'cut', decodeAs: eighths < 8 ? kept : null, lines, part };
  return { kind: 'cut', decodeAs: reduced, lines, part: reducedPart(part, reduced, scale) };
}

/** The part in the reduced picture, of which the bottom may be missing. */
function reducedPart(part: Part, reduced: Size, scale: number): Part {
  const width = clamp(Math.round(part.width * scale), reduced.width);
  const height = clamp(Math.round(part.height * scale), reduced.height);
  return {
    width,
    height,
    left: Math.min(Math.round(part.left * scale), reduced.width - width),
    top: Math.min(Math.round(part.top * scale), reduced.height - height),
  };
}

/** What a JPEG's decoder makes of it. */
function inEighths({ width, height }: Size, eighths: number): Size {
  return { width: Math.ceil((width * eighths) / 8), height: Math.ceil((height * eighths) / 8) };
}

/** What is decoded, its copy, and all the smaller buffers that the copy has grown out of. */
function costOfCutting(decoded: Size): number {
  return areaOf(decoded) * BYTES_PER_PIXEL + costOfCopy(decoded);
}

/** What is decoded, the same with its width reduced (measured to take half as much again), the reduced one and its copy. */
function costOfReducing(whole: Size, reduced: Size): number {
  const wide = areaOf(whole) + 1.5 * reduced.width * whole.height + areaOf(reduced);
  return wide * BYTES_PER_PIXEL + costOfCopy(reduced);
}

/** What is decoded, turned where it must be, and the JPEG with what it has grown out of. */
function costOfSimplifying(decoded: Size, isTurned: boolean): number {
  return areaOf(decoded) * ((isTurned ? 2 : 1) * BYTES_PER_PIXEL + 2 * JPEG_BYTES_PER_PIXEL);
}

/** A buffer that grows by doubling leaves as much behind as the next power of two. */
function costOfCopy(size: Size): number {
  const bytes = areaOf(size) * BYTES_PER_PIXEL;
  return bytes + 2 ** Math.ceil(Math.log2(bytes));
}

function tooLarge({ width, height }: Size, allowedPixels: number) {
  const megapixels = Math.floor(allowedPixels / 100_000) / 10;
  return refusedFile(`This picture has ${width} × ${height} pixels; reduce it to at most ${megapixels} megapixels.`);
}

const areaOf = ({ width, height }: Size) => width * height;
const clamp = (value: number, most: number) => Math.max(1, Math.min(value, most));
