import { APPLICATION_IMAGES, type ApplicationImage } from '../../core/application-images.ts';
import { AppError } from '../../core/error.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { ApplicationSchema } from '../applications/model.ts';
import type { ApplicationImages } from './application-service.ts';
import { imageResponse } from './image-response.ts';
import { UPLOAD } from './upload-rule.ts';

const common = {
  tag: 'Applications',
  access: 'full',
  scope: 'application',
  limit: 'key_image',
  path: '/api/applications/:id/branding/:image',
  pathValues: { image: APPLICATION_IMAGES },
} as const;

/** Images by file name, such as `logo-dark.png`. */
const FILES: ReadonlyMap<string, ApplicationImage> = new Map(APPLICATION_IMAGES.map((kind) => [`${kind}.png`, kind]));

export function applicationImageRoutes(images: ApplicationImages): Operation[] {
  return [
    operation({
      ...common,
      id: 'putApplicationImage',
      method: 'PUT',
      summary: 'Upload the logo, the logo for dark mode, or the icon',
      description:
        'JPEG, PNG, WebP or GIF of at most 10 MiB and 16 megapixels (a JPEG: 24). Stored as PNG without its metadata: a logo within 400 × 88 pixels, an icon as a square of at most 180. Sets its address in `branding`.',
      upload: UPLOAD,
      data: ApplicationSchema,
      handle: ({ actor, application, params, file }) => images.put(actor, application, kindOf(params.image), file),
    }),
    operation({
      ...common,
      id: 'deleteApplicationImage',
      method: 'DELETE',
      summary: 'Remove an uploaded logo or icon',
      description: 'Keeps an address on another host, which `PATCH /api/applications/{id}` removes.',
      data: ApplicationSchema,
      handle: ({ actor, application, params }) => images.remove(actor, application, kindOf(params.image)),
    }),
    operation({
      id: 'getApplicationImage',
      method: 'GET',
      path: '/cdn/applications/:id/:imageFile',
      summary: 'Read an uploaded logo or icon, such as `logo.png`',
      description: 'URLs in `branding` carry the version as `v` and always show the same image.',
      tag: 'Applications',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      mediaType: 'image/png',
      isRevalidated: true,
      errors: ['not_found'],
      async handle({ params: { id, imageFile }, context }) {
        const { version, bytes } = await images.find(id, FILES.get(imageFile));
        return imageResponse(context, { version, etag: `"${version}"`, mediaType: 'image/png', bytes });
      },
    }),
  ];
}

/** @throws {AppError} not_found */
function kindOf(text: string): ApplicationImage {
  const kind = APPLICATION_IMAGES.find((one) => one === text);
  if (kind === undefined) throw new AppError('not_found');
  return kind;
}
