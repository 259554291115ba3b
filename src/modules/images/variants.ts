import { IMAGE_KINDS, type ImageKind } from '../../store/images.ts';

export interface Shape {
  /** Widths of the variants in pixels, ascending. */
  readonly sizes: readonly number[];
  readonly shownSize: number;
  /** Width over height. */
  readonly ratio: number;
}

export const SHAPES: Record<ImageKind, Shape> = {
  avatar: { sizes: [128, 256, 1200], shownSize: 256, ratio: 1 },
  banner: { sizes: [768, 1500, 2400], shownSize: 1500, ratio: 3 },
};

export interface VariantName {
  readonly kind: ImageKind;
  readonly size: number;
}

/** Variants by file name, such as `avatar-256.webp`. */
export const VARIANTS: ReadonlyMap<string, VariantName> = new Map(
  IMAGE_KINDS.flatMap((kind) => SHAPES[kind].sizes.map((size) => [`${kind}-${size}.webp`, { kind, size }] as const)),
);
