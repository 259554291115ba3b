import { type Operation, operation } from '../../http/operation.ts';
import type { ImageKind } from '../../store/images.ts';
import { imageResponse } from './image-response.ts';
import { Image, NoImage } from './model.ts';
import type { Images } from './service.ts';
import { UPLOAD } from './upload-rule.ts';
import { SHAPES } from './variants.ts';

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'image' } as const;

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
        const { updatedAt, bytes } = await images.find(appSlug, userId, file);
        const etag = `"${file.slice(0, -'.webp'.length)}-${updatedAt}"`;
        return imageResponse(context, { version: String(updatedAt), etag, mediaType: 'image/webp', bytes });
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
