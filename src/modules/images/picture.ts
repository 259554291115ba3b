/** What is known of a picture before it is decoded, and what a person is told whose file cannot be taken. */
import { type AppError, invalidField } from '../../core/error.ts';
import type { Turn } from './exif.ts';

export interface Picture {
  /** What to decode: the file, or its first frame as a file of its own. */
  readonly bytes: Buffer;
  readonly turn: Turn;
  /** Whether its decoder can give it reduced, without ever holding the whole. */
  readonly isReducible: boolean;
  /** What its decoder holds of the whole nevertheless: all scans of a progressive JPEG. */
  readonly heldBytesPerPixel: number;
}

/** Of what is decoded as a whole. As the bounds below, by test/bench/images.ts: no picture adds more than 150 MB. */
const MAX_PIXELS = 16_000_000;
/** Of what its decoder reduces; where that holds nothing besides, only the time counts. */
const MAX_REDUCIBLE_PIXELS = 50_000_000;
/** Enough for 32 megapixels of a progressive JPEG as most are made, and for 16 of one with colours as fine as the light. */
const MAX_HELD_BYTES = 96_000_000;

/** The most that is taken of its kind. */
export function maxPixelsOf({ isReducible, heldBytesPerPixel }: Picture): number {
  return isReducible ? Math.min(MAX_REDUCIBLE_PIXELS, MAX_HELD_BYTES / heldBytesPerPixel) : MAX_PIXELS;
}

const refusedFile = (message: string): AppError => invalidField('file', message);

export const noPicture = () => refusedFile('This is no JPEG, PNG, WebP or GIF; send the picture as one of these.');

export const damaged = () => refusedFile('This picture is cut off or damaged; save it anew and send the whole of it.');

/** @param limit in pixels. */
export const tooLarge = ({ width, height }: Bun.Image.Metadata, limit: number) =>
  refusedFile(
    `This picture has ${width} × ${height} pixels; reduce it to at most ${Math.floor(limit / 1e5) / 10} megapixels.`,
  );
