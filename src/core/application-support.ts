/** Where people reach those who run an application. */

export interface Supported {
  readonly supportUrl: string | null;
  readonly supportEmail: string | null;
}

/** Returns the address of the support page, else a `mailto:` address; null where neither is set. */
export function supportOf({ supportUrl, supportEmail }: Supported): string | null {
  if (supportUrl !== null) return supportUrl;
  if (supportEmail === null) return null;
  const at = supportEmail.lastIndexOf('@');
  // Characters such as `?` and `%` begin something else in a URL (RFC 6068 §2).
  return `mailto:${encodeURIComponent(supportEmail.slice(0, at))}@${supportEmail.slice(at + 1)}`;
}
