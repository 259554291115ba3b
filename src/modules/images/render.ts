/** Makes the variants of a picture: cut to shape, turned upright, reduced, without its metadata, as WebP. */
import { free } from '../../core/buffer.ts';
import { cutOut } from './cut.ts';
import { inspect } from './formats/inspect.ts';
import { damaged, type Orientation, type Picture } from './formats/picture.ts';
import { settle } from './memory.ts';
import { type Cut, planFor, type Simplify } from './plan.ts';
import type { Shape } from './variants.ts';

const QUALITY = 82;

/** Of the JPEG that a large picture is worked on as; what is made of it is reduced and compressed further. */
const WORKING_QUALITY = 90;

export interface Variant {
  readonly size: number;
  /** WebP. */
  readonly bytes: Buffer;
}

/**
 * Decoding, reducing and encoding run on a thread of their own; what is cut is copied on this one, some milliseconds.
 * A variant that would be larger than the picture has the picture's resolution: nothing is enlarged.
 *
 * @param file is used up.
 * @throws {AppError} invalid_request for what is no whole picture, or one too large.
 */
export async function render(file: Uint8Array, shape: Shape): Promise<Variant[]> {
  const picture = inspect(file);
  const plan = planFor(picture, shape);
  if (plan.kind === 'simplify') {
    const simpler = await simplified(picture, plan);
    free(file);
    await settle();
    return render(simpler, shape);
  }
  const pixels = await decoded(picture, plan);
  try {
    const part = cutOut(pixels, plan.part);
    const available = picture.orientation >= 5 ? plan.part.height : plan.part.width;
    const variants: Variant[] = [];
    for (const size of shape.sizes) {
      const width = Math.min(size, available);
      const image = upright(new Bun.Image(part), picture.orientation)
        .resize(width, Math.max(1, Math.round(width / shape.ratio)))
        .webp({ quality: QUALITY });
      variants.push({ size, bytes: await image.buffer() });
    }
    return variants;
  } finally {
    free(pixels);
  }
}

/** An upright JPEG of the whole picture. */
async function simplified(picture: Picture, { decodeAs }: Simplify): Promise<Uint8Array> {
  const image = upright(open(picture), picture.orientation);
  if (decodeAs && picture.orientation >= 5) image.resize(decodeAs.height, decodeAs.width);
  else if (decodeAs) image.resize(decodeAs.width, decodeAs.height);
  return image.jpeg({ quality: WORKING_QUALITY }).bytes().catch(refuse);
}

/** The lines that the part stands in, as a PNG that is not compressed. */
async function decoded(picture: Picture, { decodeAs, lines }: Cut): Promise<Uint8Array> {
  picture.keepLines?.(lines);
  const image = open(picture).png({ compressionLevel: 0 });
  if (decodeAs) image.resize(decodeAs.width, decodeAs.height);
  return image.bytes().catch(refuse);
}

/** As it is stored: turned only where that is asked for. The decoder must find no more pixels than were planned for. */
function open({ bytes, width, height }: Picture): Bun.Image {
  return new Bun.Image(bytes, { maxPixels: width * height, autoOrient: false });
}

/** Undoes what EXIF says of how the pixels are stored. */
function upright(image: Bun.Image, orientation: Orientation): Bun.Image {
  switch (orientation) {
    case 1:
      return image;
    case 2:
      return image.flop();
    case 3:
      return image.rotate(180);
    case 4:
      return image.flip();
    case 5:
      return image.rotate(90).flop();
    case 6:
      return image.rotate(90);
    case 7:
      return image.rotate(90).flip();
    case 8:
      return image.rotate(270);
  }
}

const FILE_FAULTS: readonly (string | undefined)[] = [
  'ERR_IMAGE_DECODE_FAILED',
  'ERR_IMAGE_UNKNOWN_FORMAT',
  'ERR_IMAGE_FORMAT_UNSUPPORTED',
  'ERR_IMAGE_TOO_MANY_PIXELS',
] satisfies Bun.Image.ErrorCode[];

/** @throws {AppError} invalid_request where the file is at fault; what is ours stays as it is. */
function refuse(error: unknown): never {
  throw FILE_FAULTS.includes((error as { code?: string }).code) ? damaged() : error;
}
