/** Draws the logo or icon of an application as PNG, which every mail client shows. Keeps what is transparent. */
import type { ApplicationImage } from '../../core/application-images.ts';
import { free } from '../../core/buffer.ts';
import { cutMiddle, type Size } from './cut.ts';
import type { Picture } from './picture.ts';
import { openPicture, refuse } from './render.ts';

/** Twice the size that pages show, for dense screens. */
const LOGO_BOX: Size = { width: 400, height: 88 };
/** Size of the icon on the home screen of a phone; browsers reduce it for their tabs. */
const ICON_WIDTH = 180;

/**
 * Reduces a logo to its box, and cuts an icon square around its middle. Never enlarges.
 *
 * @param file is consumed. @throws {AppError} invalid_request for an incomplete or too large picture
 */
export async function renderMark(file: Uint8Array, kind: ApplicationImage): Promise<Buffer> {
  const { picture, size } = await openPicture(file);
  return (kind === 'icon' ? drawIcon(picture, size) : drawLogo(picture, size)).catch(refuse);
}

async function drawLogo({ bytes, turn }: Picture, { width, height }: Size): Promise<Buffer> {
  const isTurned = turn.rotate % 180 !== 0;
  const [upright, tall] = isTurned ? [height, width] : [width, height];
  const scale = Math.min(1, LOGO_BOX.width / upright, LOGO_BOX.height / tall);
  const reduced = await new Bun.Image(bytes, { maxPixels: width * height, autoOrient: false })
    .resize(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)))
    .png()
    .buffer();
  free(bytes);
  return turned(new Bun.Image(reduced, { autoOrient: false }).rotate(turn.rotate), turn.flop);
}

async function drawIcon(picture: Picture, size: Size): Promise<Buffer> {
  const { turn } = picture;
  const middle = await cutMiddle(picture, size, 1, ICON_WIDTH);
  const width = Math.min(ICON_WIDTH, middle.width, middle.height);
  const image = new Bun.Image(middle.bytes, { autoOrient: false })
    .rotate((middle.rotate + turn.rotate) % 360)
    .resize(width, width);
  const icon = await turned(image, turn.flop);
  free(middle.bytes);
  return icon;
}

const turned = (image: Bun.Image, isFlopped: boolean) =>
  (isFlopped ? image.flop() : image).png({ compressionLevel: 9 }).buffer();
