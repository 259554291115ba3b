/** Tells a picture's format by its first bytes, whatever it was said to be, and has it read by that format. */
import { isGif, readGif } from './gif.ts';
import { isJpeg, readJpeg } from './jpeg.ts';
import { Bytes, type Picture, refusedFile } from './picture.ts';
import { isPng, readPng } from './png.ts';
import { isWebp, readWebp } from './webp.ts';

const FORMATS = [
  { is: isJpeg, read: readJpeg },
  { is: isPng, read: readPng },
  { is: isWebp, read: readWebp },
  { is: isGif, read: readGif },
];

/** The media types that can be sent. */
export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;

/**
 * Decodes nothing: what it says of size and cost is known before the first pixel is.
 *
 * @throws {AppError} invalid_request for what is no picture, or not a whole one.
 */
export function inspect(file: Uint8Array): Picture {
  if (file.byteLength === 0) throw refusedFile('The file is empty; send a picture.');
  const bytes = new Bytes(file);
  const format = FORMATS.find(({ is }) => is(bytes));
  if (!format) throw refusedFile('This is no JPEG, PNG, WebP or GIF; send the picture as one of these.');
  return format.read(bytes);
}
