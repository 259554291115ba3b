/** The brand of an application, as its pages show it. */
import { shownImageUrl, uploadedImagePath } from '../core/application-images.ts';

/** Styles and icons of a page's document. */
export interface Brand {
  readonly accentColor: string | null;
  readonly iconUrl: string | null;
}

export interface Logo {
  readonly logoUrl: string | null;
  /** Shown in dark mode; null where it is the same. */
  readonly logoDarkUrl: string | null;
}

interface Branded extends Brand, Logo {
  readonly id: string;
  /** Null unless deleted. */
  readonly deletedAt: unknown;
}

/** Uploads are shown from this host, and not those of a deleted application, which are served no more. */
export function brandOf({ id, logoUrl, logoDarkUrl, iconUrl, accentColor, deletedAt }: Branded): Brand & Logo {
  const shown = (url: string | null) =>
    deletedAt !== null && uploadedImagePath(url, id) !== null ? null : shownImageUrl(url, id);
  return { logoUrl: shown(logoUrl), logoDarkUrl: shown(logoDarkUrl), iconUrl: shown(iconUrl), accentColor };
}
