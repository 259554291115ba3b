/** What is known of a picture before it is decoded, and what a person is told whose file cannot be taken. */
import { type AppError, invalidField } from '../../core/error.ts';
import type { Turn } from './exif.ts';

export interface Picture {
  /** What to decode: the file, or its first frame as a file of its own. */
  readonly bytes: Buffer;
  readonly turn: Turn;
  /** Whether no pixel of it can be seen through, as far as its header tells. */
  readonly isOpaque: boolean;
  /**
   * What a decoder that gives the picture reduced holds of each of its pixels until then, in bytes: nothing of a JPEG of
   * one scan. Null where it must give the whole.
   */
  readonly heldBytesPerPixel: number | null;
}

const refusedFile = (message: string): AppError => invalidField('file', message);

export const noPicture = () => refusedFile('This is no JPEG, PNG, WebP or GIF; send the picture as one of these.');

export const damaged = () => refusedFile('This picture is cut off or damaged; save it anew and send the whole of it.');

/** @param limit in pixels. */
export const tooLarge = ({ width, height }: Bun.Image.Metadata, limit: number) =>
  refusedFile(
    `This picture has ${width} × ${height} pixels; reduce it to at most ${Math.floor(limit / 1e5) / 10} megapixels.`,
  );
