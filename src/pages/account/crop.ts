/** Computes the visible part of a picture, kept within its edges. */

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Center in picture pixels, and zoom relative to filling the frame. */
export interface Crop {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export const MAX_ZOOM = 4;

/** Returns the largest crop around the center. */
export function wholeCrop({ width, height }: PixelSize): Crop {
  return { x: width / 2, y: height / 2, zoom: 1 };
}

export function partOf(picture: PixelSize, ratio: number, { x, y, zoom }: Crop) {
  const { width, height } = shownSize(picture, ratio, zoom);
  return { left: x - width / 2, top: y - height / 2, width, height };
}

/** Returns the nearest crop within the picture. */
export function within(picture: PixelSize, ratio: number, crop: Crop): Crop {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, crop.zoom));
  const { width, height } = shownSize(picture, ratio, zoom);
  const clamp = (middle: number, shown: number, all: number) => Math.min(all - shown / 2, Math.max(shown / 2, middle));
  return { x: clamp(crop.x, width, picture.width), y: clamp(crop.y, height, picture.height), zoom };
}

function shownSize(picture: PixelSize, ratio: number, zoom: number): PixelSize {
  const width = Math.min(picture.width, picture.height * ratio) / zoom;
  return { width, height: width / ratio };
}
