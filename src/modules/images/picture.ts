/** Properties of a picture before decoding, its size limits, and the errors for files that are refused. */
import { type AppError, invalidField } from '../../core/error.ts';
import type { Turn } from './exif.ts';

export interface Picture {
  /** The file to decode: the original, or its first frame as a file of its own. */
  readonly bytes: Buffer;
  readonly turn: Turn;
  /** Whether the decoder can reduce without holding the whole picture. */
  readonly isReducible: boolean;
  /** Memory the decoder holds anyway: all scans of a progressive JPEG. */
  readonly heldBytesPerPixel: number;
}

/** Limit for pictures decoded whole. With those below, no picture adds over 150 MB (test/bench/images.ts). */
const MAX_PIXELS = 16_000_000;
/** Limit for pictures that the decoder reduces. If it holds nothing else, only decoding time matters. */
const MAX_REDUCIBLE_PIXELS = 50_000_000;
/** Allows 32 megapixels of a common progressive JPEG, and 16 of one with colours at full resolution. */
const MAX_HELD_BYTES = 96_000_000;

export function maxPixelsOf({ isReducible, heldBytesPerPixel }: Picture): number {
  return isReducible ? Math.min(MAX_REDUCIBLE_PIXELS, MAX_HELD_BYTES / heldBytesPerPixel) : MAX_PIXELS;
}

const refusedFile = (message: string): AppError => invalidField('file', message);

export const noPicture = () => refusedFile('This is no JPEG, PNG, WebP or GIF; send the picture as one of these.');

export const damaged = () =>
  refusedFile('This picture is truncated or damaged; save it again and send the whole file.');

/** @param limit in pixels. */
export const tooLarge = ({ width, height }: Bun.Image.Metadata, limit: number) =>
  refusedFile(
    `This picture has ${width} × ${height} pixels; reduce it to at most ${Math.floor(limit / 1e5) / 10} megapixels.`,
  );
