/** URLs of the logos and icons that applications have uploaded. */

export const APPLICATION_IMAGES = ['logo', 'logo-dark', 'icon'] as const;
export type ApplicationImage = (typeof APPLICATION_IMAGES)[number];

/** Columns of an application with the URLs of its images, uploaded or not. */
export const IMAGE_COLUMNS = {
  logo: 'logoUrl',
  'logo-dark': 'logoDarkUrl',
  icon: 'iconUrl',
} as const satisfies Record<ApplicationImage, string>;

const folderOf = (applicationId: string) => `/cdn/applications/${applicationId}/`;

/** @param version of the content: another image has another URL, so each can be cached forever. */
export function uploadedImageUrl(
  baseUrl: string,
  applicationId: string,
  kind: ApplicationImage,
  version: string,
): string {
  return `${baseUrl}${folderOf(applicationId)}${kind}.png?v=${version}`;
}

/** End of the URL of an upload, with nothing that leads elsewhere, such as `..`. */
const UPLOAD = /\/cdn\/applications\/([^/?]+)\/(?:logo|logo-dark|icon)\.png\?v=\w+$/;

/** Returns the path of an upload of this application, also of an earlier base URL; null for any other URL. */
export function uploadedImagePath(url: string | null, applicationId: string): string | null {
  const [path, id] = UPLOAD.exec(url ?? '') ?? [];
  return path !== undefined && id === applicationId ? path : null;
}

/** Returns the path of an upload of this application, which works at every host name; another URL as it is. */
export function shownImageUrl(url: string | null, applicationId: string): string | null {
  return uploadedImagePath(url, applicationId) ?? url;
}
