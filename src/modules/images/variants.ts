/** Which variants there are of which kind of picture, and how their addresses name them. */
import { IMAGE_KINDS, type ImageKind } from '../../store/images.ts';

/** The form of one kind of picture. */
export interface Shape {
  /** Widths of the variants in pixels, ascending. */
  readonly sizes: readonly number[];
  /** The one that is shown where no size is asked for. */
  readonly shownSize: number;
  /** Width over height. */
  readonly ratio: number;
}

export const SHAPES: Record<ImageKind, Shape> = {
  avatar: { sizes: [128, 256, 1200], shownSize: 256, ratio: 1 },
  banner: { sizes: [768, 1500, 2400], shownSize: 1500, ratio: 3 },
};

/** Which picture of a person, and which size of it. */
export interface VariantName {
  readonly kind: ImageKind;
  readonly size: number;
}

/** By the file's name in its address: `avatar-256.webp`. */
export const VARIANTS: ReadonlyMap<string, VariantName> = new Map(
  IMAGE_KINDS.flatMap((kind) => SHAPES[kind].sizes.map((size) => [`${kind}-${size}.webp`, { kind, size }] as const)),
);
