/** Addresses of the pictures that people have uploaded, as the contract shapes them. */

/** What the address of one variant of an uploaded picture is made of. */
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

/** The parts of a user that an avatar's address is made of. */
export interface AvatarSource {
  readonly id: string;
  readonly avatarSizes: readonly number[] | null;
  readonly avatarUpdatedAt: number | null;
  readonly providerAvatarUrl: string | null;
}

/** The avatar that was uploaded, or else the sign-in provider's. */
export function avatarUrl(user: AvatarSource, applicationSlug: string, cdnUrl: string): string | null {
  const { id, avatarSizes, avatarUpdatedAt, providerAvatarUrl } = user;
  const size = avatarSizes?.includes(256) ? 256 : avatarSizes?.at(-1);
  if (size === undefined || avatarUpdatedAt === null) return providerAvatarUrl;
  return imageUrl({ cdnUrl, applicationSlug, userId: id, kind: 'avatar', size, updatedAt: avatarUpdatedAt });
}
