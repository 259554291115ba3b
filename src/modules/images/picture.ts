/** What is known of a picture before it is decoded, and what a person is told whose file cannot be taken. */
import { type AppError, invalidField } from '../../core/error.ts';
import type { Turn } from './exif.ts';

export interface Picture {
  /** What to decode: the file, or its first frame as a file of its own. */
  readonly bytes: Buffer;
  readonly turn: Turn;
  /** Whether no pixel of it can be seen through, as far as its header tells. */
  readonly isOpaque: boolean;
  /** Whether its decoder can give it reduced, without ever holding the whole. */
  readonly isReducible: boolean;
  /** The most that is taken of its kind, for the sake of what its decoder holds. */
  readonly maxPixels: number;
}

/**
 * Of what is decoded as a whole. Chosen by test/bench/images.ts so that no picture adds more than 150 MB, nor do many one
 * after another.
 */
export const MAX_PIXELS = 16_000_000;

const refusedFile = (message: string): AppError => invalidField('file', message);

export const noPicture = () => refusedFile('This is no JPEG, PNG, WebP or GIF; send the picture as one of these.');

export const damaged = () => refusedFile('This picture is cut off or damaged; save it anew and send the whole of it.');

/** @param limit in pixels. */
export const tooLarge = ({ width, height }: Bun.Image.Metadata, limit: number) =>
  refusedFile(
    `This picture has ${width} × ${height} pixels; reduce it to at most ${Math.floor(limit / 1e5) / 10} megapixels.`,
  );
