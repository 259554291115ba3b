/** The one thing kept of a picture's EXIF data: how it is to be turned. */
import type { Bytes, Orientation } from './picture.ts';

const ORIENTATION_TAG = 0x0112;
const SHORT = 3;

/**
 * @param at where the TIFF header of the EXIF block stands.
 * @returns 1 for a block that says nothing, or nonsense: what is no picture data never spoils a picture.
 */
export function orientationOf(bytes: Bytes, at: number): Orientation {
  try {
    const isLittle = bytes.hasText(at, 'II');
    if (!isLittle && !bytes.hasText(at, 'MM')) return 1;
    const directory = at + bytes.number32(at + 4, isLittle);
    const entries = bytes.number16(directory, isLittle);
    for (let index = 0; index < entries; index += 1) {
      const entry = directory + 2 + index * 12;
      if (bytes.number16(entry, isLittle) !== ORIENTATION_TAG) continue;
      const value = bytes.number16(entry + 2, isLittle) === SHORT ? bytes.number16(entry + 8, isLittle) : 1;
      return value >= 1 && value <= 8 ? (value as Orientation) : 1;
    }
  } catch {
    // Cut off: the same as nothing.
  }
  return 1;
}
