/** Creates a picture's variants: cut to shape, upright, reduced, without metadata, as WebP. */
import { free } from '../../core/buffer.ts';
import { cutMiddle } from './cut.ts';
import { inspect } from './inspect.ts';
import { damaged, maxPixelsOf, noPicture, type Picture, tooLarge } from './picture.ts';
import type { Shape } from './variants.ts';
import { withoutProfile } from './webp.ts';

const QUALITY = 82;

export interface Variant {
  readonly size: number;
  readonly bytes: Buffer;
}

/**
 * Runs on the threads of `Bun.Image`. Pictures are never enlarged: a larger variant keeps the picture's resolution.
 *
 * @param file is consumed. @throws {AppError} invalid_request for an incomplete or too large picture
 */
export async function render(file: Uint8Array, shape: Shape): Promise<Variant[]> {
  const { picture, size } = await openPicture(file);
  const { turn } = picture;
  const isTurned = turn.rotate % 180 !== 0;
  const widest = Math.max(...shape.sizes);
  const middle = await cutMiddle(
    picture,
    size,
    isTurned ? 1 / shape.ratio : shape.ratio,
    isTurned ? widest / shape.ratio : widest,
  ).catch(refuse);
  const available = isTurned ? middle.height : middle.width;
  const variants: Variant[] = [];
  for (const size of shape.sizes) {
    const width = Math.min(size, available);
    const image = new Bun.Image(middle.bytes, { autoOrient: false })
      .rotate((middle.rotate + turn.rotate) % 360)
      .resize(width, Math.max(1, Math.round(width / shape.ratio)))
      .webp({ quality: QUALITY });
    variants.push({ size, bytes: withoutProfile(await (turn.flop ? image.flop() : image).buffer()) });
  }
  free(middle.bytes);
  return variants;
}

/** Reads a file without decoding it. @throws {AppError} invalid_request if it is no picture, damaged or too large */
export async function openPicture(file: Uint8Array): Promise<{ picture: Picture; size: Bun.Image.Metadata }> {
  const picture = inspect(file, (await metadataOf(file)).format);
  const size = await metadataOf(picture.bytes);
  if (size.width * size.height > maxPixelsOf(picture)) throw tooLarge(size, maxPixelsOf(picture));
  return { picture, size };
}

/** Reads metadata at any size, since the error for a too large picture names its size. */
function metadataOf(bytes: Uint8Array): Promise<Bun.Image.Metadata> {
  return new Bun.Image(bytes, { maxPixels: Number.MAX_SAFE_INTEGER, autoOrient: false }).metadata().catch(refuse);
}

/** @throws {AppError} invalid_request if the file is at fault; other errors are rethrown. */
export function refuse(error: unknown): never {
  switch ((error as { code?: Bun.Image.ErrorCode }).code) {
    case 'ERR_IMAGE_UNKNOWN_FORMAT':
    case 'ERR_IMAGE_FORMAT_UNSUPPORTED':
      throw noPicture();
    case 'ERR_IMAGE_DECODE_FAILED':
    case 'ERR_IMAGE_TOO_MANY_PIXELS':
      throw damaged();
    default:
      throw error;
  }
}
