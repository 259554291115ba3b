import { type Static, Type } from '@sinclair/typebox';
import { Input, Name, Nullable, PageOf, PageQuery, Remark, Timestamp } from '../../http/schemas.ts';

const GrantSlug = Type.String({
  pattern: '^[a-z0-9_:.-]{1,64}$',
  remedy: 'Give 1 to 64 of a-z, 0-9, hyphen, underscore, colon and dot.',
  examples: ['editor'],
});

const Description = Nullable(Remark('Give at most 500 characters without control characters, or null.'));
const IsDefault = Type.Boolean({
  description: 'Whether people get it on joining.',
  remedy: 'Give true or false.',
});

export const GrantInput = Input(
  {
    slug: GrantSlug,
    name: Type.Optional(Name()),
    description: Type.Optional(Description),
    isDefault: Type.Optional(IsDefault),
  },
  { $id: 'GrantInput' },
);
export type GrantInput = Static<typeof GrantInput>;

export const GrantPatch = Input(
  {
    slug: Type.Optional(GrantSlug),
    name: Type.Optional(Name()),
    description: Type.Optional(Description),
    isDefault: Type.Optional(IsDefault),
  },
  { $id: 'GrantPatch' },
);
export type GrantPatch = Static<typeof GrantPatch>;

export const GrantsQuery = Type.Composite([
  PageQuery,
  Type.Object({
    include: Type.Optional(
      Type.String({
        pattern: '^people$',
        description: '`people`: how many people have each.',
        remedy: 'The only thing to include is "people".',
        examples: ['people'],
      }),
    ),
  }),
]);
export type GrantsQuery = Static<typeof GrantsQuery>;

export const GrantForceQuery = Type.Object({
  force: Type.Optional(
    Type.Boolean({ description: 'Proceeds although somebody holds it.', remedy: 'Give true or false.' }),
  ),
});

export const GrantSchema = Type.Object(
  {
    id: Type.String({ examples: ['rol_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
    slug: GrantSlug,
    name: Type.String(),
    description: Nullable(Type.String()),
    isDefault: Type.Boolean(),
    people: Type.Optional(
      Type.Integer({ description: 'People who have it, in any status; with `include=people`.', examples: [1940] }),
    ),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { $id: 'Grant' },
);
export type GrantRecord = Static<typeof GrantSchema>;

export const GrantPage = PageOf(GrantSchema);

export const GrantRemoved = Type.Object(
  {
    id: Type.String(),
    withdrawnFrom: Type.Integer({ description: 'Number of people who held it.' }),
  },
  { $id: 'GrantRemoved' },
);
