/** URLs of the pictures that people have uploaded, in the contract's form. */

export interface ImageAddress {
  /** Base address of images, without a trailing slash. */
  readonly cdnUrl: string;
  readonly applicationSlug: string;
  readonly userId: string;
  readonly kind: 'avatar' | 'banner';
  readonly size: number;
  /** Version of the URL: a new picture gets a new one, so that each can be cached forever. */
  readonly updatedAt: number;
}

/** Returns `{cdn_url}/<APP_SLUG>/users/<USER_ID>/avatar-<SIZE>.webp?v=<UNIX_MS>`. */
export function imageUrl({ cdnUrl, applicationSlug, userId, kind, size, updatedAt }: ImageAddress): string {
  return `${cdnUrl}/${applicationSlug}/users/${userId}/${kind}-${size}.webp?v=${updatedAt}`;
}

export interface AvatarSource {
  readonly id: string;
  readonly avatarSizes: readonly number[] | null;
  readonly avatarUpdatedAt: number | null;
  readonly providerAvatarUrl: string | null;
}

/** Returns the uploaded avatar, else the sign-in provider's. */
export function avatarUrl(user: AvatarSource, applicationSlug: string, cdnUrl: string): string | null {
  const { id, avatarSizes, avatarUpdatedAt, providerAvatarUrl } = user;
  const size = avatarSizes?.includes(256) ? 256 : avatarSizes?.at(-1);
  if (size === undefined || avatarUpdatedAt === null) return providerAvatarUrl;
  return imageUrl({ cdnUrl, applicationSlug, userId: id, kind: 'avatar', size, updatedAt: avatarUpdatedAt });
}
