import { matchesEtag } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import type { ImageKind, StoredVariant } from '../../store/images.ts';
import { PICTURE_TYPES } from './inspect.ts';
import { Image, NoImage } from './model.ts';
import type { Images } from './service.ts';
import { SHAPES } from './variants.ts';

const UPLOAD = { maxBytes: 10 * 1024 * 1024, mediaTypes: PICTURE_TYPES };

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'image' } as const;

/** The URL contains the version, so it is immutable. An outdated URL serves the current picture, cached briefly. */
const CURRENT = 'public, max-age=31536000, immutable';
const OUTDATED = 'public, max-age=60';

export function imageRoutes(images: Images): Operation[] {
  return [
    ...uploading(images, 'avatar', 'Avatar', 'a square'),
    ...uploading(images, 'banner', 'Banner', 'three to one'),
    operation({
      id: 'getUserImage',
      method: 'GET',
      path: '/cdn/:appSlug/users/:userId/:file',
      summary: 'Read a picture of a person, such as `avatar-256.webp`',
      description:
        'Only of members of that application. URLs in envelopes, events and answers carry the version as `v` and always show the same picture.',
      tag: 'Account',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      mediaType: 'image/webp',
      isRevalidated: true,
      errors: ['not_found'],
      async handle({ params: { appSlug, userId, file }, context }) {
        return answer(await images.find(appSlug, userId, file), file, context);
      },
    }),
  ];
}

function uploading(images: Images, kind: ImageKind, name: 'Avatar' | 'Banner', shape: string): Operation[] {
  const path = `/api/account/self/images/${kind}`;
  return [
    operation({
      ...common,
      id: `putMy${name}`,
      method: 'PUT',
      path,
      summary: `Upload one’s ${kind}`,
      description: `JPEG, PNG, WebP or GIF of at most 10 MiB and 16 megapixels (a JPEG: 24), cut to ${shape} around its centre, without its metadata; ${SHAPES[kind].sizes.join(', ')} pixels wide, but never enlarged.`,
      upload: UPLOAD,
      data: Image,
      handle: ({ actor, principal, file }) => images.put(actor, principal, kind, file),
    }),
    operation({
      ...common,
      id: `deleteMy${name}`,
      method: 'DELETE',
      path,
      summary: `Remove one’s ${kind}`,
      data: NoImage,
      handle: ({ actor, principal }) => images.remove(actor, principal, kind),
    }),
  ];
}

/** User content: the headers keep browsers from treating it as anything but a picture. */
function answer({ updatedAt, bytes }: StoredVariant, file: string, context: RequestContext): Response {
  const version = queryOf(context.request).get('v');
  const etag = `"${file.slice(0, -'.webp'.length)}-${updatedAt}"`;
  const headers = {
    ...context.headers,
    ETag: etag,
    'Cache-Control': version === String(updatedAt) ? CURRENT : OUTDATED,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  if (matchesEtag(context.request.headers.get('if-none-match'), etag))
    return new Response(null, { status: 304, headers });
  return new Response(new Uint8Array(bytes), { headers: { ...headers, 'Content-Type': 'image/webp' } });
}
