/** Schemas of introspection (RFC 7662) and revocation (RFC 7009). */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Email, Id, SlugsHeld } from '../../http/schemas.ts';
import { OAuthParameters } from '../devices/model.ts';

const ClientSecret = Type.Optional(
  Type.String({
    isAnyText: true,
    description: 'With `client_id`, instead of the header (`client_secret_post`).',
    examples: ['ecs_…'],
  }),
);

export const TokenInput = OAuthParameters({
  token: Type.String({
    isAnyText: true,
    remedy: 'Give the token, as a text.',
    description: 'A session token, or a key from the device grant.',
  }),
  token_type_hint: Type.Optional(
    Type.String({
      isAnyText: true,
      description: 'Ignored: the prefix of a token shows its kind.',
      examples: ['access_token'],
    }),
  ),
  client_id: Type.Optional(
    Type.String({ isAnyText: true, description: 'The `clientId`.', examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
  ),
  client_secret: ClientSecret,
});

const Seconds = (description: string) => Type.Integer({ description, examples: [1_775_000_000] });
const IfKnown = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

const ActiveToken = Type.Object(
  {
    active: Type.Literal(true),
    sub: Id('usr', { description: 'The person, or the principal of a backend’s key.' }),
    client_id: Type.String({
      description: 'The `clientId` of the token’s application.',
      examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'],
    }),
    aud: Type.String({ description: 'The same.', examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
    iss: Type.String({ format: 'uri', description: 'This server.', examples: ['https://auth.example.com'] }),
    jti: Type.String({
      description: 'The id of the session (`ses_…`) or of the key (`key_…`).',
      examples: ['ses_01kat1h5ppe3bv2d9g3wq5r1xm'],
    }),
    token_type: Type.String({ examples: ['Bearer'] }),
    iat: Seconds('Creation time of the session or key; a rotated key keeps it.'),
    exp: IfKnown(Seconds('Expiry; omitted for a key without one.')),
    scope: IfKnown(
      Type.String({ description: 'The scopes held, live; omitted if there are none.', examples: ['orders:read'] }),
    ),
    username: IfKnown(Type.String({ description: 'Handle in this application; omitted until set.' })),
    email: IfKnown(Email({ description: 'Omitted for a backend’s key.' })),
    name: IfKnown(Type.String({ description: 'Omitted if unknown.' })),
    roles: SlugsHeld(),
    memberships: SlugsHeld(),
  },
  { $id: 'ActiveToken' },
);
export type ActiveToken = Static<typeof ActiveToken>;

/** Gives no reason (RFC 7662 §2.2). */
const InactiveToken = Type.Object({ active: Type.Literal(false) }, { $id: 'InactiveToken' });

export const Introspection = Type.Union([ActiveToken, InactiveToken], { $id: 'Introspection' });
export type Introspection = Static<typeof Introspection>;

export const Revoked = Type.Object({});
