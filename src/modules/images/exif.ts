/** The one thing kept of a picture's EXIF data: how it is to be turned. `Bun.Image` reads that of JPEGs only. */

/** What makes a stored picture upright: a clockwise turn in degrees, then left and right exchanged. */
export interface Turn {
  readonly rotate: 0 | 90 | 180 | 270;
  readonly flop: boolean;
}

export const UPRIGHT: Turn = { rotate: 0, flop: false };

/** Of EXIF's orientations 1 to 8. */
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

/**
 * @param block from its TIFF header on.
 * @returns upright for a block that says nothing, or nonsense: what is no picture data never spoils a picture.
 */
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
    // Cut off: the same as nothing.
  }
  return UPRIGHT;
}
