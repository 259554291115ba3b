/** Reads the orientation, the only EXIF data kept. `Bun.Image` reads it of JPEGs only. */

/** Makes a stored picture upright: a clockwise rotation in degrees, then a horizontal flip. */
export interface Turn {
  readonly rotate: 0 | 90 | 180 | 270;
  readonly flop: boolean;
}

export const UPRIGHT: Turn = { rotate: 0, flop: false };

/** EXIF orientations 1 to 8. */
const TURNS: readonly Turn[] = [
  UPRIGHT,
  { rotate: 0, flop: true },
  { rotate: 180, flop: false },
  { rotate: 180, flop: true },
  { rotate: 90, flop: true },
  { rotate: 90, flop: false },
  { rotate: 270, flop: true },
  { rotate: 270, flop: false },
];

const ORIENTATION_TAG = 0x0112;
const SHORT = 3;

/** @param block starting at its TIFF header. @returns upright without a valid orientation. */
export function turnIn(block: Buffer): Turn {
  const order = block.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return UPRIGHT;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const isLittle = order === 'II';
  try {
    const directory = view.getUint32(4, isLittle);
    const end = directory + 2 + view.getUint16(directory, isLittle) * 12;
    for (let entry = directory + 2; entry < end; entry += 12)
      if (view.getUint16(entry, isLittle) === ORIENTATION_TAG && view.getUint16(entry + 2, isLittle) === SHORT)
        return TURNS[view.getUint16(entry + 8, isLittle) - 1] ?? UPRIGHT;
  } catch {
    // Truncated: treated as missing.
  }
  return UPRIGHT;
}
