import { type Static, Type } from '@sinclair/typebox';
import { Timestamp } from '../../http/schemas.ts';

const Url = () => Type.String({ format: 'uri' });

export const Image = Type.Object(
  {
    url: Url(),
    sizes: Type.Array(Type.Integer(), { examples: [[128, 256, 1200]] }),
    updatedAt: Timestamp(),
    variants: Type.Array(Type.Object({ size: Type.Integer(), url: Url() })),
  },
  { $id: 'Image' },
);
export type Image = Static<typeof Image>;

export const NoImage = Type.Null();
