/** Addresses of the pictures that people have uploaded, as the contract shapes them. */

export interface ImageAddress {
  /** Where images are served, without a trailing slash. */
  readonly cdnUrl: string;
  readonly applicationSlug: string;
  readonly userId: string;
  readonly kind: 'avatar' | 'banner';
  readonly size: number;
  /** Another picture has another address, so that each can be kept forever. */
  readonly updatedAt: number;
}

/** `{cdn_url}/<APP_SLUG>/users/<USER_ID>/avatar-<SIZE>.webp?v=<UNIX_MS>` */
export function imageUrl({ cdnUrl, applicationSlug, userId, kind, size, updatedAt }: ImageAddress): string {
  return `${cdnUrl}/${applicationSlug}/users/${userId}/${kind}-${size}.webp?v=${updatedAt}`;
}
